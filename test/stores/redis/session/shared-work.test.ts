/** Hooks with `queue: { offload: true }`: busy processes leave pages to idle ones. */

import { Crawler, type CrawlRun, type Hook, type Page } from 'kumo'
import { redis } from 'kumo/redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { linkedPages, site, sleep, until } from '../../../crawler/support.js'
import { whyNoRedis } from '../server.js'
import { newCrawl, startInTest, useServer } from '../support.js'

const PAGES = 40
/** A hook that takes so long for a page; the time of a page that is left to another node is small beside it. */
const HOOK_MS = 30

describe.skipIf(whyNoRedis())(`shared work${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  /** A crawl that several nodes can start, each with a hook that reports the pages it gets. */
  function shared(seeds: readonly string[], more: (crawler: Crawler) => Crawler = (same) => same) {
    const crawl = newCrawl()
    const store = redis(server.url, { crawl, ttl: '20s', commitEvery: 20 })
    const start = (hook: Hook): CrawlRun => {
      const crawler = new Crawler()
        .seeds(...seeds)
        .robots(false)
        .delay(0)
        .use(hook)
        .store(store)
      return startInTest(more(crawler))
    }
    return { start, crawl }
  }

  /** A hook that takes its time. */
  function slow(name: string, log: string[], page: (page: Page) => unknown = () => sleep(HOOK_MS)): Hook {
    return {
      name: 'slow',
      queue: { offload: true },
      async page(given) {
        await page(given)
        log.push(`${name} ${given.url}`)
      },
    }
  }

  /** Lets through a few pages, so that nodes learn what they cost, and the rest when it is opened. */
  function gate(free: number) {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    // A test that fails must end, too.
    onTestFinished(() => open())
    return { open: () => open(), pass: () => (free-- > 0 ? sleep(HOOK_MS) : opened) }
  }

  const crawlFacts = async (crawl: string) => {
    const [left, work, waiting] = await server.redis.hmget(`{kumo:${crawl}}:n`, 'left', 'work', 'waiting')
    return { left, work: work ?? '0', waiting: waiting ?? '0' }
  }
  const eventually = async (isSo: () => Promise<boolean>, what: string, ms = 10_000) => {
    for (const deadline = Date.now() + ms; !(await isSo()); await sleep(5))
      if (Date.now() > deadline) throw new Error(`Did not happen within ${ms} ms: ${what}`)
  }
  const NOTHING = { left: '0', work: '0', waiting: '0' }
  const urlsIn = (log: readonly string[]) => log.map((line) => line.split(' ')[1]).sort()
  const of = (name: string, log: readonly string[]) => log.filter((line) => line.startsWith(`${name} `))

  test.each([
    ['without', 0],
    ['with', 2],
  ])(
    'an idle node does a part of what one has fetched, and every page comes once, %s workers',
    async (_, workers) => {
      const web = await site(linkedPages(PAGES))
      const { start, crawl } = shared([web.url('/')], (crawler) => crawler.workers(workers))
      const log: string[] = []
      const { open, pass } = gate(2)
      const first = start(slow('first', log, pass))
      await until(() => web.requests.length >= PAGES, 'all is fetched')
      const second = start(slow('second', log))
      await until(() => of('second', log).length > 0, 'the second one works')
      open()
      const ended = await Promise.all([first.done, second.done])
      expect(ended.map(({ reason }) => reason)).toEqual(['done', 'done'])
      expect(urlsIn(log)).toEqual([...new Set(urlsIn(log))])
      expect(log).toHaveLength(ended[0].pages + ended[1].pages)
      expect(ended[0].queues.slow!.offloaded).toBeGreaterThanOrEqual(of('second', log).length)
      expect(await crawlFacts(crawl)).toEqual(NOTHING)
    },
  )

  test('a node that is stopped ends what it has begun, and others do the rest', async () => {
    const web = await site(linkedPages(PAGES))
    const { start, crawl } = shared([web.url('/')])
    const log: string[] = []
    const { open, pass } = gate(2)
    const first = start(slow('first', log, pass))
    await until(() => web.requests.length >= PAGES, 'all is fetched')
    const second = start(slow('second', log))
    await until(() => of('second', log).length > 0, 'the second one works')
    second.stop()
    expect((await second.done).reason).toBe('stopped')
    open()
    expect((await first.done).reason).toBe('done')
    expect(urlsIn(log)).toEqual([...new Set(urlsIn(log))])
    expect(log).toHaveLength(PAGES)
    expect(await crawlFacts(crawl)).toEqual(NOTHING)
  })

  test('what waits when all are stopped is done by the next run', async () => {
    const web = await site(linkedPages(PAGES))
    const { start, crawl } = shared([web.url('/')])
    const log: string[] = []
    const { open, pass } = gate(2)
    const first = start(slow('first', log, pass))
    await until(() => web.requests.length >= PAGES, 'all is fetched')
    const second = start(slow('second', log, pass))
    const waiting = async () => Number((await crawlFacts(crawl)).waiting)
    await eventually(async () => (await waiting()) > PAGES / 2, 'pages wait')
    for (const run of [first, second]) run.stop()
    open()
    const ended = await Promise.all([first.done, second.done])
    expect(ended.map(({ reason }) => reason)).toEqual(['stopped', 'stopped'])
    expect(log.length).toBeLessThan(PAGES / 2)
    expect((await start(slow('third', log)).done).reason).toBe('done')
    expect(web.requests).toHaveLength(PAGES)
    expect(urlsIn(log)).toEqual([...new Set(urlsIn(log))])
    expect(log).toHaveLength(PAGES)
    expect(await crawlFacts(crawl)).toEqual(NOTHING)
  })

  test('a limit of pages ends the crawl when hooks are done with them', async () => {
    const web = await site(linkedPages(PAGES))
    const { start, crawl } = shared([web.url('/')], (crawler) => crawler.limit({ pages: PAGES / 2 }))
    const log: string[] = []
    const { open, pass } = gate(2)
    const first = start(slow('first', log, pass))
    await until(() => web.requests.length >= PAGES / 2, 'all is fetched')
    const second = start(slow('second', log, pass))
    await eventually(async () => (await crawlFacts(crawl)).work !== '0', 'pages wait')
    open()
    const ended = await Promise.all([first.done, second.done])
    expect(ended[0].pages + ended[1].pages).toBe(PAGES / 2)
    expect(new Set(urlsIn(log)).size).toBe(PAGES / 2)
    expect(log).toHaveLength(PAGES / 2)
    expect(await crawlFacts(crawl)).toMatchObject({ work: '0', waiting: '0' })
  })

  test('a hook that throws for a page of another node has failed there, and the page does not come again', async () => {
    const web = await site(linkedPages(PAGES))
    const { start, crawl } = shared([web.url('/')])
    const log: string[] = []
    const { open, pass } = gate(2)
    const first = start(slow('first', log, pass))
    await until(() => web.requests.length >= PAGES, 'all is fetched')
    const failures: string[] = []
    const second = start(
      slow('second', log, () => {
        throw new Error('no')
      }),
    ).on('failure', ({ url, code }) => void failures.push(`${code} ${url}`))
    await until(() => failures.length > 0, 'the hook of the second one fails')
    open()
    const ended = await Promise.all([first.done, second.done])
    expect(failures.every((failure) => failure.startsWith('hook-failed '))).toBe(true)
    expect(ended[1].failed).toBe(failures.length)
    expect(new Set([...urlsIn(log), ...urlsIn(failures)]).size).toBe(PAGES)
    expect(log.length + failures.length).toBe(PAGES)
    expect(await crawlFacts(crawl)).toEqual(NOTHING)
  })

  test('beyond 64 MB in Redis, a node keeps its pages', async () => {
    const pages = 180
    const filler = `<p>${'x'.repeat(450_000)}</p>`
    const routes = Object.fromEntries(
      Object.entries(linkedPages(pages)).map(([path, page]) => [path, page + filler]),
    )
    const web = await site(routes)
    const { start, crawl } = shared([web.url('/')])
    const log: string[] = []
    const { open, pass } = gate(2)
    const first = start({ ...slow('first', log, pass), queue: { offload: true, bytes: 2 ** 30 } })
    const second = start(slow('second', log, pass))
    const most = 64 * 1024 * 1024
    await eventually(
      async () => Number((await crawlFacts(crawl)).work) > 0.95 * most,
      'the stream is full',
      60_000,
    )
    await until(() => web.requests.length >= pages, 'all is fetched', 60_000)
    expect(Number((await crawlFacts(crawl)).work)).toBeLessThanOrEqual(most)
    open()
    const ended = await Promise.all([first.done, second.done])
    expect(ended.map(({ reason }) => reason)).toEqual(['done', 'done'])
    expect(log).toHaveLength(pages)
    expect(new Set(urlsIn(log)).size).toBe(pages)
    expect(await crawlFacts(crawl)).toEqual(NOTHING)
  }, 120_000)
})
