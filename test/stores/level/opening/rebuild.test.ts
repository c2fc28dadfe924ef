/** Repair: what is damaged is set aside, all that is whole goes on, and who is interrupted begins again. */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type CrawlRequest, inspectCrawl, type LevelOptions } from 'kumo'
import { knownAs } from 'kumo/adapters'
import { beforeAll, describe, expect, test } from 'vitest'
import { leaseSoon } from '../../../../src/conformance/durable/lives.js'
import { EXTRAS } from '../../../../src/conformance/frontier/fixtures.js'
import { readTable } from '../../../../src/stores/level/check/table.js'
import { sizeOf } from '../../../../src/stores/level/db/copy.js'
import { entryKey } from '../../../../src/stores/level/format/keys.js'
import { readHost, writeHost } from '../../../../src/stores/level/format/records.js'
import { rebuild } from '../../../../src/stores/level/opening/rebuild.js'
import { requestFor } from '../../../fetch/support.js'
import { folder } from '../folders.js'
import { expectRefusal, filesOf, openStore, pendingUrls, takeIn, withDatabase } from '../support.js'
import { type Crawl, crashedCrawl, everythingIn, type Found, left } from './damage-fixture.js'

const AN_HOUR_MS = 3_600_000

let crawl: Crawl
beforeAll(async () => {
  crawl = await crashedCrawl(3)
})

const tablesOf = (path: string) => filesOf(path, /\.ldb$/)

function flip(file: string, share: number): void {
  const bytes = readFileSync(file)
  const at = Math.floor((bytes.length - 1) * share)
  bytes[at]! ^= 1
  writeFileSync(file, bytes)
}

/** All that a folder holds, which is closed again. */
async function contentOf(path: string, options: LevelOptions = {}): Promise<Found> {
  const found = await everythingIn(path, options)
  await found.knows([])
  return found
}

test('a database that was killed while it was made is made again, without a word', async () => {
  const path = await folder()
  // LevelDB writes the list of tables first, then CURRENT, then the log.
  await withDatabase(path, async () => {})
  for (const name of readdirSync(path)) {
    if (name === 'CURRENT' || name.endsWith('.log')) rmSync(join(path, name))
    else if (name.startsWith('MANIFEST-')) renameSync(join(path, name), join(path, 'MANIFEST-000001'))
  }
  const store = await openStore(path)
  expect(store.events).toEqual([])
  await takeIn(store, [requestFor('https://a.example/')])
  await store.close()
  expect((await inspectCrawl(path)).pending).toBe(1)
})

describe.for([0, 0.2, 0.4, 0.6, 0.8, 0.95, 1])('a bit flipped at %f of a table', (share) => {
  test('is noticed before LevelDB reads it, by the crawl and by inspect, and the file is named', async () => {
    const { path } = await left(crawl.path)
    const [table] = tablesOf(path)
    flip(table!, share)
    await expectRefusal(openStore(path), 'KUMO_STORE_DAMAGED', path, basename(table!), /repair: true/)
    await expectRefusal(inspectCrawl(path), 'KUMO_STORE_DAMAGED', path, basename(table!))
    // Nothing was changed by that.
    await expectRefusal(openStore(path), 'KUMO_STORE_DAMAGED', path, basename(table!))
  })

  test('is repaired: the file is set aside, what it held beside the damage goes on, losses are told', async () => {
    const { path } = await left(crawl.path)
    const [table] = tablesOf(path)
    const size = statSync(table!).size
    flip(table!, share)
    const { pending, events } = await contentOf(path, { repair: true })
    expect(events).toEqual([expect.stringMatching(/^repaired: .*known URLs.*pending/)])
    expect(events[0]).toContain(join(path, 'damaged', '1'))
    expect(readdirSync(join(path, 'damaged', '1'))).toEqual([basename(table!)])
    const missing = crawl.states.at(-1)!.filter((name) => !pending.includes(name)).length
    const most = /Up to (\d+) pending URLs are missing/.exec(events[0]!)?.[1] ?? 0
    expect(missing).toBeLessThanOrEqual(Number(most))
    expect(await sizeOf(path)).toBeGreaterThan(size)
    expect(await inspectCrawl(path)).toMatchObject({ pending: pending.length })
    expect(await contentOf(path)).toMatchObject({ pending, events: [] })
  })
})

