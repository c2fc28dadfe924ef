/** What a host publishes about itself is obeyed, and asked for before anything else. */

import { describe, expect, test } from 'vitest'
import { crawl, hastyClock, linksTo, pathsOf, quick, site, web } from './support.js'

describe('robots.txt', () => {
  test('a forbidden page is never asked for', async () => {
    const { url, requests } = await site({
      '/robots.txt': 'User-agent: *\nDisallow: /private/\nAllow: /private/open',
      '/': linksTo('/private/a', '/private/open', '/b'),
      '/private/open': linksTo('/private/c'),
      '/b': 'end',
    })
    const { pages, skips, summary } = await crawl(quick.seeds(url()))
    expect(pathsOf(pages)).toEqual(['/', '/b', '/private/open'])
    expect(requests.map(({ path }) => path).sort()).toEqual(['/', '/b', '/private/open', '/robots.txt'])
    expect(skips.map(({ url, reason, parent }) => [url, reason, parent])).toEqual([
      [url('/private/a'), 'robots', url('/')],
      [url('/private/c'), 'robots', url('/private/open')],
    ])
    expect(summary).toMatchObject({ robots: 1, skips: { robots: 2 } })
  })

  test('a seed is no exception', async () => {
    const { url, requests } = await site({ '/robots.txt': 'User-agent: *\nDisallow: /', '/': 'end' })
    const { summary } = await crawl(quick.seeds(url()))
    expect(requests.map(({ path }) => path)).toEqual(['/robots.txt'])
    expect(summary).toMatchObject({ pages: 0, skips: { robots: 1 }, reason: 'done' })
  })

  test('the group of our own name counts', async () => {
    const rules = 'User-agent: tester\nDisallow: /a\n\nUser-agent: *\nDisallow: /b'
    const { url } = await site({ '/robots.txt': rules, '/': linksTo('/a', '/b'), '/a': 'a', '/b': 'b' })
    expect(pathsOf((await crawl(quick.userAgent('Tester/1.0').seeds(url()))).pages)).toEqual(['/', '/b'])
    expect(pathsOf((await crawl(quick.userAgent('Other/1.0').seeds(url()))).pages)).toEqual(['/', '/a'])
  })

  test('robots(false) does not even ask', async () => {
    const { url, requests } = await site({ '/robots.txt': 'User-agent: *\nDisallow: /', '/': 'end' })
    const { summary } = await crawl(quick.robots(false).seeds(url()))
    expect(requests.map(({ path }) => path)).toEqual(['/'])
    expect(summary).toMatchObject({ pages: 1, robots: 0 })
  })

  test('is asked for once a host, before the first page, however many connections there are', async () => {
    const { url, requests } = await site({ '/a': 'a', '/b': 'b', '/c': 'c', '/d': 'd' })
    const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    const seeds = hosts.flatMap((host) => ['/a', '/b', '/c', '/d'].map((path) => url(path, host)))
    const { pages, summary } = await crawl(quick.seeds(seeds).perHost({ connections: 4, growAt: 1 }))
    expect(pages).toHaveLength(12)
    expect(summary).toMatchObject({ robots: 3, hostsVisited: 3 })
    for (const host of hosts) {
      const asked = requests.filter((request) => request.host === host).map(({ path }) => path)
      expect(asked[0]).toBe('/robots.txt')
      expect(asked.slice(1).sort()).toEqual(['/a', '/b', '/c', '/d'])
    }
  })

  test('Crawl-delay lengthens the pause, and never shortens it', async () => {
    const asking = await web({ pagesPerHost: 4, robots: 'User-agent: *\nCrawl-delay: 0.4\n' })
    const modest = await web({ pagesPerHost: 4, robots: 'User-agent: *\nCrawl-delay: 0.01\n' })
    const [slow, fast] = await Promise.all([
      quick.seeds(asking.url(0)).run(),
      quick.delay(150).seeds(modest.url(0)).run(),
    ])
    expect([slow.pages, fast.pages]).toEqual([4, 4])
    expect(slow.shortestGapMs).toBeGreaterThanOrEqual(400)
    expect((await asking.report(0, { gapMs: 400, countRobots: true })).perHost).toMatchObject({
      belowGap: 0,
      overlaps: 0,
    })
    expect((await modest.report(0, { gapMs: 150, countRobots: true })).perHost).toMatchObject({
      belowGap: 0,
      overlaps: 0,
    })
  })

  test('while it cannot be had the host waits, and the others do not', async () => {
    let tries = 0
    const failing = await site({
      '/robots.txt': (_, response) => response.writeHead(++tries < 2 ? 503 : 404).end(),
      '/': 'end',
    })
    const healthy = await site({ '/': linksTo('/a'), '/a': 'end' })
    const { pages, summary } = await crawl(
      quick.seeds(failing.url('/', '127.0.0.9'), healthy.url()).random({ next: () => 0 }),
    )
    expect(pages.map(({ url }) => url)).toEqual([
      healthy.url('/'),
      healthy.url('/a'),
      failing.url('/', '127.0.0.9'),
    ])
    expect(failing.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/robots.txt', '/'])
    expect(summary).toMatchObject({ robots: 3, failed: 0 })
  })
})

describe('robots.txt on another host', () => {
  const OTHER = '127.0.0.42'

  test('is fetched as a visit there, with its interval, and its rules count for the origin that led to it', async () => {
    const { url, requests } = await site({
      '/robots.txt': (request, response) => {
        const isOther = request.headers.host!.startsWith(OTHER)
        if (isOther) response.writeHead(200).end('')
        else response.writeHead(301, { location: url('/rules.txt', OTHER) }).end()
      },
      '/rules.txt': 'User-agent: *\nDisallow: /closed',
      '/': linksTo('/closed', '/open'),
      '/open': 'o',
      '/elsewhere': linksTo('/elsewhere/2'),
      '/elsewhere/2': 'e',
    })
    const { pages, skips } = await crawl(
      quick.delay(150).scope('host').seeds(url('/elsewhere', OTHER), url()),
    )
    expect(pathsOf(pages)).toEqual(['/', '/elsewhere', '/elsewhere/2', '/open'])
    expect(skips).toMatchObject([{ reason: 'robots', url: url('/closed') }])
    for (const host of ['127.0.0.1', OTHER]) {
      const times = requests.filter((each) => each.host === host).map(({ at }) => at)
      for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(149)
    }
    expect(requests.filter(({ path }) => path === '/rules.txt')).toHaveLength(1)
  })

  test('beyond five hops counts as none', async () => {
    const { url, requests } = await site({
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, i) => [
          i === 0 ? '/robots.txt' : `/r${i}`,
          { status: 302, headers: { location: `/r${i + 1}` } },
        ]),
      ),
      '/': 'x',
    })
    const { pages } = await crawl(quick.seeds(url()))
    expect(pages).toHaveLength(1)
    expect(requests.map(({ path }) => path)).toEqual(['/robots.txt', '/r1', '/r2', '/r3', '/r4', '/r5', '/'])
  })

  test('that the operator has closed leaves the pages unfetched, with the reason', async () => {
    const { url, requests } = await site({
      '/robots.txt': { status: 301, headers: { location: 'http://blocked.example/robots.txt' } },
      '/': 'x',
    })
    const { pages, failures } = await crawl(quick.block('blocked.example').seeds(url()).clock(hastyClock(50)))
    expect(pages).toEqual([])
    expect(failures.at(-1)!.message).toContain('which is blocked')
    expect(requests.every(({ path }) => path === '/robots.txt')).toBe(true)
  })
})

