/** A redirect's target is a request of its own: with its own host, rules and place in the seen-set. */

import { describe, expect, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import { askedPaths, crawl, linksTo, pathsOf, quick, site } from './support.js'

const OTHER = '127.0.0.42'

function to(location: string, status = 301): Route {
  return { status, headers: { location } }
}

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('%i is followed, and tells both ends', async (status) => {
    const { url } = await site({ '/': linksTo('/old'), '/old': to('new?x=1', status), '/new': 'end' })
    const { pages, redirects, summary } = await crawl(quick.seeds(url()))
    expect(redirects).toMatchObject([{ url: url('/old'), to: url('/new?x=1'), status }])
    expect(pages.map(({ url, depth }) => [url, depth])).toEqual([
      [url('/'), 0],
      [url('/new?x=1'), 1],
    ])
    expect(summary).toMatchObject({ pages: 2, redirects: 1, failed: 0 })
  })

  test('a target that is known already is not fetched again', async () => {
    const started = await site({
      '/': linksTo('/a', '/b', '/c'),
      '/a': to('/c'),
      '/b': to('/c'),
      '/c': 'end',
    })
    const { pages } = await crawl(quick.seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/c'])
    expect(askedPaths(started).filter((path) => path === '/c')).toHaveLength(1)
  })

  test('to another host in scope: that host is asked for its own robots.txt first', async () => {
    const { url, requests } = await site({ '/end': 'end' })
    const start = await site({ '/': to(url('/end', OTHER)) })
    const { pages } = await crawl(quick.allowPrivate('all').seeds(start.url()).scope('all'))
    expect(pages.map(({ url, depth }) => [url, depth])).toEqual([[url('/end', OTHER), 0]])
    expect(requests.map(({ host, path }) => [host, path])).toEqual([
      [OTHER, '/robots.txt'],
      [OTHER, '/end'],
    ])
  })

  test('out of scope it is a skip', async () => {
    const outside = await site({ '/': 'end' })
    const { url } = await site({ '/': to(outside.url('/', OTHER)) })
    const { pages, skips, redirects } = await crawl(quick.seeds(url()))
    expect(pages).toEqual([])
    expect(redirects).toHaveLength(1)
    expect(skips).toMatchObject([{ url: outside.url('/', OTHER), reason: 'scope', parent: url('/') }])
    expect(outside.requests).toEqual([])
  })

  test('a loop is a failure that shows the circle', async () => {
    const started = await site({ '/': to('/a'), '/a': to('/b'), '/b': to('/'), '/self': to('/self') })
    const { summary, failures } = await crawl(quick.seeds(started.url(), started.url('/self')))
    expect(summary).toMatchObject({ reason: 'done', pages: 0, redirects: 2, pending: 0 })
    const circle = ['/', '/a', '/b', '/'].map((path) => started.url(path)).join(' → ')
    expect(failures).toHaveLength(2)
    expect(failures.find(({ url }) => url.endsWith('/b'))).toMatchObject({
      code: 'redirect-loop',
      final: true,
    })
    expect(failures.find(({ url }) => url.endsWith('/b'))!.message).toContain(circle)
    expect(failures.find(({ url }) => url.endsWith('/self'))).toMatchObject({ code: 'redirect-loop' })
    expect(askedPaths(started).sort()).toEqual(['/', '/a', '/b', '/self'])
  })

  test('too many in a row are a failure', async () => {
    const routes: Record<string, Route> = {}
    for (let i = 0; i < 30; i++) routes[`/${i}`] = to(`/${i + 1}`)
    const started = await site(routes)
    const { failures, summary } = await crawl(quick.seeds(started.url('/0')))
    expect(failures).toMatchObject([
      { url: started.url('/10'), code: 'too-many-redirects', status: 301, final: true },
    ])
    expect(failures[0]!.message).toContain('10')
    expect(summary.redirects).toBe(10)
    expect(askedPaths(started)).toHaveLength(11)
  })

  test.each<[string, Route, string]>([
    ['without Location', { status: 302 }, 'Location'],
    ['to another scheme', to('ftp://example.com/'), 'ftp://example.com/'],
    ['to nonsense', to('http://[::zz/'), 'http://[::zz/'],
  ])('%s: bad-redirect, and the message says what stood there', async (_, route, part) => {
    const { url } = await site({ '/': linksTo('/bad', '/good'), '/bad': route, '/good': 'end' })
    const { pages, failures } = await crawl(quick.seeds(url()))
    expect(pathsOf(pages)).toEqual(['/', '/good'])
    expect(failures).toMatchObject([{ url: url('/bad'), code: 'bad-redirect', final: true }])
    expect(failures[0]!.message).toContain(part)
  })
})
