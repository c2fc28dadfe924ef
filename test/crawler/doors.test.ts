/** What is closed: by the operator, by addresses, by pages and links that ask. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, level, SESSION_PARAMETERS, TRACKING_PARAMETERS } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dnsServer } from '../fetch/dns/dns-server.js'
import type { Route } from '../loopback/site.js'
import { askedPaths, crawl, direct, htmlOutcome, linksTo, pathsOf, quick, site, WORKERS } from './support.js'

const OTHER = '127.0.0.42'
const to = (location: string): Route => ({ status: 302, headers: { location } })

describe('the block-list', () => {
  test('comes before robots.txt, and applies to seeds, links and redirects', async () => {
    const started = await site({
      '/': linksTo('/secret/a', '/hop', '/open'),
      '/hop': to('/secret/b'),
      '/open': 'open',
      '/robots.txt': 'User-agent: *\nDisallow: /open',
    })
    const { pages, skips } = await crawl(
      quick.block('/secret/**').seeds(started.url(), started.url('/secret/seed')),
    )
    expect(pathsOf(pages)).toEqual(['/'])
    expect(skips.map(({ url, reason }) => `${reason} ${new URL(url).pathname}`).sort()).toEqual([
      'blocked /secret/a',
      'blocked /secret/b',
      'blocked /secret/seed',
      'robots /open',
    ])
    expect(started.requests.filter(({ path }) => path.startsWith('/secret'))).toEqual([])
  })

  test('closes a host altogether: not even its robots.txt is asked for', async () => {
    const started = await site({ '/': 'x' })
    const { pages } = await crawl(
      quick.allowPrivate('all').block(OTHER).scope('all').seeds(started.url(), started.url('/', OTHER)),
    )
    expect(pages).toHaveLength(1)
    expect(started.requests.some(({ host }) => host === OTHER)).toBe(false)
  })
})

describe('a block-list that surprises', () => {
  test.each([
    'http://evil.example./',
    'http://www.evil.example.:8080/',
    'http://EVIL.example:81/x',
    'http://[::1]:8080/',
  ])('closes %s', async (url) => {
    const fetch = () => htmlOutcome('x')
    const { pages, skips } = await crawl(
      direct.fetcher(fetch).block('evil.example', '::1').scope('all').seeds(url, 'http://notevil.example/'),
    )
    expect(pages.map((page) => page.host)).toEqual(['notevil.example'])
    expect(skips.map(({ reason }) => reason)).toEqual(['blocked'])
  })

  test('throws only at the URL it was asked about', async () => {
    let calls = 0
    const { pages, failures } = await crawl(
      direct
        .fetcher(() => htmlOutcome('x'))
        .block(({ url }) => {
          // Fine at the door, and not when the visit comes.
          if (url.endsWith('/bad') && ++calls > 1) throw new Error('oops')
          return false
        })
        .seeds('http://a.example/bad', 'http://b.example/'),
    )
    expect(pages.map(({ host }) => host)).toEqual(['b.example'])
    expect(failures).toMatchObject([{ url: 'http://a.example/bad', code: 'scope-failed' }])
  })

  test('is asked about a visit with the depth and parent of the link', async () => {
    const started = await site({ '/': linksTo('/x'), '/x': 'x' })
    const { pages } = await crawl(
      direct.block(({ depth, parent }) => depth === 1 && parent === undefined).seeds(started.url()),
    )
    expect(pathsOf(pages)).toEqual(['/', '/x'])
  })
})

describe('the address guard', () => {
  test('knows all seeds from the start, whoever leads to them first, and so do headers', async () => {
    const late = await site({ '/': 'late', '/more': 'more' })
    const first = await site({ '/': linksTo(late.url('/more', OTHER)) })
    // Seeds are taken in by the thousand; these only fill the first portion.
    const many = Array.from({ length: 1500 }, (_, i) => first.url(`/fill/${i}`))
    const filled = direct.block('/fill/**').scope('all')
    const { pages } = await crawl(
      filled.headers({ 'x-key': 'k' }).seeds([first.url(), ...many, late.url('/', OTHER)]),
    )
    expect(pathsOf(pages)).toEqual(['/', '/', '/more'])
    for (const { headers } of late.requests) expect(headers['x-key']).toBe('k')
  })

  test('refuses what a link leads to in the own network, unless a seed or the caller named the host', async () => {
    const started = await site({ '/x': 'x', '/y': 'y' })
    const away = started.url('/x', OTHER)
    const { url } = await site({ '/': linksTo(away) })
    const all = quick.scope('all')
    const refused = await crawl(all.seeds(url()))
    expect(refused.failures).toMatchObject([{ url: away, code: 'address-refused', final: true }])
    expect(refused.failures[0]!.message).toMatch(/127\.0\.0\.42.*allowPrivate/s)
    expect(started.requests).toEqual([])
    expect((await crawl(all.allowPrivate(OTHER).seeds(url()))).pages).toHaveLength(2)
    expect((await crawl(all.allowPrivate('all').seeds(url()))).pages).toHaveLength(2)
    expect((await crawl(all.seeds(url(), started.url('/y', OTHER)))).pages).toHaveLength(3)
  })

  test('refuses the target of a redirect too, and names that look up to such an address', async () => {
    const { url } = await site({ '/': to('http://169.254.169.254/latest/meta-data/') })
    const metadata = await crawl(direct.scope('all').retries(0).seeds(url()))
    expect(metadata.failures).toMatchObject([{ code: 'address-refused' }])

    const resolver = { resolve: async () => [{ address: '127.0.0.1', family: 4 as const }] }
    const named = await site({ '/': to(`http://public.example:${new URL(url()).port}/`) })
    const rebound = await crawl(direct.scope('all').retries(0).dns(resolver).seeds(named.url()))
    expect(rebound.failures).toMatchObject([
      { url: expect.stringContaining('public.example'), code: 'address-refused' },
    ])
  })
})

describe('a seed and the address guard', () => {
  /** Each request on a connection of its own, so that each has its look-up. */
  const alone: Route = { headers: { 'content-type': 'text/html', connection: 'close' }, body: 'x' }
  const PUBLIC = '93.184.215.14'

  /** What became of `/0`, `/1`, … of one host whose addresses change from look-up to look-up. */
  async function outcomes(...answers: string[][]): Promise<string[]> {
    const paths = answers.map((_, i) => `/${i}`)
    const { url } = await site(Object.fromEntries(paths.map((path) => [path, alone])))
    const { port } = new URL(url())
    const left = [...answers]
    const resolver = {
      resolve: async () =>
        left
          .shift()!
          .map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) })),
    }
    const crawler = direct
      .retries(0)
      .dns(resolver)
      .seeds(paths.map((path) => `http://seed.test:${port}${path}`))
    const { pages, failures } = await crawl(crawler)
    const codes = new Map(failures.map(({ url, code }) => [new URL(url).pathname, code]))
    for (const page of pages) codes.set(new URL(page.url).pathname, 'page' as never)
    return paths.map((path) => String(codes.get(path)))
  }

  test.each<[string[][], string[]]>([
    [
      [['127.0.0.1'], ['127.0.0.1']],
      ['page', 'page'],
    ],
    [
      [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']],
      ['page', 'address-refused', 'page'],
    ],
    [
      [['127.0.0.1'], ['168.63.129.16']],
      ['page', 'address-refused'],
    ],
    [
      [[PUBLIC, '127.0.0.1'], ['127.0.0.1']],
      ['address-refused', 'address-refused'],
    ],
    [
      [['169.254.169.254'], ['127.0.0.1']],
      ['address-refused', 'address-refused'],
    ],
  ])('with the addresses %j: %j', async (answers, expected) => {
    expect(await outcomes(...answers)).toEqual(expected)
  })

  test('opens no other port of its host', async () => {
    const other = await site({ '/': 'other', '/robots.txt': 'x' })
    const { url } = await site({ '/': linksTo(other.url('/')) })
    const { pages, failures } = await crawl(quick.scope('all').seeds(url()))
    expect(pages.map((page) => page.url)).toEqual([url()])
    expect(failures).toMatchObject([{ url: other.url('/'), code: 'address-refused', final: true }])
    expect(other.requests).toEqual([])
    expect((await crawl(quick.scope('all').allowPrivate('127.0.0.1').seeds(url()))).pages).toHaveLength(2)
  })

  test('is remembered by a durable store for what it was first', async () => {
    const { url } = await site({ '/a': alone, '/b': alone })
    const { port } = new URL(url())
    const folder = await mkdtemp(join(tmpdir(), 'kumo-seed-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const run = async (addresses: string[], path: string) => {
      const server = await dnsServer(() => ({ addresses }))
      const crawler = new Crawler()
        .workers(WORKERS)
        .delay(0)
        .robots(false)
        .retries(0)
        .dns({ servers: [server.server] })
        .store(level(folder))
      const seeds = ['outside', 'inside'].map((name) => `http://${name}.test:${port}${path}`)
      return crawl(crawler.seeds(addresses.length > 1 ? seeds.slice(0, 1) : seeds))
    }
    expect((await run([PUBLIC, '127.0.0.1'], '/a')).summary.failures).toEqual({ 'address-refused': 1 })
    const { pages, failures } = await run(['127.0.0.1'], '/b')
    expect(pages.map((page) => page.host)).toEqual([`inside.test:${port}`])
    expect(failures.map((failure) => failure.code)).toEqual(['address-refused'])
  })
})

