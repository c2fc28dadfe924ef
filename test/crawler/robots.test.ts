/** What a host publishes about itself is obeyed, and asked for before anything else. */

import { describe, expect, test } from 'vitest'
import { crawl, linksTo, pathsOf, quick, site, web } from './support.js'

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
    expect(skips).toEqual(followed ? [] : [{ url: url('/'), reason: 'nofollow', parent: undefined }])
  })
})
