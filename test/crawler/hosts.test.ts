/** Options of single hosts, as the servers see them. */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, type KumoError, level } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoopbackSite } from '../loopback/site.js'
import { crawl, direct, linkedPages, quick, site } from './support.js'

const [SLOW, FAST, OTHER] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const
const everywhere = direct.scope('all').allowPrivate('all')

/** When the pages of a host were asked for. */
const timesAt = ({ requests }: LoopbackSite, host: string) =>
  requests.filter((request) => request.host === host).map(({ at }) => at)

const gapsOf = (times: readonly number[]) => times.slice(1).map((at, i) => at - times[i]!)

describe('delay', () => {
  test.each([
    ['memory', () => undefined],
    ['level', () => level(folder())],
  ])('differs by host with the %s store, and Crawl-delay still applies', async (_, store) => {
    const started = await site({ ...linkedPages(4) })
    const host = (name: string) => `${name}:${started.port}`
    const seeds = [SLOW, FAST, OTHER].map((name) => started.url('/', name))
    const made = store()
    const crawler = everywhere
      .delay(400)
      .host(host(SLOW), { delay: 650 })
      .host(host(FAST), { delay: 0 })
      .seeds(seeds)
    const { pages } = await crawl(made === undefined ? crawler : crawler.store(made))
    expect(pages).toHaveLength(12)
    expect(Math.min(...gapsOf(timesAt(started, SLOW)))).toBeGreaterThanOrEqual(649)
    expect(Math.min(...gapsOf(timesAt(started, OTHER)))).toBeGreaterThanOrEqual(399)
    expect(Math.min(...gapsOf(timesAt(started, FAST)))).toBeLessThan(399)
  })

  test('the longer of the Crawl-delay and the own delay wins', async () => {
    const started = await site({
      ...linkedPages(3),
      '/robots.txt': 'User-agent: *\nCrawl-delay: 0.3',
    })
    const crawler = quick
      .scope('all')
      .allowPrivate('all')
      .delay(0)
      .host(SLOW, { delay: 500 })
      .host(FAST, { delay: 10 })
      .seeds([SLOW, FAST].map((name) => started.url('/', name)))
    await crawl(crawler)
    expect(Math.min(...gapsOf(timesAt(started, SLOW)))).toBeGreaterThanOrEqual(499)
    const gaps = gapsOf(timesAt(started, FAST))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(299)
    expect(Math.min(...gaps)).toBeLessThan(499)
  })
})

test('connections differ by host', async () => {
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  const started = await site(
    Object.fromEntries(
      Object.entries(linkedPages(13)).map(([path, page]) => [
        path,
        (request, response) => {
          const { host = '' } = request.headers
          open.set(host, (open.get(host) ?? 0) + 1)
          most.set(host, Math.max(most.get(host) ?? 0, open.get(host)!))
          setTimeout(() => {
            open.set(host, open.get(host)! - 1)
            response.writeHead(200, { 'content-type': 'text/html' }).end(page as string)
          }, 30)
        },
      ]),
    ),
  )
  const host = (name: string) => `${name}:${started.port}`
  const crawler = everywhere
    .perHost({ connections: 2, growAt: 1 })
    .host(host(SLOW), { connections: 1 })
    .host(host(FAST), { connections: 4 })
  await crawl(crawler.seeds([SLOW, FAST, OTHER].map((name) => started.url('/', name))))
  expect([SLOW, OTHER, FAST].map((name) => most.get(host(name)))).toEqual([1, 2, 4])
})

