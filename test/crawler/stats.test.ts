/** `stats()` are true while a crawl runs, add up when it is over, and name what holds it back. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Fetcher, inspectCrawl, level, type Stats } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  direct,
  htmlOutcome,
  linkedPages,
  linksTo,
  quick,
  site,
  sleep,
  until,
  WORKERS,
  web,
} from './support.js'

describe('counts', () => {
  test('add up at the end: whatever is known was used, skipped, given up or is pending', async () => {
    const { url } = await site({
      '/robots.txt': 'User-agent: *\nDisallow: /no',
      '/': linksTo(
        '/a',
        '/no',
        '/gone',
        '/moved',
        '/style.css',
        '/b',
        'http://elsewhere.example/',
        'mailto:x',
      ),
      '/a': linksTo('/b', '/deep'),
      '/b': 'b',
      '/moved': { status: 302, headers: { location: '/target' } },
      '/target': 'target',
      '/style.css': 'a{}',
    })
    const summary = await quick.seeds(url()).depth(1).run()
    const { pages, failed, redirects, skips, pending, inFlight, known, statuses, robots } = summary
    expect(summary).toMatchObject({
      pages: 4,
      failures: { 'http-status': 1 },
      redirects: 1,
      skips: { robots: 1, 'media-type': 1, scope: 1, 'not-http': 1, depth: 1 },
      skipped: 5,
    })
    const used = pages + failed + redirects + (skips.robots ?? 0) + (skips['media-type'] ?? 0)
    expect(used + pending + inFlight).toBe(known)
    const answers = Object.values(statuses).reduce((sum, count) => sum + count, 0)
    expect(answers).toBe(pages + failed + redirects + (skips['media-type'] ?? 0) + robots)
  })

  test('add up at every moment', async () => {
    const server = await web({ hosts: 8, pagesPerHost: 40, latencyMs: [0, 4] })
    const crawler = direct.concurrency(6).seeds(server.seeds())
    const run = crawler.start()
    const looks: Stats[] = []
    let over = false
    void run.done.then(() => (over = true))
    while (!over) {
      const stats = run.stats()
      if (stats !== undefined) looks.push(stats)
      await sleep(2)
    }
    const summary = await run.done
    expect(looks.length).toBeGreaterThan(5)
    for (const { pages, pending, inFlight, known, hosts } of looks) {
      expect(inFlight).toBeLessThanOrEqual(6)
      // A page is counted when it is delivered and is in flight until it is settled, so it may be both for a moment.
      expect(pages + pending).toBeLessThanOrEqual(known)
      expect(pages + pending + inFlight).toBeGreaterThanOrEqual(known)
      expect(hosts).toBeLessThanOrEqual(8)
    }
    for (const [i, look] of looks.slice(1).entries())
      expect(look.pages).toBeGreaterThanOrEqual(looks[i]!.pages)
    expect(summary).toMatchObject({ pages: 320, known: 320, pending: 0, inFlight: 0, hostsVisited: 8 })
  })

  test('after the run stats() are its summary', async () => {
    const { url } = await site(linkedPages(4))
    const run = direct.seeds(url()).start()
    const summary = await run.done
    expect(run.stats()).toEqual(summary)
    await sleep(30)
    expect(run.stats()).toEqual(summary)
    expect(summary.known).toBe(4)
  })

  test('an end listener and a closing hook see the same counts', async () => {
    const { url } = await site(linkedPages(4))
    const seen: (number | undefined)[] = []
    const crawler = direct
      .seeds(url())
      .use({ name: 'h', page: () => {}, close: () => void seen.push(run.stats()?.known) })
      .on('end', (summary) => void seen.push(summary.known, run.stats()?.known))
    const run = crawler.start()
    await run.done
    expect(seen).toEqual([4, 4, 4])
  })

  test('what a listener was told of a visit that was not settled counts once over all runs', async () => {
    const { url } = await site({
      '/': 'page',
      '/moved': { status: 302, headers: { location: '/' } },
      '/busy': { status: 503 },
    })
    const path = mkdtempSync(join(tmpdir(), 'kumo-stats-'))
    onTestFinished(() => rmSync(path, { recursive: true, force: true }))
    const seeds = ['/gone', '/moved', '/busy'].map((path, i) => url(path, `127.0.4.${i}`))
    const stored = direct.store(level(path)).workers(WORKERS).seeds(seeds)
    const leaving = new AbortController()
    const heard: unknown[] = []
    const never = (what: unknown) => {
      heard.push(what)
      if (heard.length === 3) leaving.abort()
      return new Promise(() => {})
    }
    const first = stored.retries({ times: 1, backoff: '1ms' }).on('failure', never).on('redirect', never)
    await first.run({ signal: leaving.signal })
    expect(heard).toHaveLength(3)
    const failures: string[] = []
    const second = await stored
      .retries({ times: 0 })
      .on('failure', ({ code }) => void failures.push(code))
      .run()
    expect(failures).toEqual(['http-status', 'http-status'])
    expect(second).toMatchObject({
      pages: 1,
      redirects: 1,
      retries: 0,
      failed: 2,
      failures: { 'http-status': 2 },
    })
    const kept = (await inspectCrawl(path)).recentFailures.map((failure) => new URL(failure.url).pathname)
    expect(kept.sort()).toEqual(['/busy', '/gone'])
  })

  test('a request that the fetcher sends again by itself is one more, without a pause', async () => {
    const fetch: Fetcher['fetch'] = ({ url }) => {
      const outcome = htmlOutcome(linksTo('/1', '/2'))
      return url.endsWith('/1') ? { ...outcome, resent: 1 } : outcome
    }
    const crawler = direct.delay(20).fetcher(fetch).seeds('http://h.example/')
    expect(await crawler.run()).toMatchObject({ pages: 3, requests: 4, shortestGapMs: 0 })
  })

  test('progress comes once a second, with the counts of the moment', async () => {
    const { url } = await site({
      '/': linksTo('/slow'),
      '/slow': (_, response) => void setTimeout(() => response.end('x'), 2300),
    })
    const told: Stats[] = []
    await direct
      .seeds(url())
      .on('progress', (stats) => void told.push(stats))
      .run()
    expect(told).toHaveLength(2)
    for (const stats of told) expect(stats).toMatchObject({ pages: 1, inFlight: 1, pending: 0 })
  })

  test('shares are shares', async () => {
    const server = await web({ hosts: 5, pagesPerHost: 30, latencyMs: 2 })
    const { stages, idle, threadBusy } = await direct.concurrency(5).seeds(server.seeds()).run()
    const slots = Object.values(stages).reduce((sum, { slotShare }) => sum + slotShare, 0)
    const empty = Object.values(idle).reduce((sum, share) => sum + share, 0)
    expect(slots + empty).toBeGreaterThan(0.5)
    expect(slots + empty).toBeLessThan(1.1)
    expect(threadBusy).toBeGreaterThan(0)
    expect(threadBusy).toBeLessThanOrEqual(1)
    expect(stages.fetch.done).toBe(150)
    expect(stages.extract.done).toBe(150)
    expect(stages.hooks.done).toBe(150)
    expect(stages.admit.done).toBe(150 * 60)
  })
})

describe('the bottleneck', () => {
  test('fetch: enough hosts, slow servers', async () => {
    const server = await web({ hosts: 30, pagesPerHost: 5, latencyMs: 60 })
    const summary = await direct.concurrency(8).seeds(server.seeds()).run()
    expect(summary.bottleneck).toBe('fetch')
  })

  test('politeness: one host with a pause', async () => {
    const server = await web({ pagesPerHost: 12 })
    const summary = await direct.delay(50).seeds(server.url(0)).run()
    expect(summary.bottleneck).toBe('politeness')
    expect(summary.idle.politeness).toBeGreaterThan(0.5)
  })

  test('hooks: one that takes its time', async () => {
    const server = await web({ hosts: 20, pagesPerHost: 5 })
    const summary = await direct
      .concurrency(6)
      .seeds(server.seeds())
      .use({ name: 'slow', page: () => sleep(80) })
      .run()
    expect(summary.bottleneck).toBe('hooks')
  })

  test('extract: one that keeps the thread', async () => {
    const summary = await direct
      .concurrency(4)
      .fetcher(() => htmlOutcome('x'))
      .seeds(Array.from({ length: 40 }, (_, i) => `http://h${i}.example/`))
      .extract({
        slow: () => {
          const until = performance.now() + 10
          while (performance.now() < until);
        },
      })
      .run()
    expect(summary.bottleneck).toBe('extract')
  })

  test('paused: by the user', async () => {
    const { url } = await site(linkedPages(3))
    const crawler = direct.seeds(url())
    const run = crawler.start()
    run.pause()
    await until(() => run.stats() !== undefined, 'the beginning')
    await sleep(400)
    expect(run.stats()!.bottleneck).toBe('paused')
    run.resume()
    expect(await run.done).toMatchObject({ pages: 3, reason: 'done' })
  })

  test('discovery: nothing more is known to fetch', async () => {
    async function* slow() {
      for (let i = 0; i < 5; i++) {
        await sleep(60)
        yield `http://h${i}.example/`
      }
    }
    const summary = await direct
      .fetcher(() => htmlOutcome('x'))
      .seeds(slow())
      .run()
    expect(summary.bottleneck).toBe('discovery')
  })
})
