/** One crawl over several runs in the same folder: what goes on, what is not done again, when it is over. */

import { cp } from 'node:fs/promises'
import { type Crawler, type Hook, type LevelOptions, level, type Page, type Summary } from 'kumo'
import { expect, test } from 'vitest'
import { readCounts, writeCounts } from '../../../src/stores/level/format/counts.js'
import { askedPaths, direct, linkedPages, linksTo, quick, site } from '../../crawler/support.js'
import { requestFor } from '../../fetch/support.js'
import { startSite } from '../../loopback/site.js'
import { runProgram } from '../../run-program.js'
import { folder } from './folders.js'
import { openStore, takeIn, withDatabase } from './support.js'

/** Runs until so many pages were delivered, then stops. */
async function runUntil<Data extends object>(crawler: Crawler<Data>, pages: number): Promise<Summary> {
  let delivered = 0
  const run = crawler.start()
  run.on('page', () => {
    if (++delivered === pages) run.stop()
  })
  return run.done
}

const LAYOUTS: readonly (readonly [string, LevelOptions])[] = [
  ['with all in memory', {}],
  ['with next to nothing in memory', { hostsInMemory: 1, requestsInMemory: 1, commitEvery: 1 }],
  ['with commits that wait for the disk', { durability: 'machine' }],
]

test.for(LAYOUTS)(
  'the same program on the same folder goes on where it was stopped, %s',
  async ([, options]) => {
    const count = 60
    const started = await site(linkedPages(count))
    const path = await folder()
    const crawler = quick.seeds(started.url()).concurrency(2).store(level(path, options))
    const first = await runUntil(crawler, 20)
    expect(first).toMatchObject({ reason: 'stopped', earlierRuns: 0, known: count })
    expect(first.pages).toBeGreaterThanOrEqual(20)
    expect(first.pages + first.pending).toBe(count)
    const second = await runUntil(crawler, 20)
    expect(second).toMatchObject({ reason: 'stopped', earlierRuns: 1 })
    expect(second.pages).toBeGreaterThanOrEqual(40)
    const third = await crawler.run()
    expect(third).toMatchObject({ reason: 'done', earlierRuns: 2, pages: count, known: count, pending: 0 })
    expect(third.bytes).toBeGreaterThan(second.bytes)
    expect(third.statuses).toEqual({ 200: count, 404: 1 })
    const asked = askedPaths(started)
    expect(asked).toHaveLength(count)
    expect(new Set(asked).size).toBe(count)
  },
)

test('a finished crawl ends at once and fetches nothing', async () => {
  const started = await site(linkedPages(5))
  const crawler = quick.seeds(started.url()).store(level(await folder()))
  expect(await crawler.run()).toMatchObject({ reason: 'done', pages: 5 })
  const asked = started.requests.length
  for (const earlierRuns of [1, 2]) {
    const again = await crawler.run()
    expect(again).toMatchObject({ reason: 'already-done', earlierRuns, pages: 5, known: 5, pending: 0 })
  }
  expect(started.requests).toHaveLength(asked)
})

test('new seeds on a finished crawl are crawled, and the sites of old seeds are still in scope', async () => {
  const routes = {
    '/': 'nothing here',
    '/new': 'found later',
    '/index': '',
  }
  const started = await site(routes)
  routes['/index'] = linksTo(started.url('/new'), started.url('/', '127.0.0.3'))
  const path = await folder()
  const crawler = direct.scope('site').store(level(path))
  expect(await crawler.seeds(started.url()).run()).toMatchObject({ reason: 'done', pages: 1 })
  const second = await crawler.seeds(started.url('/index', '127.0.0.2')).run()
  expect(second).toMatchObject({ reason: 'done', pages: 3, skips: { scope: 1 } })
  expect(askedPaths(started)).toEqual(['/', '/index', '/new'])
  const all = crawler.seeds(started.url(), started.url('/index', '127.0.0.2'))
  expect(await all.run()).toMatchObject({ reason: 'already-done', pages: 3 })
  expect(started.requests).toHaveLength(3)
})