describe('headers of the user', () => {
  test('do not cross to another origin, by link or by redirect; wishes do', async () => {
    const other = await site({ '/a': 'a', '/b': 'b' })
    const started = await site({
      '/': linksTo(other.url('/a', OTHER), '/hop', '/own'),
      '/hop': to(other.url('/b', OTHER)),
      '/own': 'own',
    })
    const crawler = quick
      .allowPrivate('all')
      .scope('all')
      .headers({ 'x-api-key': 'secret', 'accept-language': 'ja' })
      .auth(new URL(started.url()).origin, { username: 'me', password: 'mine' })
    await crawl(crawler.seeds(started.url()))
    expect(other.requests.filter(({ path }) => path !== '/robots.txt')).toHaveLength(2)
    for (const { headers } of other.requests) {
      expect(headers).toMatchObject({ 'accept-language': 'ja' })
      expect(headers).not.toHaveProperty('x-api-key')
      expect(headers).not.toHaveProperty('authorization')
    }
    for (const { headers } of started.requests) {
      expect(headers).toMatchObject({
        'x-api-key': 'secret',
        authorization: expect.stringMatching(/^Basic /),
      })
    }
    other.requests.length = 0
    await crawl(crawler.headers({ 'x-open': 'yes' }, { everywhere: true }).seeds(started.url()))
    expect(other.requests[0]!.headers).toMatchObject({ 'x-open': 'yes' })
  })
})

