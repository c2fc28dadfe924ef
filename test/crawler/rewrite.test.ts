/** `urls({ rewrite })`: one URL for a page that has several, wherever the URL comes from. */

import { indexPages, type KumoError, level } from 'kumo'
import { describe, expect, test } from 'vitest'
import { folder } from '../stores/level/folders.js'
import { askedPaths, crawl, direct, linksTo, pathsOf, quick, rejectionOf, site, WORKERS } from './support.js'

const LOWER_CASE = new URL('./programs/lower-case.mjs', import.meta.url)

/** A function stays in its thread. */
const alone = direct.workers(0)

test('every URL is rewritten: seeds, links, redirects, sitemaps and canonical URLs', async () => {
  const { url, ...shop } = await site({
    '/robots.txt': 'Sitemap: /sitemap.xml',
    '/sitemap.xml': '<urlset><url><loc>/listed/index.html</loc></url></urlset>',
    '/': linksTo('/index.html', '/a/index.htm?x=1', '/go'),
    '/a/?x=1': '<link rel=canonical href="/b/index.html">',
    '/b/': 'b',
    '/go': { status: 301, headers: { location: '/moved/index.html' } },
    '/moved/': 'moved',
    '/listed/': 'listed',
  })
  const crawler = quick.urls({ rewrite: indexPages(), canonical: 'follow' }).seeds(url('/index.html'))
  const { pages, failures } = await crawl(crawler)
  expect(failures).toEqual([])
  expect(pathsOf(pages)).toEqual(['/', '/a/', '/b/', '/listed/', '/moved/'])
  expect(askedPaths({ url, ...shop }).filter((path) => path.includes('index'))).toEqual([])
  expect(new Set(askedPaths({ url, ...shop })).size).toBe(askedPaths({ url, ...shop }).length)
})

test('a directory that redirects to its index page is not lost', async () => {
  const { url } = await site({
    '/': { status: 302, headers: { location: '/index.html' } },
    '/index.html': linksTo('/', '/index.html', '/x/'),
    '/x/': 'x',
  })
  for (const cookies of [false, true]) {
    const crawler = direct.cookies(cookies).urls({ rewrite: indexPages() }).seeds(url())
    const { pages, failures } = await crawl(crawler)
    expect(failures).toEqual([])
    expect(pathsOf(pages)).toEqual(['/index.html', '/x/'])
  }
})

test('a form that redirects to the index page of its own URL leads to that URL', async () => {
  const { url, ...shop } = await site({
    '/': (request, response) => {
      if (request.method === 'POST') response.writeHead(303, { location: '/index.html' }).end()
      else response.writeHead(200, { 'content-type': 'text/html' }).end('home')
    },
    '/index.html': 'home',
  })
  const crawler = direct.urls({ rewrite: indexPages() }).seeds({ url: url(), body: 'a=1' })
  const { pages, failures } = await crawl(crawler)
  expect(failures).toEqual([])
  expect(pages.map((page) => page.url)).toEqual([url()])
  expect(askedPaths({ url, ...shop })).toEqual(['/', '/'])
})

test('a redirect that is rewritten to another origin takes no headers along, except those of its body', async () => {
  const { url, requests } = await site({
    '/': { status: 307, headers: { location: '/next' } },
    '/next': 'next',
  })
  const rewrite = (from: string) => from.replace(/127\.0\.0\.1(:\d+\/next)/, '127.0.0.2$1')
  const headers = { authorization: 'secret', 'content-type': 'text/x-mine' }
  const { pages } = await crawl(
    alone
      .scope('all')
      .allowPrivate('127.0.0.2')
      .urls({ rewrite })
      .seeds({ url: url(), method: 'POST', headers, body: 'b', label: 'form' }),
  )
  expect(pages).toMatchObject([
    { url: url('/next', '127.0.0.2'), request: { method: 'POST', label: 'form' } },
  ])
  expect(requests.map(({ headers: sent }) => [sent.authorization, sent['content-type']])).toEqual([
    ['secret', 'text/x-mine'],
    [undefined, 'text/x-mine'],
  ])
})

test('a module rewrites in every worker', async () => {
  const { url } = await site({ '/': linksTo('/A', '/b', '/B'), '/a': 'a', '/b': 'b' })
  const { pages } = await crawl(
    direct.urls({ rewrite: [LOWER_CASE, indexPages()] }).seeds(url('/INDEX.html')),
  )
  expect(pathsOf(pages)).toEqual(['/', '/a', '/b'])
})

