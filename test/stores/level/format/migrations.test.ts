/** Stores of earlier formats go step by step to the present one; what a step changes is one commit. */

import type { CrawlRequest } from 'kumo'
import { knownAs } from 'kumo/adapters'
import type { Level } from 'level'
import { expect, test } from 'vitest'
import { leaseSoon } from '../../../../src/conformance/durable/lives.js'
import { Database } from '../../../../src/stores/level/db/database.js'
import { readCounts } from '../../../../src/stores/level/format/counts.js'
import { fromOrdered, hostIn, META, ordered } from '../../../../src/stores/level/format/keys.js'
import { FORMAT, migrate } from '../../../../src/stores/level/format/migrations.js'
import { readRequest } from '../../../../src/stores/level/format/records.js'
import { requestFor } from '../../../fetch/support.js'
import { folder } from '../folders.js'
import { openStore, pendingUrls, takeIn, withDatabase } from '../support.js'

const META_OF_1 = { format: 1, identity: {}, pending: 1, known: 1, seq: 1, commit: 1, marksFrom: 1, at: 0 }

test('two steps, each in its turn', async () => {
  const database = await Database.open(await folder(), false)
  await database.write({ values: new Map([['x', 'one']]), once: [] })
  const steps = {
    1: async (db: Database) => ({ changes: new Map([['x', `${await db.get('x')}, two`]]) }),
    2: async (db: Database, meta: object) => ({
      changes: new Map([['x', `${await db.get('x')}, three`]]),
      meta: { ...meta, known: 7 },
    }),
  }
  const meta = await migrate(database, META_OF_1, steps, 3)
  expect(meta).toEqual({ ...META_OF_1, format: 3, known: 7 })
  expect(await database.get('x')).toBe('one, two, three')
  expect(JSON.parse((await database.get(META))!)).toEqual(meta)
  await database.close()
})

test('a step that fails leaves what was before it', async () => {
  const database = await Database.open(await folder(), false)
  const steps = {
    1: async () => ({ changes: new Map([['x', 'two']]) }),
    2: async () => {
      throw new Error('no')
    },
  }
  await expect(migrate(database, META_OF_1, steps, 3)).rejects.toThrow('no')
  expect(await database.get('x')).toBe('two')
  expect(JSON.parse((await database.get(META))!)).toMatchObject({ format: 2 })
  await database.close()
})

test('a format that nobody knows the way from is refused', async () => {
  const database = await Database.open(await folder(), false)
  await expect(migrate(database, META_OF_1, {}, 2)).rejects.toThrow('format 1')
  await database.close()
})

test('a crawl as the first format had it goes on: what it holds, what it knows and what is learned then', async () => {
  const path = await folder()
  const requests = Array.from({ length: 60 }, (_, i) => requestFor(`https://h${i % 9}.example/${i}`))
  const urls = requests.map(({ url }) => url)
  const first = await openStore(path)
  // Many commits that bring nothing new, so that there are more of them than requests.
  for (let i = 0; i < 90; i++) {
    first.state!.space('test').put('a', i)
    if (i % 3 === 0) await takeIn(first, requests.slice((i / 3) * 2, (i / 3) * 2 + 2))
    await first.flush()
  }
  await first.close()
  await withDatabase(path, makeFirstFormat)
  const second = await openStore(path)
  expect([second.frontier.pending, second.seen.size]).toEqual([60, 60])
  expect((await second.seen.addAll(urls)).some((isNew) => isNew)).toBe(false)
  const more = Array.from({ length: 60 }, (_, i) => requestFor(`https://h${i % 9}.example/more/${i}`))
  for (let i = 0; i < more.length; i += 2) {
    await takeIn(second, more.slice(i, i + 2))
    await second.flush()
  }
  await second.close()
  const third = await openStore(path)
  const all = [...urls, ...more.map(({ url }) => url)]
  expect((await third.seen.addAll(all)).some((isNew) => isNew)).toBe(false)
  expect(await pendingUrls(third.frontier)).toEqual(all.sort())
})