describe('pages and links that ask', () => {
  const nofollow = (header: string): Route => ({
    headers: { 'content-type': 'text/html', 'x-robots-tag': header },
    body: linksTo('/next'),
  })

  test.each([
    ['nofollow', false],
    ['noindex, none', false],
    ['kumo: nofollow', false],
    ['otherbot: nofollow', true],
    ['noindex', true],
  ])('X-Robots-Tag %j lets links be followed: %s', async (header, followed) => {
    const started = await site({ '/': nofollow(header), '/next': 'n' })
    const { pages } = await crawl(quick.seeds(started.url()))
    expect(pathsOf(pages)).toEqual(followed ? ['/', '/next'] : ['/'])
    const both = await crawl(quick.robots({ nofollow: false }).seeds(started.url()))
    expect(pathsOf(both.pages)).toEqual(['/', '/next'])
  })

  test('rel=nofollow keeps a link from being followed, style sheets are no pages', async () => {
    const started = await site({
      '/': `<link rel=stylesheet href=/s.css><a rel="nofollow" href=/no>n</a><a href=/yes>y</a>`,
      '/yes': 'y',
    })
    const { pages, skips } = await crawl(quick.seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/yes'])
    expect(skips).toMatchObject([{ url: started.url('/no'), reason: 'nofollow', parent: started.url('/') }])
    expect(askedPaths(started)).toEqual(['/', '/yes'])
  })

  test('a canonical URL is told, and followed only by wish', async () => {
    const started = await site({ '/?sort=1': '<link rel=canonical href="/c">', '/c': 'c' })
    const told = await crawl(quick.seeds(started.url('/?sort=1')))
    expect(told.pages.map(({ canonical }) => canonical)).toEqual([started.url('/c')])
    const followed = await crawl(quick.urls({ canonical: 'follow' }).seeds(started.url('/?sort=1')))
    expect(pathsOf(followed.pages)).toEqual(['/', '/c'])
  })
})

test('parameters that choose nothing are dropped from every URL', async () => {
  const started = await site({
    '/': linksTo('/a?utm_source=x&id=1', '/a?id=1&fbclid=2', '/a;jsessionid=AB12?id=1'),
    '/a?id=1': 'a',
  })
  const { pages } = await crawl(
    quick
      .urls({ drop: [...TRACKING_PARAMETERS, ...SESSION_PARAMETERS] })
      .seeds(started.url('/?utm_medium=mail')),
  )
  expect(pages.map(({ url }) => url)).toEqual([started.url('/'), started.url('/a?id=1')])
  expect(askedPaths(started)).toEqual(['/', '/a?id=1'])
})

test('a redirect that only adds a dropped parameter is a loop', async () => {
  const started = await site({ '/': to('/?sid=1') })
  const { failures } = await crawl(quick.urls({ drop: ['sid'] }).seeds(started.url()))
  expect(failures).toMatchObject([{ code: 'redirect-loop', final: true }])
  expect(askedPaths(started)).toEqual(['/'])
})

test('pages of a site are counted over its hosts', async () => {
  const fetch = (request: { url: string }) => ({
    ok: true as const,
    status: 200,
    headers: new Map([['content-type', 'text/html']]),
    body: Buffer.from(
      linksTo(
        ...['a', 'b', 'c'].flatMap((host) => [1, 2, 3].map((n) => `http://${host}.site.example/${n}`)),
        'http://x.other.example/',
      ),
    ),
    wireBytes: 0,
    skippedBody: false,
    url: request.url,
  })
  const { pages, summary } = await crawl(
    direct.fetcher(fetch).scope('all').limit({ pagesPerSite: 4 }).seeds('http://a.site.example/'),
  )
  expect(pages.filter(({ host }) => host.endsWith('.site.example'))).toHaveLength(4)
  expect(pages.filter(({ host }) => host.endsWith('.other.example'))).toHaveLength(1)
  expect(summary.skips['site-limit']).toBeGreaterThan(0)
})

test('cookies, once kept, open what redirects to itself', async () => {
  const wall: Route = (request, response) => {
    if (request.headers.cookie === 'seen=1')
      response.writeHead(200, { 'content-type': 'text/html' }).end('in')
    else response.writeHead(302, { location: '/', 'set-cookie': 'seen=1' }).end()
  }
  const started = await site({ '/': wall })
  expect((await crawl(quick.seeds(started.url()))).failures).toMatchObject([{ code: 'redirect-loop' }])
  const { pages } = await crawl(quick.cookies().seeds(started.url()))
  expect(pages.map(({ content }) => content)).toEqual(['in'])
})