test('repaired requests have what was asked for, are known by it, and wait until their time', async () => {
  const path = await folder()
  const now = Date.now()
  const store = await openStore(path)
  const form = requestFor('https://a.example/form')
  const requests: CrawlRequest[] = [
    ...EXTRAS.map((extras, i) => ({ ...requestFor(`https://h${i}.example/`), extras, priority: i })),
    form,
    { ...form, extras: { method: 'POST', body: 'q=1' } },
    { ...form, extras: { method: 'POST', body: 'q=2' }, notBefore: now + AN_HOUR_MS },
  ]
  await store.seen.addAll(requests.map(knownAs))
  await store.frontier.add(requests)
  await store.close()
  await withDatabase(path, async (database) => {
    // The lists of known names, the hosts, and a mark of a commit.
    for (const kind of ['s', 'q', 'j']) await database.clear({ gte: kind, lt: `${kind}\x7f` })
  })
  const repaired = await openStore(path, { repair: true })
  expect(repaired.events).toHaveLength(1)
  expect(await repaired.seen.addAll(requests.map(knownAs))).toEqual(requests.map(() => false))
  const leases = await leaseSoon(repaired.frontier, requests.length - 1, now + 1000)
  const [last] = await leaseSoon(repaired.frontier, 1, now + AN_HOUR_MS + 1)
  const met = new Map([...leases, last!].map((lease) => [knownAs(lease), lease]))
  expect([leases.length, met.size]).toEqual([requests.length - 1, requests.length])
  for (const each of requests) {
    const { extras, priority } = met.get(knownAs(each))!
    expect({ extras, priority }).toEqual({ extras: each.extras, priority: each.priority })
  }
  expect(last!.extras).toEqual({ method: 'POST', body: 'q=2' })
})

test('a second repair has a folder of its own', async () => {
  const { path } = await left(crawl.path)
  for (const number of ['1', '2']) {
    const [table] = tablesOf(path)
    flip(table!, 0)
    await contentOf(path, { repair: true })
    // From now on there are tables again.
    await contentOf(path)
    expect(readdirSync(join(path, 'damaged', number))).toEqual([basename(table!)])
  }
})

test('where only CURRENT is gone, nothing is set aside', async () => {
  const { path } = await left(crawl.path)
  rmSync(join(path, 'CURRENT'))
  const { pending } = await contentOf(path, { repair: true })
  expect(pending).toEqual(crawl.states.at(-1))
  expect(readdirSync(path)).not.toContain('damaged')
})

test('without verification tables are not read before they are needed', async () => {
  const { path } = await left(crawl.path)
  const [table] = tablesOf(path)
  const { blocks } = readTable(readFileSync(table!))
  // In the filter, which comes after the last block: LevelDB does without.
  const { from, length } = blocks.at(-1)!
  flip(table!, (from + length + 6) / (statSync(table!).size - 1))
  await expectRefusal(openStore(path), 'KUMO_STORE_DAMAGED', basename(table!))
  const opened = await openStore(path, { verify: false })
  expect(opened.events).toEqual([])
  await opened.close()
})

describe('a repair that was interrupted', () => {
  const INTERRUPTED: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    [
      'before anything was moved',
      async (path) => {
        mkdirSync(join(path, 'damaged', '1'), { recursive: true })
        writeFileSync(join(path, 'damaged', '1', 'moving'), '')
      },
    ],
    [
      'while files were moved',
      async (path) => {
        mkdirSync(join(path, 'damaged', '1'), { recursive: true })
        writeFileSync(join(path, 'damaged', '1', 'moving'), '')
        const files = filesOf(path, /^CURRENT$|\.ldb$/)
        for (const file of files) renameSync(file, join(path, 'damaged', '1', basename(file)))
      },
    ],
    ['while it was built', async (path) => (await rebuild(path, false)).database.close()],
    [
      'while it was built, and all that was built is gone',
      async (path) => {
        await (await rebuild(path, false)).database.close()
        for (const file of filesOf(path, /^CURRENT$|^MANIFEST|\.(ldb|log)$/)) rmSync(file)
      },
    ],
  ]
  test.for(INTERRUPTED)(
    '%s: is refused, and begun again when asked, and nothing is lost',
    async ([, cut]) => {
      const { path } = await left(crawl.path)
      await cut(path)
      await expectRefusal(openStore(path), 'KUMO_STORE_DAMAGED', path, /interrupted|CURRENT/)
      await expectRefusal(inspectCrawl(path), 'KUMO_STORE_DAMAGED', path)
      const { pending, events } = await contentOf(path, { repair: true })
      expect(pending).toEqual(crawl.states.at(-1))
      expect(events).toEqual([expect.stringMatching(/^repaired: /)])
      expect(await contentOf(path)).toMatchObject({ pending, events: [] })
    },
  )
})