test('a limit of pages that was reached can be raised, and is met exactly', async () => {
  const started = await site(linkedPages(40))
  const crawler = quick.seeds(started.url()).store(level(await folder()))
  expect(await crawler.limit({ pages: 7 }).run()).toMatchObject({ reason: 'limit', pages: 7 })
  expect(await crawler.limit({ pages: 7 }).run()).toMatchObject({ reason: 'limit', pages: 7 })
  expect(askedPaths(started)).toHaveLength(7)
  expect(await crawler.limit({ pages: 18 }).run()).toMatchObject({ reason: 'limit', pages: 18 })
  expect(askedPaths(started)).toHaveLength(18)
  expect(await crawler.run()).toMatchObject({ reason: 'done', pages: 40, earlierRuns: 3 })
  expect(new Set(askedPaths(started)).size).toBe(askedPaths(started).length)
})

test('a limit of pages per host counts those of earlier runs', async () => {
  const started = await site(linkedPages(30))
  const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
  const crawler = direct
    .seeds(hosts.map((host) => started.url('/', host)))
    .limit({ pagesPerHost: 10 })
    .concurrency(3)
    .store(level(await folder()))
  expect(await runUntil(crawler, 12)).toMatchObject({ reason: 'stopped' })
  expect(await crawler.run()).toMatchObject({ reason: 'done', pages: 30 })
  for (const host of hosts) expect(started.requests.filter((each) => each.host === host)).toHaveLength(10)
})

test('what a hook has put into its state is there in the next run', async () => {
  const started = await site(linkedPages(10))
  let total = 0
  const counting = (): Hook => {
    let state: Parameters<NonNullable<Hook['open']>>[0]['state']
    return {
      name: 'counting',
      async open(context) {
        state = context.state
        total = ((await state.get('total')) as number | undefined) ?? 0
      },
      page({ url }: Page) {
        state.put('total', ++total)
        state.put('last', { url }, new URL(url).host)
      },
    }
  }
  const path = await folder()
  const crawler = quick.seeds(started.url()).concurrency(1).store(level(path))
  const { pages } = await runUntil(crawler.use(counting()), 4)
  expect(total).toBe(pages)
  total = 0
  await crawler.use(counting()).run()
  expect(total).toBe(10)
  let facts: unknown
  const host = new URL(started.url()).host
  const looking: Hook = {
    name: 'counting',
    async open({ state }) {
      facts = [await state.get('total'), await state.get('last', host), await state.get('other')]
    },
    page: () => {},
  }
  await crawler.use(looking).run()
  expect(facts).toEqual([10, { url: expect.stringContaining(host) }, undefined])
})

test('robots.txt is not asked for again by the next run, and still obeyed', async () => {
  const robots = 'User-agent: *\nDisallow: /3\nCrawl-delay: 0.01'
  const started = await site({ ...linkedPages(6), '/robots.txt': robots })
  const crawler = quick
    .seeds(started.url())
    .concurrency(1)
    .store(level(await folder()))
  await runUntil(crawler, 1)
  const last = await crawler.run()
  expect(last).toMatchObject({ reason: 'done', pages: 5, robots: 1, skips: { robots: 1 } })
  const paths = started.requests.map(({ path }) => path)
  expect(paths.filter((path) => path === '/robots.txt')).toHaveLength(1)
  expect(paths).not.toContain('/3')
})

test('redirects, failures and pages that are tried again are not lost by a stop', async () => {
  let isDown = true
  const started = await site({
    ...linkedPages(4),
    '/': linksTo('/1', '/2', '/3', '/moved', '/gone', '/weak'),
    '/moved': { status: 302, headers: { location: '/1' } },
    '/gone': { status: 410 },
    '/weak': (_, response) => {
      response.writeHead(isDown ? 500 : 200, { 'content-type': 'text/html' })
      response.end('weak')
    },
  })
  const crawler = direct
    .seeds(started.url())
    .concurrency(1)
    .retries({ times: 3, backoff: '300ms', maxBackoff: '1s' })
    .store(level(await folder()))
  const run = crawler.start()
  run.on('failure', ({ url }) => void (url.endsWith('/weak') && run.stop()))
  await run.done
  isDown = false
  const { pages, redirects, failures, retries } = await crawler.run()
  expect({ pages, redirects, failures, retries }).toEqual({
    pages: 5,
    redirects: 1,
    failures: { 'http-status': 1 },
    retries: 1,
  })
})