describe('what is sent', () => {
  test('headers, user agent and credentials go to their host only', async () => {
    const started = await site({ '/': 'end' })
    const elsewhere = await site({ '/landed': 'end' })
    const name = (host: string) => `${host}:${started.port}`
    const away = await site({
      '/': { status: 307, headers: { location: elsewhere.url('/landed', OTHER) } },
    })
    const crawler = everywhere
      .userAgent('Crawl/1.0')
      .headers({ 'x-crawl': 'all' }, { everywhere: true })
      .host(name(SLOW), {
        headers: { 'X-Own': 'slow', 'x-crawl': 'own' },
        userAgent: 'Slow/2.0',
        auth: { username: 'ada', password: 'pä:ss' },
      })
      .host(name(FAST), { auth: { bearer: 'token-of-fast' } })
      .host(`${SLOW}:${away.port}`, { auth: { bearer: 'token-of-away' }, headers: { 'x-own': 'away' } })
      .seeds(
        [SLOW, FAST, OTHER].map((host) => started.url('/', host)),
        away.url(),
      )
    await crawl(crawler)
    const headersOf = (host: string) => started.requests.find((each) => each.host === host)!.headers
    expect(headersOf(SLOW)).toMatchObject({
      'user-agent': 'Slow/2.0',
      'x-own': 'slow',
      'x-crawl': 'own',
      authorization: `Basic ${Buffer.from('ada:pä:ss').toString('base64')}`,
    })
    expect(headersOf(FAST)).toMatchObject({
      'user-agent': 'Crawl/1.0',
      'x-crawl': 'all',
      authorization: 'Bearer token-of-fast',
    })
    expect(headersOf(OTHER)).not.toHaveProperty('authorization')
    expect(headersOf(OTHER)).not.toHaveProperty('x-own')
    expect(away.requests[0]!.headers).toMatchObject({
      authorization: 'Bearer token-of-away',
      'x-own': 'away',
    })
    expect(elsewhere.requests).toHaveLength(1)
    expect(elsewhere.requests[0]!.headers).not.toHaveProperty('authorization')
    expect(elsewhere.requests[0]!.headers).not.toHaveProperty('x-own')
  })

  test('without a port, credentials go over plain http to the origins of seeds only', async () => {
    const started = await site({ '/': 'end' })
    const linking = await site({ '/': `<a href="${started.url('/', FAST)}">x</a>` })
    const crawler = everywhere.host(SLOW, { auth: { bearer: 'one' } }).host(FAST, { auth: { bearer: 'two' } })
    await crawl(crawler.seeds(linking.url('/', SLOW)))
    expect(linking.requests[0]!.headers.authorization).toBe('Bearer one')
    expect(started.requests[0]!.headers).not.toHaveProperty('authorization')
    await crawl(crawler.seeds(started.url('/', FAST)))
    expect(started.requests[1]!.headers.authorization).toBe('Bearer two')
  })

  test('the user agent of a host selects its group of robots.txt', async () => {
    const started = await site({
      '/': 'end',
      '/robots.txt': 'User-agent: Slow\nDisallow: /\n\nUser-agent: *\nAllow: /',
    })
    const { pages, skips } = await crawl(
      quick
        .allowPrivate('all')
        .host(SLOW, { userAgent: 'Slow/2.0' })
        .seeds([SLOW, FAST].map((name) => started.url('/', name))),
    )
    expect(pages.map(({ url }) => url)).toEqual([started.url('/', FAST)])
    expect(skips).toMatchObject([{ url: started.url('/', SLOW), reason: 'robots' }])
    const asked = started.requests.find(({ path, host }) => path === '/robots.txt' && host === SLOW)!
    expect(asked.headers['user-agent']).toBe('Slow/2.0')
  })

  test('a proxy of its own, or none', async () => {
    const started = await site({ '/': 'end' })
    const [one, two] = [await proxy(), await proxy()]
    const crawler = everywhere
      .proxy(one.url)
      .host(FAST, { proxy: two.url })
      .host(OTHER, { proxy: false })
      .seeds([SLOW, FAST, OTHER].map((name) => started.url('/', name)))
    const { pages } = await crawl(crawler)
    expect(pages).toHaveLength(3)
    expect([one.asked, two.asked]).toEqual([[started.url('/', SLOW)], [started.url('/', FAST)]])
  })
})