test('a folder that is in use and looks damaged is in use', async () => {
  const { path } = await left(crawl.path)
  const opened = await openStore(path)
  const bytes = readFileSync(join(path, 'CURRENT'))
  writeFileSync(join(path, 'CURRENT'), 'x')
  await expectRefusal(openStore(path), 'KUMO_STORE_LOCKED', path)
  await expectRefusal(openStore(path, { repair: true }), 'KUMO_STORE_LOCKED', path)
  expect(readdirSync(path)).not.toContain('damaged')
  writeFileSync(join(path, 'CURRENT'), bytes)
  await opened.close()
})

/** Records that have their checksum and make no sense. */
describe('nonsense', () => {
  const URLS = ['https://a.example/1', 'https://a.example/2', 'https://b.example/1']

  async function stored(): Promise<string> {
    const path = await folder()
    const opened = await openStore(path)
    await takeIn(
      opened,
      URLS.map((url) => requestFor(url)),
    )
    opened.state!.space('test').put('fact', 1)
    await opened.close()
    return path
  }

  async function spoil(path: string, kind: string, value: string): Promise<void> {
    await withDatabase(path, async (database) => {
      const [key] = await database.keys({ gte: kind, lt: `${kind}~`, limit: 1 }).all()
      await database.put(key!, value)
    })
  }

  const whole = async (path: string) => {
    const opened = await openStore(path)
    try {
      await opened.state!.space('test').get('fact')
      await opened.seen.addAll(['https://c.example/'])
      await pendingUrls(opened.frontier)
    } finally {
      await Promise.resolve(opened.close()).catch(() => {})
    }
  }

  test.for([
    ['p', '{', 'a pending request', 2],
    ['p', 'x\n/\n', 'a pending request', 2],
    ['q', '{', 'the state of a host', 3],
    ['s', 'abc', 'a list of seen URLs', 3],
    ['k', '{', 'a record of a hook', 3],
    ['m', '{', 'the counts of the crawl', 3],
    ['m', '{"format":2,"identity":{}}', 'the counts of the crawl', 3],
  ] as const)('%s %s is damage, and repair does without', async ([kind, value, what, pending]) => {
    const path = await stored()
    await spoil(path, kind, value)
    await expectRefusal(whole(path), 'KUMO_STORE_DAMAGED', path, what)
    const opened = await openStore(path, { repair: true })
    expect(opened.events).toMatchObject([
      { kind: 'repaired', cause: { message: expect.stringContaining(what) } },
    ])
    const left = await pendingUrls(opened.frontier)
    expect(left).toHaveLength(pending)
    // What is pending is known, whatever was lost.
    expect(await opened.seen.addAll(left)).toEqual(left.map(() => false))
    await opened.close()
    const again = await openStore(path)
    expect(again.events).toEqual([])
    await again.close()
  })
})

test('names in the archive are known after a repair, also where the filter over them is lost', async () => {
  const path = await folder()
  const urls = Array.from({ length: 200 }, (_, i) => `https://a.example/${i}`)
  const opened = await openStore(path, { seenInMemory: 20 })
  for (const url of urls) {
    await takeIn(opened, [requestFor(url)])
    const [lease] = await opened.frontier.lease(1, Date.now() + 1e9)
    if (lease) await opened.frontier.settle([{ request: lease, visitedAt: undefined }])
    await opened.flush()
  }
  await opened.close()
  await withDatabase(path, async (database) => {
    const filters = await database.keys({ gte: 'b', lt: 'c' }).all()
    expect(filters.length).toBeGreaterThan(0)
    for (const key of filters) await database.del(key)
    // A commit that is missing makes it a damaged crawl.
    const [mark] = await database.keys({ gte: 'j', lt: 'k', limit: 1 }).all()
    await database.del(mark!)
  })
  const repaired = await openStore(path, { repair: true, seenInMemory: 20 })
  expect(await repaired.seen.addAll(urls)).toEqual(urls.map(() => false))
  await repaired.close()
})

test('of several entries of a host the last is true: it is not visited before its pause is over', async () => {
  const path = await folder()
  const opened = await openStore(path)
  await takeIn(opened, [requestFor('https://a.example/')])
  await opened.close()
  const due = Date.now() + AN_HOUR_MS
  await withDatabase(path, async (database) => {
    const [key] = await database.keys({ gte: 'q', lt: 'r' }).all()
    const record = writeHost({ ...readHost(''), notBefore: due })
    await database.put(entryKey(key!.slice(1, 5), due, 'a.example'), record)
    const [mark] = await database.keys({ gte: 'j', lt: 'k', limit: 1 }).all()
    await database.del(mark!)
  })
  const { frontier, close } = await openStore(path, { repair: true })
  expect(await leaseSoon(frontier, 1, due - AN_HOUR_MS / 2)).toHaveLength(0)
  expect(await leaseSoon(frontier, 1, due + AN_HOUR_MS)).toHaveLength(1)
  await close()
})
