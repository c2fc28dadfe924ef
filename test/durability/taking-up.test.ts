/** What a crawl takes up again after it was killed or stopped: its counts, the rests of its hosts, its place. */

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sleep, site as startedSite, until } from '../crawler/support.js'
import type { Route } from '../loopback/site.js'
import { BEAT_MS, crawlSite } from './crawl-site.js'
import { readDeliveries } from './deliveries.js'
import { afterFirstRequest, drawFrom, interruptedCrawl } from './interrupted-crawl.js'
import type { Interruption, Run } from './run.js'
import { quickSite, restingSite, type Site } from './sites.js'
import { freshCrawl, freshFolder, moments } from './support.js'

describe('a limit of pages', () => {
  test('counts the pages of all runs together', async () => {
    const limitPages = 4000
    const crawl = await freshCrawl(quickSite)
    const random = moments()
    const next = (runs: readonly Run[]): Interruption | undefined => {
      const ms = drawFrom({ earliestMs: 50, latestMs: 300 }, random)
      return runs.length < 4 ? { signal: 'SIGKILL', moment: afterFirstRequest(crawl.web, ms) } : undefined
    }
    const { ending, verdict } = await crawlSite({ ...crawl, next, limitPages })
    expect(verdict.findings.slice(0, 5)).toEqual([])
    expect(verdict.kills).toBeGreaterThan(2)
    expect(ending).toMatchObject({ reason: 'limit', pages: limitPages })
    const { requests, robotsRequests, distinctPages } = await crawl.web.report()
    expect(distinctPages).toBeGreaterThanOrEqual(limitPages)
    expect(requests - robotsRequests).toBeLessThanOrEqual(limitPages + verdict.excusable)

    const again = await crawlSite({ ...crawl, next: () => undefined, limitPages })
    expect(again.ending).toMatchObject({ reason: 'limit', pages: limitPages })
    expect((await crawl.web.report()).requests).toBe(0)
  })
})

describe('a host that asked for time', () => {
  /** At ten a second the crawler takes longer for them than for a commit, also on a busy machine. */
  const REQUESTS_UNTIL_KEPT = 15
  /** So long hosts ask for: a busy machine may need more than the first for two deaths and three starts. */
  const RETRY_AFTER_S = [2, 8, 32]

  async function killedTwice(retryAfterS: number) {
    let busyUntil = Number.POSITIVE_INFINITY
    const busy: Route = (_, response) => {
      const isFirst = busyUntil === Number.POSITIVE_INFINITY
      if (isFirst) busyUntil = performance.timeOrigin + performance.now() + retryAfterS * 1000
      response.writeHead(isFirst ? 503 : 200, {
        'retry-after': `${retryAfterS}`,
        'content-type': 'text/html',
      })
      response.end()
    }
    const { url, requests } = await startedSite({ '/busy': busy, '/other': 'other', '/p': 'page' })
    const folder = await freshFolder()
    // The second host keeps the crawler at work all the time, so that it is seen to be there and to wait.
    const seeds = [url('/busy'), url('/other')].concat(
      Array.from({ length: 20 * retryAfterS }, (_, page) => url(`/p?${page}`, '127.0.0.2')),
    )
    const task = {
      seeds,
      folder: join(folder, 'store'),
      deliveries: join(folder, 'deliveries.txt'),
      pulse: join(folder, 'pulse.txt'),
      beatMs: BEAT_MS,
      delayMs: 100,
      concurrency: 10,
    }
    const kills = [
      async () => {
        await until(() => busyUntil < Number.POSITIVE_INFINITY, 'the answer 503')
        const before = requests.length
        await until(() => requests.length >= before + REQUESTS_UNTIL_KEPT, 'requests after the answer')
      },
      () => {
        const before = requests.length
        return until(() => requests.length > before, 'a request after the restart').then(() => sleep(200))
      },
    ]
    const runs = await interruptedCrawl(task, ({ length }) => {
      return length < kills.length ? { signal: 'SIGKILL', moment: kills[length]! } : undefined
    })
    expect(runs.map(({ killed }) => killed)).toEqual([true, true, false])
    // The host was due before the second kill, which may have come before a commit: more time is needed.
    if (runs[2]!.startedAt >= busyUntil) return 0

    const toBusy = requests.filter(({ host, path }) => host === '127.0.0.1' && path !== '/robots.txt')
    const busyAt = busyUntil - retryAfterS * 1000
    const later = toBusy.filter(({ at }) => at > busyAt)
    expect(toBusy.map(({ path }) => path).sort()).toEqual(['/busy', '/busy', '/other'])
    for (const { at } of later) expect(at).toBeGreaterThanOrEqual(busyUntil - 1)
    const deliveries = readDeliveries(task.deliveries)
    expect(deliveries.filter((delivery) => delivery.url === url('/busy'))).toMatchObject([{ attempt: 1 }])
    return requests.filter(({ at }) => at > runs[2]!.startedAt && at < busyUntil).length
  }

  test('gets it, though the crawler is killed twice meanwhile', async () => {
    let meanwhile = 0
    for (const seconds of RETRY_AFTER_S) if (meanwhile === 0) meanwhile = await killedTwice(seconds)
    expect(meanwhile, 'requests to another host while this one waits').toBeGreaterThan(0)
  })
})

describe('a crawl that is stopped, not killed', () => {
  test.each<[string, Site]>([
    ['asks for nothing twice', { ...quickSite, pagesPerHost: 16 }],
    ['lets hosts rest', { ...restingSite, hosts: 100, pagesPerHost: 5 }],
  ])('%s', async (_, site) => {
    const crawl = await freshCrawl(site)
    const random = moments()
    const next = (runs: readonly Run[]): Interruption | undefined => {
      const moment = afterFirstRequest(crawl.web, drawFrom({ earliestMs: 20, latestMs: 400 }, random))
      return runs.length < 4 ? { signal: 'SIGTERM', moment } : undefined
    }
    const { runs, verdict } = await crawlSite({ ...crawl, next })
    expect(runs.map(({ ending }) => ending?.reason)).toEqual([
      'stopped',
      'stopped',
      'stopped',
      'stopped',
      'done',
    ])
    expect(verdict.findings.slice(0, 5)).toEqual([])
    expect(verdict.repeats).toBe(0)

    const again = await crawlSite({ ...crawl, next: () => undefined })
    expect(again.ending).toMatchObject({ reason: 'already-done', earlierRuns: 5 })
    expect((await crawl.web.report()).requests).toBe(0)
  })
})
