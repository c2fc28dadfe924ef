/** Looking into a folder: of a crawl that runs, of one that is over, of one that was killed, of none. */

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Inspection, inspectCrawl, level } from 'kumo'
import { expect, onTestFinished, test } from 'vitest'
import { direct, linkedPages, linksTo, site, sleep, until } from '../../../crawler/support.js'
import { requestFor } from '../../../fetch/support.js'
import { folder } from '../folders.js'
import { expectRefusal, openStore, takeIn } from '../support.js'
import { openShards, requestsOf, takeInAll } from '../threads/shards-fixture.js'

/** A folder in a folder of its own, where whatever is left behind is found. */
async function alone(): Promise<{ path: string; leftBehind: () => Promise<string[]> }> {
  const parent = await folder()
  const leftBehind = async () => (await readdir(parent)).filter((name) => name !== 'crawl')
  return { path: join(parent, 'crawl'), leftBehind }
}

test('a crawl that is going on is looked at without disturbing it', async () => {
  const { path, leftBehind } = await alone()
  const count = 300
  const started = await site(linkedPages(count))
  const crawler = direct
    .seeds(started.url())
    .delay('5ms')
    .concurrency(1)
    .store(level(path, { commitEvery: 5 }))
  const run = crawler.start()
  await until(() => (run.stats()?.pages ?? 0) >= 20, 'some pages')
  const looks: Inspection[] = []
  for (let i = 0; i < 5; i++) {
    looks.push(await inspectCrawl(path))
    await sleep(50)
  }
  expect(await run.done).toMatchObject({ reason: 'done', pages: count, pending: 0 })
  expect(started.requests).toHaveLength(count)
  const { host } = new URL(started.url())
  for (const look of looks) {
    expect(look).toMatchObject({
      state: 'crashed or running',
      inUse: true,
      runs: 1,
      known: count,
      failed: 0,
      path,
    })
    expect(look.pages + look.pending).toBe(count)
    expect(look.hosts).toMatchObject({ total: 1, withMostPending: [{ host, pending: look.pending }] })
  }
  expect(looks.at(-1)!.pages).toBeGreaterThan(looks[0]!.pages)
  expect(await leftBehind()).toEqual([])
})

test('a crawl that is over is told with its counts and its last failures', async () => {
  const { path, leftBehind } = await alone()
  const started = await site({ ...linkedPages(4), '/': linksTo('/1', '/2', '/3', '/gone', '/lost') })
  const before = Date.now()
  await direct.seeds(started.url()).scope('host').store(level(path)).run()
  const files = await readdir(path)
  const look = await inspectCrawl(path)
  expect(look).toMatchObject({
    state: 'done',
    inUse: false,
    runs: 1,
    pages: 4,
    known: 6,
    pending: 0,
    failed: 2,
    failures: { 'http-status': 2 },
    statuses: { 200: 4, 404: 2 },
    hosts: { total: 0, withMostPending: [] },
  })
  expect(look.recentFailures.map(({ url }) => new URL(url).pathname).sort()).toEqual(['/gone', '/lost'])
  for (const { code, status, at } of look.recentFailures) {
    expect({ code, status }).toEqual({ code: 'http-status', status: 404 })
    expect(at).toBeGreaterThanOrEqual(before - 1)
  }
  expect(look.startedAt).toBeGreaterThanOrEqual(before - 1)
  expect(look.lastCommitAt).toBeGreaterThanOrEqual(look.startedAt)
  expect(look.lastCommitAt).toBeLessThanOrEqual(Date.now() + 1)
  expect(look.bytesOnDisk).toBeGreaterThan(100)
  expect(await readdir(path)).toEqual(files)
  expect(await leftBehind()).toEqual([])
  expect((await inspectCrawl(path, { failures: 1 })).recentFailures).toHaveLength(1)
})

test.for([
  ['stopped', 'stopped'],
  ['limit', 'limit'],
] as const)('a crawl that ended by %s says so', async ([how, state]) => {
  const { path } = await alone()
  const started = await site(linkedPages(10))
  const crawler = direct.seeds(started.url()).concurrency(1).store(level(path))
  if (how === 'limit') await crawler.limit({ pages: 2 }).run()
  else {
    const run = crawler.start()
    run.on('page', () => run.stop())
    await run.done
  }
  expect(await inspectCrawl(path)).toMatchObject({ state, inUse: false, runs: 1 })
})

