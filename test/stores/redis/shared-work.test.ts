/** Hooks with `queue: { offload: true }`: busy processes leave pages to idle ones. */

import { Crawler, type CrawlRun, type Hook, type Page } from 'kumo'
import { redis } from 'kumo/redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { linkedPages, site, sleep, until } from '../../crawler/support.js'
import { whyNoRedis } from './server.js'
import { newCrawl, useServer } from './support.js'

const PAGES = 60
/** A hook that takes so long for a page; the time of a page that is left to another node is small beside it. */
const HOOK_MS = 40

describe.skipIf(whyNoRedis())(`shared work${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  /** A crawl that several nodes can start, each with a hook that reports the pages it gets. */
  function shared(seeds: readonly string[], more: (crawler: Crawler) => Crawler = (same) => same) {
    const crawl = newCrawl()
    const store = redis(server.url, { crawl, ttl: '20s', commitEvery: 20 })
    const start = (hook: Hook): CrawlRun => {
      const crawler = new Crawler().seeds(...seeds).robots(false).delay(0).use(hook).store(store)
      const run = more(crawler).start()
      run.done.catch(() => {})
      onTestFinished(async () => {
        run.stop()
        await run.done.catch(() => {})
      })
      return run
    }
    return { start, crawl }
  }

  function slow(name: string, log: string[], page?: (page: Page) => unknown): Hook {
    return {
      name: 'slow',
      queue: { offload: true },
      async page(given) {
        await sleep(HOOK_MS)
        log.push(`${name} ${given.url}`)
        await page?.(given)
      },
    }
  }

  const crawlFacts = async (crawl: string) => {
    const [left, work, waiting] = await server.redis.hmget(`{kumo:${crawl}}:n`, 'left', 'work', 'waiting')
    return { left, work: work ?? '0', waiting: waiting ?? '0' }
  }
  const NOTHING = { left: '0', work: '0', waiting: '0' }
  const urlsIn = (log: readonly string[]) => log.map((line) => line.split(' ')[1]).sort()
  const of = (name: string, log: readonly string[]) => log.filter((line) => line.startsWith(`${name} `))

  test('an idle node does a part of what one has fetched, and every page comes once', async () => {
    const web = await site(linkedPages(PAGES))
    const { start, crawl } = shared([web.url('/')])
    const log: string[] = []
    const first = start(slow('first', log))
    await until(() => web.requests.length >= PAGES, 'all is fetched')
    const second = start(slow('second', log))
    const ended = await Promise.all([first.done, second.done])
    expect(ended.map(({ reason }) => reason)).toEqual(['done', 'done'])
    expect(urlsIn(log)).toEqual([...new Set(urlsIn(log))])
    expect(log).toHaveLength(ended[0].pages + ended[1].pages)
    expect(of('second', log).length).toBeGreaterThan(0)
    expect(ended[0].queues.slow!.offloaded).toBeGreaterThanOrEqual(of('second', log).length)
    expect(await crawlFacts(crawl)).toEqual(NOTHING)
  })
})
