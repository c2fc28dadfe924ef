/** Trouble that may pass is met with patience, trouble that will not is reported once. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { level } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import {
  askedPaths,
  crawl,
  direct,
  hastyClock,
  linksTo,
  pathsOf,
  rawServer,
  reply,
  site,
  WORKERS,
} from './support.js'

/** Retries come after half their usual wait. */
const eager = direct.random({ next: () => 0 })

/** Fails `times` times, then answers. */
function failsAtFirst(times: number, status = 503): Route {
  let tries = 0
  return (_, response) =>
    response.writeHead(tries++ < times ? status : 200, { 'content-type': 'text/html' }).end('ok')
}

describe('retries', () => {
  const hasty = eager.clock(hastyClock(10))

  test.each([408, 429, 500, 502, 503, 504])(
    'after %i the page is tried again and delivered once',
    async (status) => {
      const started = await site({ '/': linksTo('/shaky'), '/shaky': failsAtFirst(1, status) })
      const { pages, failures, summary } = await crawl(hasty.seeds(started.url()))
      expect(pathsOf(pages)).toEqual(['/', '/shaky'])
      expect(pages[1]!.attempt).toBe(1)
      expect(failures).toMatchObject([
        { url: started.url('/shaky'), code: 'http-status', status, attempt: 0, final: false },
      ])
      expect(summary).toMatchObject({ pages: 2, retries: 1, failed: 0, failures: {} })
      expect(askedPaths(started)).toEqual(['/', '/shaky', '/shaky'])
    },
  )

  test('the number of tries is kept, and each wait is longer than the one before', async () => {
    const started = await site({ '/': failsAtFirst(99) })
    const { failures, summary } = await crawl(eager.retries(2).seeds(started.url()))
    expect(failures.map(({ attempt, final }) => [attempt, final])).toEqual([
      [0, false],
      [1, false],
      [2, true],
    ])
    expect(summary).toMatchObject({ pages: 0, retries: 2, failed: 1, failures: { 'http-status': 1 } })
    const [first, second, third] = started.requests.map(({ at }) => at)
    expect(second! - first!).toBeGreaterThanOrEqual(500)
    expect(third! - second!).toBeGreaterThanOrEqual(1000)
  })

  test('a host in trouble is spared altogether, and then its other pages come first', async () => {
    const started = await site({
      '/': linksTo('/busy', '/a', '/b'),
      '/busy': failsAtFirst(1),
      '/a': 'a',
      '/b': 'b',
    })
    await crawl(eager.seeds(started.url()))
    expect(askedPaths(started)).toEqual(['/', '/busy', '/a', '/b', '/busy'])
    const [, failed, next] = started.requests.map(({ at }) => at)
    expect(next! - failed!).toBeGreaterThanOrEqual(500)
  })

  test.each([400, 401, 403, 404, 410, 451, 501])('%i is final at once, with its status', async (status) => {
    const started = await site({ '/': linksTo('/x', '/good'), '/x': { status }, '/good': 'end' })
    const { pages, failures, summary } = await crawl(direct.seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/good'])
    expect(failures).toMatchObject([
      { url: started.url('/x'), code: 'http-status', status, attempt: 0, final: true },
    ])
    expect(failures[0]!.message).toContain(String(status))
    expect(summary).toMatchObject({ retries: 0, failed: 1, statuses: { 200: 2, [status]: 1 } })
  })

  test('a connection that is refused is tried again; retries(0) gives up at once', async () => {
    const gone = await site({})
    await gone.close()
    const { failures } = await crawl(direct.retries(0).seeds(gone.url()))
    expect(failures).toMatchObject([{ code: 'connect-failed', attempt: 0, final: true }])
  })

  test('while one host is being spared another is crawled', async () => {
    const shaky = await site({ '/': failsAtFirst(1) })
    const healthy = await rawServer(({ socket, path }) => {
      const n = Number(path.slice(1))
      socket.write(reply(n < 20 ? linksTo(`/${n + 1}`) : 'end'))
    })
    const { pages } = await crawl(eager.seeds(shaky.url('/', '127.0.0.5'), healthy.url('/0')))
    expect(pages).toHaveLength(22)
    expect(pages.at(-1)!.url).toBe(shaky.url('/', '127.0.0.5'))
  })
})

describe('retryFailed', () => {
  const stored = () => {
    const path = mkdtempSync(join(tmpdir(), 'kumo-retries-'))
    onTestFinished(() => rmSync(path, { recursive: true, force: true }))
    return direct.store(level(path)).workers(WORKERS).retries({ times: 0, backoff: '1ms' })
  }

  test('tries what earlier runs gave up once more, and its failures count once', async () => {
    let isWell = false
    const recovers: Route = (_, response) =>
      response.writeHead(isWell ? 200 : 503, { 'content-type': 'text/html' }).end(linksTo('/found'))
    const started = await site({
      '/': linksTo('/back', '/missing', '/fine'),
      '/back': recovers,
      '/fine': 'x',
      '/found': 'y',
    })
    const crawler = stored().seeds(started.url())
    expect(await crawler.run()).toMatchObject({ pages: 2, failures: { 'http-status': 2 } })
    isWell = true
    expect(await crawler.run()).toMatchObject({ reason: 'already-done', pages: 2, failed: 2 })
    started.requests.length = 0
    const { pages, failures, summary } = await crawl(crawler.retryFailed())
    expect(askedPaths(started).sort()).toEqual(['/back', '/found', '/missing'])
    expect(pathsOf(pages)).toEqual(['/back', '/found'])
    expect(pages[0]).toMatchObject({ depth: 1, parent: started.url() })
    expect(failures).toMatchObject([{ url: started.url('/missing'), final: true }])
    expect(summary).toMatchObject({ reason: 'done', pages: 4, failed: 1, failures: { 'http-status': 1 } })
    started.requests.length = 0
    expect(await crawler.retryFailed().run()).toMatchObject({ pages: 4, failed: 1 })
    expect(askedPaths(started)).toEqual(['/missing'])
  })

  test('pages that could not be extracted are fetched again', async () => {
    const started = await site({ '/': linksTo('/a', '/b'), '/a': 'a', '/b': 'b' })
    const crawler = stored().seeds(started.url())
    const broken = () => {
      throw new Error('not yet')
    }
    const first = await crawler
      .extract({ broken })
      .on('failure', () => {})
      .run()
    expect(first).toMatchObject({ pages: 0, failures: { 'extract-failed': 3 } })
    const { pages, summary } = await crawl(crawler.retryFailed())
    expect(pathsOf(pages)).toEqual(['/', '/a', '/b'])
    expect(summary).toMatchObject({ reason: 'done', pages: 3, failed: 0, failures: {} })
    // They have their places back.
    expect(await crawler.limit({ pages: 4 }).run()).toMatchObject({ reason: 'already-done' })
  })

  test.each([
    ['pages', { pages: 3 }],
    ['pages per host', { pagesPerHost: 3 }],
    ['pages per site', { pagesPerSite: 3 }],
  ])('pages that could not be extracted give back what they took of a limit of %s', async (_, limit) => {
    const started = await site({ '/': linksTo('/a', '/b'), '/a': 'a', '/b': 'b' })
    const crawler = stored().seeds(started.url()).limit(limit)
    const broken = () => {
      throw new Error('not yet')
    }
    const first = await crawler
      .extract({ broken })
      .on('failure', () => {})
      .run()
    expect(first).toMatchObject({ pages: 0, failures: { 'extract-failed': 3 } })
    const { pages, summary } = await crawl(crawler.retryFailed())
    expect(pathsOf(pages)).toEqual(['/', '/a', '/b'])
    expect(summary).toMatchObject({ pages: 3, failed: 0 })
  })

  test('a host that was given up is looked at once more, and not for each of its URLs', async () => {
    let isWell = false
    const recovers: Route = (_, response) => void response.writeHead(isWell ? 200 : 503).end('x')
    const paths = Array.from({ length: 5 }, (_, i) => `/${i}`)
    const routes = Object.fromEntries(paths.map((path) => [path, recovers]))
    const started = await site({ '/': linksTo(...paths), ...routes })
    const crawler = stored()
      .retries({ times: 0, backoff: '1ms', cooldownAfter: 1, cooldowns: 1, cooldown: '1ms' })
      .seeds(started.url())
    const run = crawler.start()
    run.on('failure', ({ code }) => {
      if (code === 'host-down') run.stop()
    })
    const first = await run.done
    expect(first).toMatchObject({ reason: 'stopped', failures: { 'http-status': 2 } })
    expect(first.pending).toBeGreaterThan(0)
    started.requests.length = 0
    const second = await crawler.retryFailed().run()
    expect(second.failed).toBe(5)
    expect(second.failures['host-down']).toBeGreaterThan(0)
    // A host without pending URLs has no record, so it may be looked at twice more.
    expect(started.requests.length).toBeGreaterThan(0)
    isWell = true
    expect(await crawler.retryFailed().run()).toMatchObject({ failed: 0, failures: {}, statuses: { 200: 6 } })
  })
})
