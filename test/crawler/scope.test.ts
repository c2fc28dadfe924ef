/** A crawl stays where it was told to stay; what it leaves out it counts. */

import { any, glob, not, sameHost } from 'kumo'
import { describe, expect, test } from 'vitest'
import { askedPaths, crawl, linksTo, pathsOf, quick, site } from './support.js'

const ELSEWHERE = '127.0.0.77'

describe('the default scope', () => {
  test("is the seeds' sites: another host is not asked for anything", async () => {
    const started = await site({})
    const outside = started.url('/', ELSEWHERE)
    const { url, requests } = await site({ '/': linksTo('/in', outside), '/in': linksTo(outside) })
    const { pages, skips, summary } = await crawl(quick.seeds(url()))
    expect(pathsOf(pages)).toEqual(['/', '/in'])
    expect(started.requests).toEqual([])
    expect(requests).toHaveLength(3)
    expect(skips).toMatchObject([
      { url: outside, reason: 'scope', parent: url('/') },
      { url: outside, reason: 'scope', parent: url('/in') },
    ])
    expect(summary.skips).toEqual({ scope: 2 })
  })

  test('covers every seed, also one that comes later from a generator', async () => {
    const { url, requests } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    const { pages } = await crawl(
      quick.seeds(
        url('/', hosts[0]),
        (function* () {
          for (const host of hosts.slice(1)) yield url('/', host)
        })(),
      ),
    )
    expect(pages).toHaveLength(6)
    expect(new Set(requests.map(({ host }) => host))).toEqual(new Set(hosts))
  })

  test('a link that is not http is counted, not fetched', async () => {
    const { url } = await site({
      '/': linksTo('mailto:a@example.com', 'javascript:x()', 'http://[bad/', 'ftp://x/'),
    })
    const { summary } = await crawl(quick.seeds(url()))
    expect(summary).toMatchObject({ pages: 1, failed: 0, skips: { 'not-http': 4 } })
  })
})

describe('scope, include, exclude and depth', () => {
  const routes = {
    '/docs/': linksTo('/docs/a', '/docs/b.pdf', '/blog/', '/docs/private/x', '/docs/a?page=2'),
    '/docs/a': linksTo('/docs/deep/1'),
    '/docs/b.pdf': 'end',
    '/docs/private/x': 'end',
    '/docs/deep/1': linksTo('/docs/deep/2'),
    '/docs/deep/2': linksTo('/docs/deep/3'),
    '/docs/deep/3': 'end',
    '/blog/': linksTo('/blog/1'),
    '/blog/1': 'end',
  }
  const all = Object.keys(routes)
  const without = (...left: string[]) => all.filter((path) => !left.includes(path)).sort()

  test.each<[string, (crawler: typeof quick) => typeof quick, string[]]>([
    ['nothing said', (c) => c, without()],
    ['scope path', (c) => c.scope('path'), without('/blog/', '/blog/1')],
    ['scope host', (c) => c.scope('host'), without()],
    ['scope origin', (c) => c.scope('origin'), without()],
    ['a glob', (c) => c.scope('/docs/*'), ['/docs/', '/docs/a', '/docs/b.pdf']],
    ['a regular expression', (c) => c.scope(/\/blog\//), ['/blog/', '/blog/1', '/docs/']],
    ['a function', (c) => c.scope(({ url }) => url.endsWith('/a')), ['/docs/', '/docs/a']],
    [
      'several rules must all agree',
      (c) => c.scope('host', '/docs/*', not('/**.pdf')),
      ['/docs/', '/docs/a'],
    ],
    [
      'a combination',
      (c) => c.scope(any(glob('/blog/**'), '/docs/a')),
      ['/blog/', '/blog/1', '/docs/', '/docs/a'],
    ],
    ['include', (c) => c.include('/blog/**', '/docs/a'), ['/blog/', '/blog/1', '/docs/', '/docs/a']],
    ['exclude', (c) => c.exclude('/**.pdf').exclude(/private/), without('/docs/b.pdf', '/docs/private/x')],
    [
      'include and exclude',
      (c) => c.include('/docs/**').exclude('/docs/deep/**', '/docs/private/**'),
      ['/docs/', '/docs/a', '/docs/b.pdf'],
    ],
    ['depth 0: the seeds alone', (c) => c.depth(0), ['/docs/']],
    ['depth 1', (c) => c.depth(1), without('/docs/deep/1', '/docs/deep/2', '/docs/deep/3', '/blog/1')],
    ['depth without bound', (c) => c.depth(2).depth(Number.POSITIVE_INFINITY), without()],
    [
      'all of them',
      (c) =>
        c
          .scope(sameHost())
          .include('/docs/**')
          .exclude('/**.pdf', /private/)
          .depth(2),
      ['/docs/', '/docs/a', '/docs/deep/1'],
    ],
  ])('%s', async (_, narrow, expected) => {
    const started = await site(routes)
    const { pages } = await crawl(
      narrow(quick)
        .exclude(/\?page/)
        .seeds(started.url('/docs/')),
    )
    expect(pathsOf(pages)).toEqual(expected.sort())
    expect(askedPaths(started).sort()).toEqual(expected.sort())
  })

  test('what is left out is counted by its reason', async () => {
    const { url } = await site(routes)
    const { summary, skips } = await crawl(quick.seeds(url('/docs/')).exclude('/docs/private/**').depth(1))
    expect(summary.skips).toEqual({ scope: 1, depth: 3 })
    expect(skips.find(({ reason }) => reason === 'depth')?.parent).toBe(url('/docs/a'))
  })

  test('a seed is fetched whatever the scope says, and its links are judged', async () => {
    const { url } = await site({ '/': linksTo('/docs/a', '/other'), '/docs/a': 'end', '/other': 'end' })
    const { pages } = await crawl(quick.seeds(url()).scope('/docs/**'))
    expect(pathsOf(pages)).toEqual(['/', '/docs/a'])
  })

  test('scope all leaves the site', async () => {
    const { url, requests } = await site({ '/other': 'end' })
    const { pages } = await crawl(
      quick
        .scope('all')
        .seeds(url('/start'))
        .extract({
          name: 'away',
          extract: () => ({ links: [url('/other', ELSEWHERE)] }),
        }),
    )
    expect(pages).toEqual([])
    expect(requests.map(({ host }) => host)).toEqual(['127.0.0.1', '127.0.0.1'])
    const seeded = await crawl(
      quick
        .allowPrivate('all')
        .scope('all')
        .seeds(url('/other'))
        .extract({
          name: 'away',
          extract: () => ({ links: [url('/other', ELSEWHERE)] }),
        }),
    )
    expect(seeded.pages.map(({ host }) => host.split(':')[0])).toEqual(['127.0.0.1', ELSEWHERE])
  })
})

test('a Refresh header is followed; what a base of another scheme makes of links is not', async () => {
  const started = await site({
    '/': { headers: { refresh: '1; url=/next', 'content-type': 'text/html' }, body: 'wait' },
    '/next': '<base href="ftp://127.0.0.1/"><a href="/no"></a><a href="no">',
  })
  const { pages, skips } = await crawl(quick.seeds(started.url()))
  expect(pathsOf(pages)).toEqual(['/', '/next'])
  expect(askedPaths(started)).toEqual(['/', '/next'])
  expect(skips.map(({ reason }) => reason)).toEqual(['not-http', 'not-http'])
})