test('hosts of a crawl that had no turns are all found', async () => {
  const path = await folder()
  const urls = Array.from({ length: 60 }, (_, i) => `https://h${i % 20}.example/${i}`)
  const first = await openStore(path, { hostsInMemory: 5 })
  await takeIn(first, urls.map(requestFor))
  await first.close()
  await withDatabase(path, async (database) => {
    const batch = database.batch()
    batch.put(META, JSON.stringify({ ...JSON.parse((await database.get(META))!), format: 2 }))
    // Behind the instant: a mark, and a turn of nine digits.
    for (const [key, record] of await database.iterator({ gte: 'q', lt: 'r' }).all()) {
      batch.del(key).put(key.slice(0, 14) + key.slice(24), record)
    }
    await batch.write()
  })
  const second = await openStore(path, { hostsInMemory: 5 })
  expect(await pendingUrls(second.frontier)).toEqual(urls.sort())
})

test('a crawl of format 3, with rare fields as JSON, goes on and takes requests with extras', async () => {
  const path = await folder()
  const now = Date.now()
  const first = await openStore(path)
  const urls = Array.from({ length: 6 }, (_, i) => `https://h${i % 3}.example/${i}`)
  const old: CrawlRequest[] = urls.map((url, i) => ({
    ...requestFor(url),
    priority: i,
    via: ['https://x.example/'],
  }))
  await takeIn(first, old)
  const [lease] = await leaseSoon(first.frontier, 1, now)
  await first.frontier.settle([{ request: lease!, visitedAt: now, again: { at: now + 60_000, attempt: 1 } }])
  await first.close()
  await withDatabase(path, async (database) => {
    const batch = database.batch()
    batch.put(META, JSON.stringify({ ...JSON.parse((await database.get(META))!), format: 3 }))
    for (const range of [
      { gte: 'l', lt: 'm' },
      { gte: 'p', lt: 'q' },
    ]) {
      for (const [key, record] of await database.iterator(range).all()) batch.put(key, inFormat3(key, record))
    }
    await batch.write()
  })
  const second = await openStore(path)
  const extras = { method: 'POST', body: 'q=1\n', label: 'new', data: '{"a":1}' }
  const posted = { ...requestFor(urls[0]!), extras }
  await second.seen.addAll([knownAs(posted)])
  await second.frontier.add([posted])
  await second.close()
  expect((await withDatabase(path, async (database) => JSON.parse((await database.get(META))!))).format).toBe(
    FORMAT,
  )
  const third = await openStore(path)
  expect((await third.seen.addAll([...urls, knownAs(posted)])).some((isNew) => isNew)).toBe(false)
  expect(third.frontier.pending).toBe(7)
  expect(await leaseSoon(third.frontier, 6, now + 1000)).toHaveLength(6)
  const [again] = await leaseSoon(third.frontier, 1, now + 61_000)
  expect([again!.url, again!.attempt, again!.via]).toEqual([lease!.url, 1, ['https://x.example/']])
})

/** One JSON object in place of the lines of rare fields. */
function inFormat3(key: string, record: string): string {
  const { request, at } = readRequest(record, hostIn(key))
  const { priority, via } = request
  const lines = record.split('\n').slice(0, 3)
  return [...lines, JSON.stringify({ priority, ...(at !== undefined && { at }), via })].join('\n')
}

/** Totals instead of counts by partition, and lists of fingerprints under the numbers of their commits. */
async function makeFirstFormat(database: Level): Promise<void> {
  const { counts, writers: _, nextBatch: __, ...meta } = JSON.parse((await database.get(META))!)
  const pending = readCounts(counts).reduce((sum, each) => sum + each.pending, 0)
  const known = readCounts(counts).reduce((sum, each) => sum + each.known, 0)
  const batch = database.batch()
  batch.put(META, JSON.stringify({ ...meta, format: 1, pending, known, seq: 60 }))
  const lists = await database.iterator({ gte: 's', lt: 't', valueEncoding: 'view' }).all()
  for (const [key] of lists) batch.del(key)
  for (const [key, prints] of lists) {
    // Two requests to a commit, and a commit in three.
    const commit = (fromOrdered(key.slice(5)) / 2 - 1) * 3 + 1
    batch.put(key.slice(0, 5) + ordered(commit), prints, { valueEncoding: 'view' })
  }
  await batch.write()
}