test('right after opening again, the counts are those of before', async () => {
  const started = await site(linkedPages(30))
  const path = await folder()
  const crawler = direct.seeds(started.url()).concurrency(1).store(level(path))
  const { pending, known, pages } = await runUntil(crawler, 10)
  let opened: unknown
  const looking: Hook = { name: 'looking', page: () => void (opened ??= run.stats()) }
  const run = crawler
    .use(looking)
    .limit({ pages: pages + 1 })
    .start()
  await run.done
  expect(opened).toMatchObject({ pages, known, pending: pending - 1, inFlight: 1, earlierRuns: 1 })
})

test('the number of known URLs is right while they are still being read', async () => {
  const path = await folder()
  const first = await openStore(path)
  const urls = ['a', 'b', 'c'].map((name) => `https://${name}.example/`)
  await takeIn(first, urls.map(requestFor))
  await first.close()
  // As a crawl of many small commits leaves them; the fingerprints of the three stand behind them.
  const more = 100_000
  await withDatabase(path, async (database) => {
    const meta = JSON.parse((await database.get('m'))!)
    const counts = readCounts(meta.counts)
    const first = counts.find(({ partition }) => partition === 0) ?? { partition: 0, pending: 0, known: 0 }
    const grown = { ...first, known: first.known + more }
    const batch = database.batch()
    for (let i = 1; i <= more; i++) {
      const print = Uint32Array.of(Math.imul(i, 0x9e3779b1), Math.imul(i, 0x85ebca6b))
      batch.put(`s0000!${i}`, new Uint8Array(print.buffer) as never, { valueEncoding: 'view' })
    }
    const others = counts.filter(({ partition }) => partition !== 0)
    await batch.put('m', JSON.stringify({ ...meta, counts: writeCounts([grown, ...others]) })).write()
  })
  const second = await openStore(path)
  expect([second.seen.size, second.frontier.pending]).toEqual([more + 3, 3])
  expect(await second.seen.addAll(urls)).toEqual([false, false, false])
  expect(second.seen.size).toBe(more + 3)
})

test('after the crawl nothing keeps the process alive', async () => {
  const started = await startSite(linkedPages(20))
  const path = await folder()
  try {
    for (const [reason, limit] of [
      ['limit', '5'],
      ['done', '1000'],
      ['already-done', '1000'],
    ] as const) {
      const ran = await runProgram('test/stores/level/db/exits-by-itself.ts', [path, started.url(), limit])
      expect(ran).toEqual({ code: 0, stdout: `${reason} handles:0\n`, stderr: '' })
    }
  } finally {
    await started.close()
  }
})

test.for(['new', 'resumed'])(
  'hosts rest after a %s run that was killed before its first commit',
  async (which) => {
    const politeness = { delayMs: 60_000, connections: 1, growAt: Number.POSITIVE_INFINITY }
    // Nothing is committed while the test looks.
    const options = { commitEvery: 60_000 }
    const path = await folder()
    if (which === 'resumed') await (await openStore(path)).close()
    const killed = await openStore(path, options, { politeness })
    await takeIn(killed, [requestFor('https://a.example/1')])
    expect(await killed.frontier.lease(1, Date.now())).toHaveLength(1)
    const left = await folder()
    await cp(path, left, { recursive: true })
    const opened = await openStore(left, options, { politeness })
    await takeIn(opened, [requestFor('https://a.example/1')])
    const now = Date.now()
    expect(await opened.frontier.lease(1, now)).toEqual([])
    expect(opened.frontier.nextDue()).toBeGreaterThan(now + 30_000)
  },
)