test('hosts are listed by what is pending, with how long they rest', async () => {
  const { path } = await alone()
  const politeness = { delayMs: 60_000, connections: 1, growAt: 1000 }
  const opened = await openStore(path, { hostsInMemory: 2, requestsInMemory: 1 }, { politeness })
  for (let i = 1; i <= 30; i++) {
    const requests = Array.from({ length: i }, (_, page) => requestFor(`https://h${i}.example/${page}`))
    await takeIn(opened, requests)
  }
  const now = Date.now()
  const [lease] = await opened.frontier.lease(1, now)
  const hostTrouble = { incidents: 2, since: now }
  const again = { at: now + 120_000, attempt: 1 }
  await opened.frontier.settle([{ request: lease!, visitedAt: now, hostTrouble, again }])
  await opened.flush()
  const all = await inspectCrawl(path, { hosts: 100 })
  expect(all.pending).toBe((30 * 31) / 2)
  expect(all.hosts.total).toBe(30)
  expect(all.hosts.withMostPending.map(({ pending }) => pending)).toEqual(
    Array.from({ length: 30 }, (_, i) => 30 - i),
  )
  const visited = all.hosts.withMostPending.find(({ host }) => host === lease!.host)
  expect(visited).toMatchObject({ incidents: 2 })
  expect(visited!.notBefore).toBeGreaterThan(now + 59_000)
  expect(visited!.notBefore).toBeLessThan(now + 61_000)
  expect((await inspectCrawl(path, { hosts: 3 })).hosts).toMatchObject({
    total: 30,
    withMostPending: [{ host: 'h30.example' }, { host: 'h29.example' }, { host: 'h28.example' }],
  })
})

test('what several shards have stored is told as one, while they have it open and afterwards', async () => {
  const { path } = await alone()
  const shards = await openShards(path, 3)
  const requests = requestsOf(200)
  await takeInAll(shards, requests)
  const [lease] = await shards.all[2]!.frontier.lease(1, Date.now())
  await shards.all[2]!.frontier.settle([{ request: lease!, visitedAt: Date.now() }])
  for (const [i, shard] of shards.all.entries()) {
    const counts = {
      pages: i + 1,
      bytes: 10,
      failed: 1,
      failures: { timeout: 1 },
      skips: {},
      statuses: { 200: 2 },
    }
    const ended = i === 1 ? undefined : 'done'
    shard
      .state!.space('crawl')
      .put(i === 0 ? 'tally' : `tally ${i}`, { ...counts, runs: 2, startedAt: 7 + i, ended })
    await shard.flush()
  }
  // Partitions that are on their way count too.
  await shards.all[0]!.handover.release([0, 3])
  const expected = {
    known: 200,
    pending: 199,
    pages: 6,
    bytes: 30,
    failed: 3,
    failures: { timeout: 3 },
    statuses: { 200: 6 },
    runs: 2,
    startedAt: 7,
    state: 'crashed or running',
  }
  expect(await inspectCrawl(path)).toMatchObject({ ...expected, inUse: true })
  await shards.close()
  expect(await inspectCrawl(path)).toMatchObject({ ...expected, inUse: false })
})

test('a folder without a crawl, or none at all, is named, and nothing is made', async () => {
  const { path, leftBehind } = await alone()
  await expectRefusal(inspectCrawl(path), 'KUMO_STORE_RESUME', path, /no crawl; check the path/)
  await mkdir(path)
  await expectRefusal(inspectCrawl(path), 'KUMO_STORE_RESUME', path)
  expect([...(await readdir(path)), ...(await leftBehind())]).toEqual([])
})

test('a file is refused by inspectCrawl and by a crawl, and named', async () => {
  const file = join(await folder(), 'afile')
  await writeFile(file, 'x')
  const refusal = { code: 'KUMO_STORE_FAILED', message: expect.stringContaining(`${file} is a file`) }
  await expect(inspectCrawl(file)).rejects.toMatchObject(refusal)
  await expect(direct.seeds('http://a.example/').store(level(file)).run()).rejects.toMatchObject(refusal)
})

test('a folder that was opened and never written to holds no crawl', async () => {
  const { path, leftBehind } = await alone()
  const opened = await openStore(path)
  onTestFinished(() => opened.close())
  await expectRefusal(inspectCrawl(path), 'KUMO_STORE_RESUME', path)
  expect(await leftBehind()).toEqual([])
})