test('retries differ by host', async () => {
  const started = await site({ '/shaky': { status: 503 }, '/missing': { status: 404 } })
  const crawler = everywhere
    .retries({ times: 1, backoff: '5ms', maxBackoff: '5ms', cooldownAfter: 1000 })
    .host(SLOW, { retries: 3 })
    .host(FAST, { retries: { times: 2, statuses: [404] } })
  const paths = ['/shaky', '/missing']
  await crawl(
    crawler.seeds([SLOW, FAST, OTHER].flatMap((name) => paths.map((path) => started.url(path, name)))),
  )
  const asked = (host: string, path: string) =>
    started.requests.filter((each) => each.host === host && each.path === path).length
  expect([SLOW, FAST, OTHER].map((host) => [asked(host, '/shaky'), asked(host, '/missing')])).toEqual([
    [4, 1],
    [1, 3],
    [2, 1],
  ])
})

test('the number of pages differs by host', async () => {
  const started = await site(linkedPages(6))
  const crawler = everywhere
    .limit({ pagesPerHost: 2 })
    .host(SLOW, { maxPages: 4 })
    .host(FAST, { maxPages: Number.POSITIVE_INFINITY })
    .seeds([SLOW, FAST, OTHER].map((name) => started.url('/', name)))
  const { pages, skips } = await crawl(crawler)
  const pagesOf = (host: string) => pages.filter(({ url }) => url.includes(`//${host}:`)).length
  expect([SLOW, FAST, OTHER].map(pagesOf)).toEqual([4, 6, 2])
  expect(new Set(skips.map(({ reason }) => reason))).toEqual(new Set(['host-limit']))
})

describe('a wrong option', () => {
  test.each<[string, () => unknown, string]>([
    ['host', () => new Crawler().host('https://example.com/', {}), "host: got 'https://example.com/'"],
    ['host', () => new Crawler().host('*.example.com/a', {}), "'*.example.com'"],
    [
      'a key',
      () => new Crawler().host('a.example', { dealy: 1 } as object),
      "host('a.example'): got 'dealy'",
    ],
    ['delay', () => new Crawler().host('A.example', { delay: '2 moons' as '2s' }), "host('a.example').delay"],
    ['connections', () => new Crawler().host('a', { connections: 0 }), "host('a').connections"],
    ['headers', () => new Crawler().host('a', { headers: { host: 'b' } }), "host('a').headers"],
    ['userAgent', () => new Crawler().host('a', { userAgent: '' }), "host('a').userAgent"],
    ['retries', () => new Crawler().host('a', { retries: -1 }), "host('a').retries"],
    [
      'statuses',
      () => new Crawler().host('a', { retries: { statuses: [200] } }),
      "host('a').retries.statuses",
    ],
    ['proxy', () => new Crawler().host('a', { proxy: 'ftp://u:s3cret@x' }), "host('a').proxy"],
    ['maxPages', () => new Crawler().host('a', { maxPages: 0 }), "host('a').maxPages"],
    ['auth', () => new Crawler().host('a', { auth: 's3cret' as never }), "host('a').auth"],
    ['auth', () => new Crawler().host('a', { auth: { bearer: 's3cret\n' } }), "host('a').auth"],
    ['auth', () => new Crawler().host('a', { auth: { username: 's3cret' } as never }), "host('a').auth"],
  ])('%s is refused by name, without secrets', (_, make, part) => {
    try {
      make()
    } catch (error) {
      const { code, message } = error as KumoError
      expect(code).toBe('KUMO_INVALID_OPTION')
      expect(message).toContain(part)
      expect(message).not.toContain('s3cret')
      return
    }
    throw new Error('was accepted')
  })
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'kumo-hosts-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

/** A proxy for plain requests. */
async function proxy() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const upstream = httpRequest(request.url!, { headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    upstream.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
