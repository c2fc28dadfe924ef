/** What works in one process works when two share the crawl: whatever belongs to a host moves with its partition. */

import type { ServerResponse } from 'node:http'
import { Crawler, type CrawlRun } from 'kumo'
import { byHost } from 'kumo/adapters'
import { redis } from 'kumo/redis'
import { describe, expect, test } from 'vitest'
import { linksTo, site, until } from '../../crawler/support.js'
import type { LoopbackSite } from '../../loopback/site.js'
import { isThorough } from '../../thorough.js'
import { whyNoRedis } from './server.js'
import { newCrawl, startInTest, useServer } from './support.js'

/** Hosts of one site. With so many, each of two nodes has some. */
const when = (what: string, condition: () => boolean, ms?: number) => until(condition, what, ms)
const HOSTS = Array.from({ length: 16 }, (_, i) => `127.0.0.${i + 1}`)

const rss = (...ids: readonly number[]) =>
  `<rss version="2.0"><channel><title>News</title>${ids
    .map((id) => `<item><guid>${id}</guid><link>/posts/${id}</link><title>${id}</title></item>`)
    .join('')}</channel></rss>`

const why = whyNoRedis() ? `: ${whyNoRedis()}` : ''

describe.skipIf(why !== '').each([0, 2])(`two nodes with %i threads${why}`, (threads) => {
  const server = useServer()
  /** Whoever moves records does it in both; the rest is tested with threads in the thorough run. */
  const inShort = test.skipIf(threads > 0 && !isThorough)

  /** A crawl that several nodes can start. */
  function shared(build: (crawler: Crawler) => Crawler) {
    const crawl = newCrawl()
    const store = redis(server.url, { crawl, ttl: '20s', commitEvery: 20 })
    const crawler = build(new Crawler().scope('all').robots(false).delay(0).workers(threads).store(store))
    const start = (more: (crawler: Crawler) => Crawler = (same) => same) => startInTest(more(crawler))
    return { start, crawl }
  }

  const partitions = (run: CrawlRun) => run.health()?.partitions ?? 0
  const bothHave = (...runs: CrawlRun[]) =>
    when('everybody has partitions', () => runs.every((run) => partitions(run) === 1024 / runs.length))
  const visitsOf = ({ requests }: LoopbackSite, path = '/') => {
    const visits = new Map<string, number>()
    for (const each of requests)
      if (each.path === path) visits.set(each.host, (visits.get(each.host) ?? 0) + 1)
    return visits
  }

  inShort('refresh(): known pages move to a node that joins, and back', async () => {
    const web = await site({ '/': 'same' })
    const { start } = shared((crawler) =>
      crawler
        .seeds(HOSTS.map((host) => web.url('/', host)))
        .refresh({ min: 100, max: '1s', first: 100, aim: 'fresh' }),
    )
    const first = start()
    await when('all are visited', () => visitsOf(web).size === HOSTS.length)
    const second = start()
    await bothHave(first, second)
    const servers = (run: CrawlRun) => run.stats()?.feasibility?.servers ?? 0
    await when('it goes on', () => servers(first) + servers(second) === HOSTS.length && servers(second) > 0)
    const before = visitsOf(web)
    await when('it goes on', () =>
      [...visitsOf(web)].every(([host, visits]) => visits >= before.get(host)! + 2),
    )
    expect((await stopped(first)).reason).toBe('stopped')
    await bothHave(second)
    await when('it goes on', () => servers(second) === HOSTS.length)
    const after = visitsOf(web)
    await when('it goes on', () =>
      [...visitsOf(web)].every(([host, visits]) => visits >= after.get(host)! + 2),
    )
    expect((await stopped(second)).reason).toBe('stopped')
  })

  test('refresh({ rounds: 1 }): a round visits every page once, though a node joins in the middle', async () => {
    let mayAnswer = Promise.resolve()
    const web = await site({ '/': (_, response) => void mayAnswer.then(() => response.end('same')) })
    const { start } = shared((crawler) => crawler.seeds(HOSTS.map((host) => web.url('/', host))))
    const more = (crawler: Crawler) => crawler.concurrency(2).refresh({ rounds: 1, unchanged: true })
    expect((await start(more).done).pages).toBe(HOSTS.length)
    for (const round of [2]) {
      let answer = () => {}
      mayAnswer = new Promise((resolve) => {
        answer = resolve
      })
      const first = start(more)
      await when('it goes on', () => web.requests.length > (round - 1) * HOSTS.length)
      const second = start(more)
      await when('the other one has joined', () => (second.health()?.nodes ?? 0) > Math.max(1, threads))
      answer()
      const ended = await Promise.all([first.done, second.done])
      expect(ended.map(({ reason }) => reason)).toEqual(['done', 'done'])
      expect([...visitsOf(web).values()]).toEqual(HOSTS.map(() => round))
    }
    await expect(start((crawler) => crawler.refresh({ rounds: 2 })).done).rejects.toThrow(
      /one round at a time/,
    )
  })

  inShort('feeds(): feeds and what is remembered of them move', async () => {
    let ids = [1, 2]
    const web = await site({
      '/feed': (_, response) =>
        void response.setHeader('content-type', 'application/rss+xml').end(rss(...ids)),
    })
    const heard: string[] = []
    const { start } = shared((crawler) =>
      crawler.seeds(HOSTS.map((host) => web.url('/feed', host))).feeds({ min: '1s', max: '1s' }),
    )
    const listen = (run: CrawlRun) =>
      run.on('feed', ({ new: fresh }) => void heard.push(...fresh.map(({ id }) => id ?? '')))
    const feeds = (run: CrawlRun) => run.stats()?.feeds?.feeds ?? 0
    const first = start()
    listen(first)
    await when('it goes on', () => heard.length === 2 * HOSTS.length && feeds(first) === HOSTS.length)
    const second = start()
    listen(second)
    await when('it goes on', () => feeds(second) > 0 && feeds(first) + feeds(second) === HOSTS.length)
    ids = [3, 1, 2]
    await when('it goes on', () => heard.length === 3 * HOSTS.length, 20_000)
    expect(heard.filter((id) => id === '3')).toHaveLength(HOSTS.length)
    await stopped(first)
    await when('it goes on', () => feeds(second) === HOSTS.length)
    const polls = web.requests.length
    await when('it goes on', () => web.requests.length >= polls + HOSTS.length, 20_000)
    expect(heard).toHaveLength(3 * HOSTS.length)
  })

  inShort('retryFailed(): each URL that failed is tried once, by whoever has it', async () => {
    let status = 404
    const web = await site({ '/': (_, response) => void response.writeHead(status).end('page') })
    const { start } = shared((crawler) => crawler.seeds(HOSTS.map((host) => web.url('/', host))))
    expect((await start().done).failed).toBe(HOSTS.length)
    status = 200
    const more = (crawler: Crawler) => crawler.retryFailed()
    const runs = [start(more), start(more)]
    const ended = await Promise.all(runs.map(({ done }) => done))
    expect(ended.map(({ pages }) => pages).reduce((a, b) => a + b)).toBe(HOSTS.length)
    expect([...visitsOf(web).values()]).toEqual(HOSTS.map(() => 2))
  })

  inShort('limits: pages exactly, and pages of a host though it moves', async () => {
    const paths = Array.from({ length: 12 }, (_, i) => `/${i}`)
    const page = linksTo(...paths)
    const web = await site(Object.fromEntries(['/', ...paths].map((path) => [path, page])))
    const hosts = shared((crawler) =>
      crawler
        .seeds(HOSTS.map((host) => web.url('/', host)))
        .limit({ pagesPerHost: 5 })
        .delay(30),
    )
    const first = hosts.start()
    await when('it goes on', () => web.requests.length >= HOSTS.length)
    const second = hosts.start()
    await Promise.all([first.done, second.done])
    expect(new Set(countedHosts(web).values())).toEqual(new Set([5]))
    const pages = shared((crawler) =>
      crawler.seeds(HOSTS.map((host) => web.url('/', host))).limit({ pages: 61 }),
    )
    const ended = await Promise.all([pages.start().done, pages.start().done])
    expect(ended.map((each) => each.pages).reduce((a, b) => a + b)).toBe(61)
    expect(ended.map(({ reason }) => reason)).toEqual(['limit', 'limit'])
  })

  inShort('hosts move from a node with much work to one that has none', async () => {
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`)
    const page = (_: unknown, response: ServerResponse) =>
      void setTimeout(() => response.end(linksTo(...paths)), 20)
    const web = await site(Object.fromEntries(['/', ...paths].map((path) => [path, page])))
    const { start, crawl } = shared((crawler) => crawler.keepOpen().concurrency(1))
    const [first, second] = [start(), start()]
    await bothHave(first, second)
    const owners = await server.redis.hgetall(`{kumo:${crawl}}:own`)
    const partitioner = byHost()
    const ofOne = Array.from({ length: 200 }, (_, i) => web.url('/', `127.0.0.${i + 1}`)).filter(
      (url) => owners[partitioner.partition(new URL(url).host)] === '1',
    )
    await first.add(ofOne.slice(0, 12))
    const partitionsOf = () => [first, second].map(partitions)
    await when('partitions move', () => Math.min(...partitionsOf()) < 512)
    await when('both have work', () => [first, second].every((run) => (run.stats()?.pages ?? 0) > 5))
    for (const run of [first, second]) run.finish()
    const ended = await Promise.all([first.done, second.done])
    expect(ended[0]!.pages + ended[1]!.pages).toBe(12 * (paths.length + 1))
    expect(new Set(web.requests.map(({ host, path }) => host + path)).size).toBe(web.requests.length)
  })

  test('run.add() on any node, and the crawl stays open until all have finished', async () => {
    const web = await site({ '/': 'home', '/added': 'added' })
    const { start } = shared((crawler) => crawler.keepOpen())
    const [first, second] = [start(), start()]
    await bothHave(first, second)
    await first.add(HOSTS.map((host) => web.url('/', host)))
    await second.add(HOSTS.map((host) => web.url('/added', host)))
    await when('it goes on', () => web.requests.length === 2 * HOSTS.length)
    first.finish()
    await when('it goes on', () => first.stats()?.inFlight === 0)
    expect(first.health()).toBeDefined()
    await second.add(web.url('/?late'))
    second.finish()
    const ended = await Promise.all([first.done, second.done])
    expect(ended.map(({ reason }) => reason)).toEqual(['done', 'done'])
    expect(web.requests).toHaveLength(2 * HOSTS.length + 1)
  })

  inShort('page.follow() reaches hosts of the other node with label and data', async () => {
    const web = await site({ '/': 'home', '/next': 'next' })
    const got: unknown[] = []
    const { start } = shared((crawler) =>
      crawler
        .keepOpen()
        .allowPrivate('all')
        .on('page', (page) => {
          if (page.url.endsWith('/next')) got.push(page.request.data)
          else
            for (const [n, host] of HOSTS.entries())
              page.follow({ url: web.url('/next', host), label: 'next', data: { n } })
        }),
    )
    const [first, second] = [start(), start()]
    await bothHave(first, second)
    await first.add(web.url('/', HOSTS[0]!))
    await when('it goes on', () => got.length === HOSTS.length)
    for (const run of [first, second]) run.finish()
    const ended = await Promise.all([first.done, second.done])
    expect(ended.every(({ pages }) => pages > 0)).toBe(true)
    expect(got).toEqual(expect.arrayContaining(HOSTS.map((_, n) => ({ n }))))
  })

  test('cookies and the state of hooks move with their hosts, and records of the crawl are for all', async () => {
    const web = await site({
      '/': (request, response) => {
        if (request.headers.cookie === undefined)
          response.setHeader('set-cookie', `sid=${request.headers.host}`)
        response.end('home')
      },
    })
    const counts: unknown[] = []
    const counting = {
      name: 'counting',
      async open({ state }: { state: import('kumo/adapters').StateSpace }) {
        this.state = state
      },
      state: undefined as import('kumo/adapters').StateSpace | undefined,
      async page(page: import('kumo').Page) {
        const { host } = new URL(page.url)
        const before = ((await this.state!.get('visits', host)) as number | undefined) ?? 0
        counts.push(before)
        this.state!.put('visits', before + 1, host)
        this.state!.put(`seen ${host}`, true)
      },
    }
    const { start } = shared((crawler) => crawler.cookies().keepOpen())
    const use = (crawler: Crawler) => crawler.use({ ...counting })
    const first = start(use)
    await first.add(HOSTS.map((host) => web.url('/?1', host)))
    await when('it goes on', () => counts.length === HOSTS.length)
    const second = start(use)
    await bothHave(first, second)
    await second.add(HOSTS.map((host) => web.url('/?2', host)))
    await when('it goes on', () => counts.length === 2 * HOSTS.length)
    expect(counts.slice(HOSTS.length)).toEqual(HOSTS.map(() => 1))
    const again = web.requests.filter(({ path }) => path === '/?2')
    expect(again.map(({ headers }) => headers.cookie).sort()).toEqual(
      HOSTS.map((host) => `sid=${host}:${web.port}`).sort(),
    )
    for (const run of [first, second]) run.finish()
    await Promise.all([first.done, second.done])
    let seen = 0
    const third = start((crawler) =>
      crawler.use({
        name: 'counting',
        page() {},
        async open({ state }) {
          for await (const [key] of state.entries()) if (key.startsWith('seen ')) seen++
        },
      }),
    )
    third.finish()
    await third.done
    expect(seen).toBe(HOSTS.length)
  })
})

async function stopped(run: CrawlRun) {
  run.stop()
  return run.done
}

function countedHosts({ requests }: LoopbackSite): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { host } of requests) counts.set(host, (counts.get(host) ?? 0) + 1)
  return counts
}
