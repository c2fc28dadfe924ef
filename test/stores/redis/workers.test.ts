/** Worker threads in a crawl that processes share: each is a member of its own. */

import { Crawler, type Failure, fromModule, inspectCrawl, type WorkerEvent } from 'kumo'
import { redis } from 'kumo/redis'
import { describe, expect, test } from 'vitest'
import { linksTo, site, until, web } from '../../crawler/support.js'
import { folder } from '../level/folders.js'
import { whyNoRedis } from './server.js'
import { newCrawl, startInTest, useServer } from './support.js'

const TROUBLE = new URL('../../workers/modules/trouble.mjs', import.meta.url)

describe.skipIf(whyNoRedis())(`workers${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  /** A crawl that several processes can start, here several runs in one. */
  function shared(build: (crawler: Crawler) => Crawler) {
    const crawl = newCrawl()
    const store = redis(server.url, { crawl, ttl: '20s', commitEvery: 20 })
    const crawler = build(new Crawler().scope('all').robots(false).delay(0).workers(2).store(store))
    const start = (more: (crawler: Crawler) => Crawler = (same) => same) => startInTest(more(crawler))
    return { start, crawl }
  }

  test('two runs of two threads: every page once, no host twice at a time', async () => {
    const pages = await web({ hosts: 16, pagesPerHost: 12, crossHostShare: 0.3, latencyMs: [1, 10] })
    const { start } = shared((crawler) =>
      crawler.allowPrivate('all').delay(20).concurrency(24).seeds(pages.seeds(1)),
    )
    const ended = await Promise.all([start().done, start().done])
    expect(ended.map(({ reason }) => reason)).toEqual(['done', 'done'])
    expect(ended.reduce((sum, summary) => sum + summary.pages, 0)).toBe(pages.totalPages)
    for (const { pages: all, workers } of ended)
      expect(workers.reduce((sum, each) => sum + each.pages, 0)).toBe(all)
    const report = await pages.report(0, { gapMs: 20 })
    expect(report.distinctPages).toBe(pages.totalPages)
    expect(report.perHost).toMatchObject({ overlaps: 0, mostOpen: 1, belowGap: 0 })
    expect((await start().done).reason).toBe('already-done')
  })

  test('threads die: a limit is exact, every page comes, no pause is cut short, and the counts add up', async () => {
    const pages = await web({ hosts: 4, pagesPerHost: 40, crossHostShare: 0.3, latencyMs: [1, 10] })
    let deaths = 0
    const delivered = new Set<string>()
    const deadly = { paths: ['/p/7'], folder: await folder() }
    const { start, crawl } = shared((crawler) =>
      crawler
        .allowPrivate('all')
        .delay(30)
        .concurrency(8)
        .seeds(pages.seeds(1))
        .use(fromModule(TROUBLE, { export: 'deadlyOnce', with: deadly }))
        .on('worker', () => void deaths++)
        .on('page', ({ url }) => void delivered.add(url)),
    )
    const total = async () => (await inspectCrawl(`${server.url}?crawl=${crawl}`)).pages
    const limited = (crawler: Crawler) => crawler.limit({ pages: 61 })
    const ended = await Promise.all([start(limited).done, start(limited).done])
    expect(ended.map(({ reason }) => reason)).toEqual(['limit', 'limit'])
    expect(ended.reduce((sum, summary) => sum + summary.pages, 0)).toBe(61)
    expect(await total()).toBe(61)
    const summaries = await Promise.all([start().done, start().done])
    for (const summary of summaries) expect(summary).toMatchObject({ reason: 'done', lost: 0, failed: 0 })
    // A thread for each host. What was delivered and not committed is delivered again, and counts once.
    expect(deaths).toBe(4)
    expect(delivered.size).toBe(pages.totalPages)
    expect(await total()).toBe(pages.totalPages)
    const report = await pages.report(0, { gapMs: 30 })
    expect(report.distinctPages).toBe(pages.totalPages)
    expect(report.perHost).toMatchObject({ overlaps: 0, mostOpen: 1, belowGap: 0 })
  })

  test('a page that ends its thread is given up, whichever thread gets it, and all others come', async () => {
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`)
    const { url } = await site({
      '/': linksTo('/deadly', ...paths),
      ...Object.fromEntries(['/deadly', ...paths].map((path) => [path, 'x'])),
    })
    const events: WorkerEvent[] = []
    const failures: Failure[] = []
    const { start } = shared((crawler) =>
      crawler
        .seeds(url())
        .use(fromModule(TROUBLE, { export: 'deadly', with: { path: '/deadly', how: 'throwLater' } })),
    )
    const summary = await start()
      .on('worker', (event) => void events.push(event))
      .on('failure', (failure) => void failures.push(failure)).done
    expect(events.length).toBeGreaterThanOrEqual(2)
    expect(failures).toMatchObject([{ url: url('/deadly'), code: 'worker-crashed', final: true }])
    expect(summary).toMatchObject({ reason: 'done', lost: 0, pending: 0, pages: paths.length + 1 })
  })

  test('a crawl that is stopped goes on, and nothing is repeated', async () => {
    const pages = await web({ hosts: 12, pagesPerHost: 20, crossHostShare: 0.3, latencyMs: [1, 10] })
    const { start, crawl } = shared((crawler) =>
      crawler.allowPrivate('all').delay(20).concurrency(12).seeds(pages.seeds(1)),
    )
    const first = start()
    await until(() => (first.stats()?.pages ?? 0) > 20, 'some pages')
    first.stop({ within: '20s' })
    const { reason, pages: before } = await first.done
    expect(reason).toBe('stopped')
    // Nobody has to wait for a lease to end.
    expect(await server.redis.hlen(`{kumo:${crawl}}:nodes`)).toBe(0)
    const inspection = await inspectCrawl(`${server.url}?crawl=${crawl}`)
    expect(inspection).toMatchObject({ inUse: false, runs: 1, pages: before, state: 'stopped' })
    const second = await start().done
    expect(second).toMatchObject({ reason: 'done', pages: pages.totalPages, earlierRuns: 1, pending: 0 })
    const report = await pages.report()
    expect(report.distinctPages).toBe(pages.totalPages)
    expect(report.requests).toBe(pages.totalPages)
  })

  test('threads that do not end are ended, and everything is free for others at once', async () => {
    const { url, requests } = await site({ '/': linksTo('/deadly', '/other'), '/deadly': 'x', '/other': 'x' })
    const { start, crawl } = shared((crawler) => crawler.seeds(url()))
    const blocking = fromModule(TROUBLE, { export: 'deadly', with: { path: '/deadly', how: 'block' } })
    const first = start((crawler) => crawler.use(blocking))
    await until(() => requests.some(({ path }) => path === '/deadly'), 'the page is asked for')
    first.stop({ within: 50 })
    await first.done
    expect(await server.redis.hlen(`{kumo:${crawl}}:nodes`)).toBe(0)
    expect(await server.redis.hlen(`{kumo:${crawl}}:own`)).toBe(0)
    expect(await start().done).toMatchObject({ reason: 'done', pages: 3, failed: 0 })
  })

  test('the health of the process is that of its threads', async () => {
    const { url } = await site({ '/': 'x' })
    const run = shared((crawler) => crawler.keepOpen().seeds(url())).start()
    await until(() => run.health()?.partitions === 1024, 'all partitions')
    expect(run.health()).toMatchObject({ nodes: 2, partitionsOfCrawl: 1024 })
    await until(() => run.health()?.isReachable === true && run.health()!.leaseLeftMs > 10_000, 'a lease')
    await until(() => run.stats()?.workers.every(({ partitions }) => partitions === 512) === true, 'halves')
    run.finish()
    expect(await run.done).toMatchObject({ reason: 'done', pages: 1 })
    expect(run.health()).toBeUndefined()
  })

  test('limit({ time }) ends a process without threads', async () => {
    const { url } = await site({ '/': 'x' })
    const { start } = shared((crawler) => crawler.keepOpen().workers(0).seeds(url()))
    const run = start((crawler) => crawler.limit({ time: 300 }))
    expect((await run.done).reason).toBe('limit')
  })
})