test('a fetcher that gives up at robots.txt by itself does not keep the crawl', async () => {
  let asked = 0
  const { summary } = await crawl(
    quick
      .clock(hastyClock(20))
      .fetcher(() => {
        asked++
        return { ok: false, code: 'aborted', message: 'gave up' }
      })
      .seeds('http://a.example/'),
  )
  expect(summary).toMatchObject({ reason: 'done', failed: 1 })
  expect(asked).toBe(3)
})

test('Retry-After of robots.txt is heeded', async () => {
  let asked = 0
  const { url, requests } = await site({
    '/robots.txt': (_, response) => {
      if (++asked === 1) response.writeHead(503, { 'retry-after': '2' }).end()
      else response.writeHead(404).end()
    },
    '/': 'x',
  })
  const { pages } = await crawl(quick.seeds(url()))
  expect(pages).toHaveLength(1)
  expect(requests[1]!.at - requests[0]!.at).toBeGreaterThanOrEqual(1999)
})

test('a long robots.txt counts although pages may not be as long', async () => {
  const rules = `User-agent: *\nDisallow: /closed\n${'# padding\n'.repeat(20_000)}`
  const { url } = await site({ '/robots.txt': rules, '/': linksTo('/closed', '/a'), '/a': 'a' })
  const { pages, skips } = await crawl(quick.maxBodyBytes(1000).seeds(url()))
  expect(pathsOf(pages)).toEqual(['/', '/a'])
  expect(skips).toMatchObject([{ reason: 'robots' }])
})

describe('robots meta', () => {
  test.each([
    ['nofollow', false],
    ['NOINDEX, NoFollow', false],
    ['none', false],
    ['noindex', true],
    ['all', true],
  ])('%s: links followed: %s', async (content, followed) => {
    const { url } = await site({
      '/': `<meta name="robots" content="${content}">${linksTo('/a', '/b')}`,
      '/a': 'a',
      '/b': 'b',
    })
    const { pages, skips } = await crawl(quick.seeds(url()))
    expect(pathsOf(pages)).toEqual(followed ? ['/', '/a', '/b'] : ['/'])
    expect(skips).toMatchObject(followed ? [] : [{ url: url('/'), reason: 'nofollow', parent: undefined }])
  })
})