test('a seed that moves to another host takes the scope along', async () => {
  const { url } = await site({ '/': linksTo('/a'), '/a': 'a' })
  const rewrite = (from: string) => from.replace('//127.0.0.2:', '//127.0.0.1:')
  const { pages } = await crawl(alone.scope('host').urls({ rewrite }).seeds(url('/', '127.0.0.2')))
  expect(pages.map((page) => page.url).sort()).toEqual([url('/'), url('/a')])
})

describe('a rule that fails', () => {
  test('is a failure of the URL, and the crawl goes on', async () => {
    const { url } = await site({
      '/': linksTo('/throws', '/mail', '/grows', '/fine', '/hop'),
      '/fine': linksTo('/throws'),
      '/hop': { status: 301, headers: { location: '/throws' } },
    })
    const boom = new Error('boom')
    const rewrite = (from: string) => {
      if (from.endsWith('/throws')) throw boom
      if (from.endsWith('/mail')) return 'mailto:me@example.com'
      return from.includes('/grows') ? `${from}/more` : from
    }
    const { pages, failures } = await crawl(alone.urls({ rewrite }).seeds(url(), url('/throws')))
    expect(pathsOf(pages)).toEqual(['/', '/fine'])
    const seen = failures.map(({ url: failed, code, final }) => [new URL(failed).pathname, code, final])
    // The seed, the link (once, although two pages have it), and the target of the redirect.
    const failed = ['/grows', '/mail', '/throws', '/throws', '/throws']
    expect(seen.sort()).toEqual(failed.map((path) => [path, 'rewrite-failed', true]))
    expect(failures.find(({ url: each }) => each === url('/throws'))!.cause).toBe(boom)
  })

  test.runIf(WORKERS > 0)('and is a function cannot be sent to workers', async () => {
    const error = await rejectionOf(
      direct
        .urls({ rewrite: (from) => from })
        .seeds('http://a.example/')
        .run(),
    )
    expect(error).toMatchObject({ code: 'KUMO_NOT_PORTABLE' })
    expect((error as KumoError).message).toContain(
      "urls.rewrite: a function cannot be sent to worker threads; move it to a module, e.g. rewrite.js with `export default (url) => …`, and pass .urls({ rewrite: new URL('./rewrite.js', import.meta.url) })",
    )
  })

  test.each<[unknown, RegExp]>([
    ['lower', /^urls\.rewrite: got 'lower'; allowed: a function/],
    [[indexPages(), 3], /^urls\.rewrite: got 3; allowed: a function/],
  ])('%j is refused', (rewrite, message) => {
    expect(() => direct.urls({ rewrite: rewrite as never })).toThrow(message)
  })
})

describe('a stored crawl', () => {
  const stored = (path: string) => direct.store(level(path)).workers(WORKERS)

  test('is opened only with the same rules', async () => {
    const { url } = await site({ '/': linksTo('/a/index.html', '/B'), '/a/': 'a', '/b': 'b' })
    const path = await folder()
    const crawler = stored(path).seeds(url())
    const ruled = crawler.urls({ rewrite: [indexPages(), LOWER_CASE] })
    await ruled.limit({ pages: 1 }).run()
    for (const [other, message] of [
      [crawler, /rewrite: indexPages index\.html index\.htm, function [0-9a-f]{16} then, none now/],
      [crawler.urls({ rewrite: indexPages() }), /then, rewrite: indexPages index\.html index\.htm now/],
      [crawler.urls({ rewrite: [LOWER_CASE, indexPages()] }), /then, rewrite: function/],
    ] as const) {
      const error = (await rejectionOf(other.run())) as KumoError
      expect(error.code).toBe('KUMO_STORE_MISMATCH')
      expect(error.message).toMatch(message)
    }
    const { pages, reason } = await ruled.run()
    expect([pages, reason]).toEqual([3, 'done'])
  })

  test('without rules is not opened with one', async () => {
    const { url } = await site({ '/': 'home' })
    const path = await folder()
    await stored(path).seeds(url()).run()
    const error = await rejectionOf(stored(path).seeds(url()).urls({ rewrite: indexPages() }).run())
    expect((error as KumoError).message).toMatch(/urls\(\{ drop \}\): none then, rewrite: indexPages/)
  })
})
