/** Limits end a crawl where they say, not a little later. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { level } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LoopTime } from '../loop-time.js'
import { crawl, direct, linkedPages, linksTo, quick, site, WORKERS, web } from './support.js'

describe('pages', () => {
  test.each([1, 7, 64])('is exact with %i at a time, failures and skips mixed in', async (concurrency) => {
    const { url } = await site({ '/ok': linksTo('/ok2', '/away.css'), '/ok2': 'end', '/away.css': 'a{}' })
    const paths = ['/ok', '/gone', '/ok2', '/ok2?again', '/away.css']
    const seeds = Array.from({ length: 200 }, (_, i) => url(paths[i % paths.length], `127.0.2.${i}`))
    const { pages, summary } = await crawl(direct.seeds(seeds).concurrency(concurrency).limit({ pages: 50 }))
    expect(pages).toHaveLength(50)
    expect(summary).toMatchObject({ pages: 50, reason: 'limit', inFlight: 0 })
    expect(summary.failed).toBeGreaterThan(0)
  })

  test.each([
    [12, 'limit'],
    [13, 'done'],
  ])('of a site of 12, limit %i ends as %s', async (limit, reason) => {
    const { url } = await site(linkedPages(12))
    expect(await direct.seeds(url()).limit({ pages: limit }).run()).toMatchObject({ pages: 12, reason })
  })

  test('no page beyond the limit is even asked for', async () => {
    const { url, requests } = await site(linkedPages(30))
    await direct.seeds(url()).perHost({ connections: 8, growAt: 1 }).limit({ pages: 10 }).run()
    expect(requests).toHaveLength(10)
  })

  test('a page that its extractor failed on counts, or a broken extractor would crawl the whole site', async () => {
    const { url, requests } = await site(linkedPages(20))
    let calls = 0
    const crawler = direct.seeds(url()).limit({ pages: 5 })
    const { pages, summary } = await crawl(
      crawler.extract({
        odd() {
          if (++calls % 2 === 0) throw new Error('even')
          return true
        },
      }),
    )
    expect(pages).toHaveLength(3)
    expect(summary).toMatchObject({ pages: 3, failures: { 'extract-failed': 2 }, reason: 'limit' })
    expect(requests).toHaveLength(5)
  })

  test('those that could not be extracted count in later runs of a store as well', async () => {
    const { url, requests } = await site(linkedPages(20))
    const stored = direct.store(level(folder())).workers(WORKERS).seeds(url())
    const first = await stored
      .limit({ pages: 4 })
      .extract({ broken })
      .on('failure', () => {})
      .run()
    expect(first).toMatchObject({ pages: 0, failures: { 'extract-failed': 4 }, reason: 'limit' })
    const second = await stored.limit({ pages: 6 }).run()
    expect(second).toMatchObject({ pages: 2, failures: { 'extract-failed': 4 }, reason: 'limit' })
    expect(await stored.limit({ pages: 6 }).run()).toMatchObject({ pages: 2, failed: 4, reason: 'limit' })
    expect(requests).toHaveLength(6)
  })

  test.each(['pagesPerHost', 'pagesPerSite'] as const)('the same holds for %s', async (limit) => {
    const { url, requests } = await site(linkedPages(20))
    const crawler = direct
      .seeds(url())
      .limit({ [limit]: 4 })
      .extract({ broken })
    expect(await crawler.on('failure', () => {}).run()).toMatchObject({ failures: { 'extract-failed': 4 } })
    expect(requests).toHaveLength(4)
  })
})

const broken = () => {
  throw new Error('always')
}

describe('requests', () => {
  const robots = { '/robots.txt': 'User-agent: *\nSitemap: /sitemap.xml' }
  const map = '<urlset><url><loc>/missing</loc></url></urlset>'

  test.each([1, 7, 64])('is exact with %i at a time, whatever is asked for', async (concurrency) => {
    const { url, requests } = await site({
      ...robots,
      '/sitemap.xml': map,
      '/': linksTo('/moved', '/gone', '/busy', '/a', '/b'),
      '/moved': { status: 302, headers: { location: '/target' } },
      '/busy': { status: 503 },
      '/a': 'a',
      '/b': 'b',
      '/target': 'target',
    })
    const seeds = Array.from({ length: 40 }, (_, i) => url('/', `127.0.3.${i}`))
    const crawler = quick.retries({ times: 1, backoff: '1ms' }).seeds(seeds).concurrency(concurrency)
    const summary = await crawler.limit({ requests: 130 }).run()
    expect(summary).toMatchObject({ reason: 'limit', requests: 130, inFlight: 0 })
    expect(requests).toHaveLength(130)
  })

  test.each([
    [12, 'limit'],
    [13, 'done'],
  ])('of a site of 12, limit %i ends as %s', async (limit, reason) => {
    const { url } = await site(linkedPages(12))
    expect(await direct.seeds(url()).limit({ requests: limit }).run()).toMatchObject({ requests: 12, reason })
  })

  test('what is skipped without being asked for costs none, and holds nobody back', async () => {
    const { url, requests } = await site({
      '/robots.txt': 'User-agent: *\nDisallow: /no',
      '/': linksTo(...Array.from({ length: 30 }, (_, i) => `/no/${i}`), '/yes'),
      '/yes': 'yes',
    })
    const summary = await quick.seeds(url()).limit({ requests: 3 }).run()
    expect(summary).toMatchObject({ requests: 3, pages: 2 })
    expect(requests).toHaveLength(3)
  })

  test('together with pages, the smaller ends the crawl', async () => {
    const seeds = async () => (await site(linkedPages(20))).url()
    const both = async (pages: number, requests: number) =>
      direct
        .seeds(await seeds())
        .limit({ pages, requests })
        .run()
    expect(await both(5, 9)).toMatchObject({ pages: 5, requests: 5, reason: 'limit' })
    expect(await both(9, 5)).toMatchObject({ pages: 5, requests: 5, reason: 'limit' })
  })

  test('counts those of all runs of a store', async () => {
    const { url, requests } = await site(linkedPages(20))
    const stored = direct.store(level(folder())).workers(WORKERS).seeds(url())
    expect(await stored.limit({ requests: 5 }).run()).toMatchObject({ requests: 5, reason: 'limit' })
    expect(await stored.limit({ requests: 8 }).run()).toMatchObject({ requests: 8, reason: 'limit' })
    expect(requests).toHaveLength(8)
  })
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'kumo-limits-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('bytes', () => {
  test('once they are read, no visit starts', async () => {
    const body = 'x'.repeat(1000)
    const { url, requests } = await site({ '/p': body })
    const seeds = Array.from({ length: 20 }, (_, i) => url(`/p?${i}`))
    const summary = await direct.seeds(seeds).limit({ bytes: 4500 }).run()
    expect(summary).toMatchObject({ reason: 'limit', pages: 5, bytes: 5000 })
    expect(requests).toHaveLength(5)
  })
})

describe('time', () => {
  test('ends visits that are under way, which stay pending', async () => {
    const { url, requests } = await site({ '/': linksTo('/never'), '/never': () => {} })
    // On a busy machine the first tries may be over before the visit is under way.
    for (let ms = 400; ; ms *= 2) {
      const startedAt = performance.now()
      const time = new LoopTime()
      const { summary, failures } = await crawl(direct.seeds(url()).limit({ time: ms }))
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(ms)
      expect(time.stop()).toBeLessThan(ms + 4600)
      expect(summary.reason).toBe('limit')
      // A thread without CPU for the whole grace period cannot report what becomes of its visit.
      expect(summary.pending + summary.inFlight).toBe(1)
      expect(failures).toEqual([])
      if (requests.some(({ path }) => path === '/never')) {
        expect(summary.pages).toBe(1)
        break
      }
    }
  })

  test('a crawl that is done before does not wait for it', async () => {
    const { url } = await site(linkedPages(3))
    const summary = await direct.seeds(url()).limit({ time: '1h' }).run()
    expect(summary).toMatchObject({ reason: 'done', pages: 3 })
  })
})

describe('pagesPerHost', () => {
  test.each([1, 4])('is exact for each host with %i connections', async (connections) => {
    const server = await web({
      hosts: 6,
      pagesPerHost: [3, 30, 30, 7, 30, 8],
      crossHostShare: 0.1,
      latencyMs: [0, 10],
    })
    const { pages, summary } = await crawl(
      quick.scope('all').seeds(server.seeds()).perHost({ connections, growAt: 1 }).limit({ pagesPerHost: 7 }),
    )
    const byHost = new Map<string, number>()
    for (const { host } of pages) byHost.set(host, (byHost.get(host) ?? 0) + 1)
    expect([...byHost].sort().map(([, count]) => count)).toEqual([3, 7, 7, 7, 7, 7])
    expect(summary.reason).toBe('done')
    expect(summary.skips['host-limit']).toBeGreaterThan(0)
    expect((await server.report()).distinctPages).toBe(38)
  })

  test('a page that fails leaves its place to another', async () => {
    const { url } = await site({
      '/': linksTo('/x', '/y', '/a', '/b', '/c'),
      '/a': 'a',
      '/b': 'b',
      '/c': 'c',
    })
    const { pages, failures } = await crawl(
      direct.seeds(url()).perHost({ connections: 3, growAt: 1 }).limit({ pagesPerHost: 3 }),
    )
    expect(pages).toHaveLength(3)
    expect(failures.map(({ code }) => code)).toEqual(['http-status', 'http-status'])
  })
})
