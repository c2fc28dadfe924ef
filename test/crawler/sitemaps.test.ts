/** Sitemaps in a crawl: found through robots.txt, read politely, and bounded. */

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import { crawl, htmlOutcome, linksTo, pathsOf, quick, site } from './support.js'

const urlset = (...urls: string[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls
    .map((url) => `<url><loc>${url}</loc><lastmod>2024-05-06</lastmod></url>`)
    .join('')}</urlset>`
const index = (...urls: string[]) =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`
const xml = (body: string | Uint8Array, type = 'application/xml'): Route => ({
  headers: { 'content-type': type },
  body,
})
const OTHER = '127.0.0.42'

/** A site whose routes know its address. */
async function siteOf(make: (url: (path: string, host?: string) => string) => Record<string, Route>) {
  const routes: Record<string, Route> = {}
  const started = await site(routes)
  Object.assign(routes, make(started.url))
  return started
}

describe('sitemaps named by robots.txt', () => {
  test('are read with their indexes, packed or not, and give pages within the scope, each once', async () => {
    const started = await siteOf((url) => ({
      '/robots.txt': `Sitemap: ${url('/index.xml')}\nUser-agent: *\nDisallow: /closed`,
      '/index.xml': xml(index(url('/a.xml'), url('/b.xml.gz'), url('/index.xml'))),
      '/a.xml': xml(urlset(url('/'), url('/one'), url('/closed'), 'https://elsewhere.example/')),
      '/b.xml.gz': xml(gzipSync(`${url('/two')}\n${url('/one')}\n`), 'application/octet-stream'),
      '/': linksTo('/linked', '/one'),
      '/linked': 'l',
      '/one': 'o',
      '/two': 't',
    }))
    const { pages, summary, skips } = await crawl(quick.seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/linked', '/one', '/two'])
    expect(summary).toMatchObject({ sitemaps: 3, failed: 0 })
    expect(skips.map(({ reason, url }) => [reason, url])).toContainEqual([
      'scope',
      'https://elsewhere.example/',
    ])
    expect(skips.map(({ reason, url }) => [reason, url])).toContainEqual(['robots', started.url('/closed')])
    const asked = started.requests.map(({ path }) => path)
    expect(new Set(asked).size).toBe(asked.length)
    expect(pages.find(({ url }) => url.endsWith('/two'))).toMatchObject({ depth: 1 })
  })

  test('are read whole in pieces of one byte, as robots.txt and pages are', async () => {
    const trickled =
      (make: () => string | Uint8Array, headers = {}): Route =>
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html', ...headers })
        const body = Buffer.from(make())
        for (let at = 0; at < body.length; at++) response.write(body.subarray(at, at + 1))
        response.end()
      }
    const names = Array.from({ length: 40 }, (_, i) => `/page-${String(i).padStart(2, '0')}`)
    const started = await siteOf((url) => ({
      '/robots.txt': trickled(() => `User-agent: *\nDisallow: /page-07\nSitemap: ${url('/map.xml')}\n`),
      '/map.xml': trickled(() => gzipSync(urlset(...names.map((name) => url(name)))), {
        'content-encoding': 'gzip',
      }),
      '/': trickled(() => 'home'),
      ...Object.fromEntries(names.map((name) => [name, trickled(() => `<title>${name}</title>`)])),
    }))
    const { pages, summary } = await crawl(quick.seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', ...names.filter((name) => name !== '/page-07')])
    expect(summary).toMatchObject({ sitemaps: 1, failed: 0 })
    expect(pages.find(({ url }) => url.endsWith('/page-13'))?.title).toBe('/page-13')
  })

  test('keep the visit interval of the host that has them, which may be another', async () => {
    const started = await siteOf((url) => ({
      '/robots.txt': (request, response) => {
        const own = request.headers.host?.startsWith('127.0.0.1:') ? `Sitemap: ${url('/map.xml', OTHER)}` : ''
        response.writeHead(200, { 'content-type': 'text/plain' }).end(own)
      },
      '/map.xml': xml(urlset(url('/p1'), url('/p2'))),
      '/': 'x',
      '/p1': 'a',
      '/p2': 'b',
    }))
    const { pages } = await crawl(quick.delay(120).allowPrivate('all').seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/p1', '/p2'])
    for (const host of ['127.0.0.1', OTHER]) {
      const times = started.requests.filter((each) => each.host === host).map(({ at }) => at)
      for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(119)
    }
    expect(started.requests.filter(({ host }) => host === OTHER).map(({ path }) => path)).toEqual([
      '/robots.txt',
      '/map.xml',
    ])
  })

  test('follow redirects, and come again after a failure', async () => {
    let asked = 0
    const started = await siteOf((url) => ({
      '/robots.txt': `sitemap: ${url('/moved.xml')}`,
      '/moved.xml': { status: 301, headers: { location: '/map.xml' } },
      '/map.xml': (_, response) => {
        if (++asked === 1) response.writeHead(503).end()
        else response.writeHead(200, { 'content-type': 'text/xml' }).end(urlset(url('/found')))
      },
      '/': 'x',
      '/found': 'f',
    }))
    const { pages, summary } = await crawl(quick.retries({ backoff: 20 }).seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/found'])
    expect(summary).toMatchObject({ sitemaps: 1, redirects: 1, retries: 1, failed: 0 })
  })

  test('are bounded, and can be left alone', async () => {
    const started = await siteOf((url) => ({
      '/robots.txt': `Sitemap: ${url('/map.xml')}`,
      '/map.xml': xml(urlset(...Array.from({ length: 50 }, (_, i) => url(`/p${i}`)))),
      '/': 'x',
      ...Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`/p${i}`, 'p'])),
    }))
    const bounded = await crawl(quick.sitemaps({ urlsPerHost: 7 }).seeds(started.url()))
    expect(bounded.pages).toHaveLength(8)
    const alone = await crawl(quick.sitemaps(false).seeds(started.url()))
    expect(alone.pages).toHaveLength(1)
    const seedsOnly = await crawl(quick.depth(0).seeds(started.url()))
    expect(seedsOnly.pages).toHaveLength(1)
  })

  test('that are none, or broken, harm nobody', async () => {
    const started = await siteOf((url) => ({
      '/robots.txt': ['/404.xml', '/html', '/cut.xml.gz'].map((path) => `Sitemap: ${url(path)}`).join('\n'),
      '/html': '<title>not a sitemap</title><a href="/never">n</a>',
      '/cut.xml.gz': xml(gzipSync(urlset(url('/saved'), url('/lost'))).subarray(0, -30), 'application/gzip'),
      '/': 'x',
      '/saved': 's',
    }))
    const { pages, failures } = await crawl(quick.seeds(started.url()))
    expect(pathsOf(pages)).toContain('/')
    expect(pathsOf(pages)).not.toContain('/never')
    expect(failures.map(({ url, code }) => [new URL(url).pathname, code])).toContainEqual([
      '/404.xml',
      'http-status',
    ])
  })
})

test('/sitemap.xml is asked for by wish', async () => {
  const started = await siteOf((url) => ({
    '/': 'x',
    '/sitemap.xml': xml(urlset(url('/found'))),
    '/found': 'f',
  }))
  expect((await crawl(quick.seeds(started.url()))).pages).toHaveLength(1)
  const { pages } = await crawl(quick.sitemaps({ wellKnown: true }).seeds(started.url()))
  expect(pathsOf(pages)).toEqual(['/', '/found'])
})

describe('a chain of robots.txt and sitemaps', () => {
  test('over ever new hosts ends at the first', async () => {
    const asked: string[] = []
    const fetch = ({ url }: { url: string }) => {
      asked.push(url)
      const { hostname, pathname } = new URL(url)
      const next = `http://h${Number(hostname.slice(1, hostname.indexOf('.'))) + 1}.evil.example/s.xml`
      const body = pathname === '/robots.txt' ? `Sitemap: ${next}` : pathname === '/s.xml' ? urlset() : 'x'
      const type = pathname.endsWith('.xml') ? 'application/xml' : 'text/html'
      return { ...htmlOutcome(body), headers: new Map([['content-type', type]]) }
    }
    await crawl(quick.fetcher(fetch).seeds('http://h0.evil.example/'))
    expect(asked.map((url) => url.replace('.evil.example', '')).sort()).toEqual([
      'http://h0/',
      'http://h0/robots.txt',
      'http://h1/robots.txt',
      'http://h1/s.xml',
    ])
  })

  test('is read once a page of the next host is', async () => {
    const started = await siteOf((url) => ({
      '/robots.txt': (request, response) => {
        const isFirst = request.headers.host!.startsWith('127.0.0.1:')
        response.end(`Sitemap: ${isFirst ? url('/first.xml', OTHER) : url('/second.xml', OTHER)}`)
      },
      '/first.xml': xml(urlset(url('/named', OTHER))),
      '/second.xml': xml(urlset(url('/named-later', OTHER))),
      '/': 'x',
      '/named': 'n',
      '/named-later': 'l',
    }))
    const { pages } = await crawl(quick.allowPrivate('all').scope('all').seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/named', '/named-later'])
  })
})

test('sitemaps beyond what a host may give are not even fetched', async () => {
  const maps = Array.from({ length: 30 }, (_, i) => `/m${i}.xml`)
  const started = await siteOf((url) => ({
    '/robots.txt': maps.map((path) => `Sitemap: ${url(path)}`).join('\n'),
    ...Object.fromEntries(
      maps.map((path, i) => [path, xml(urlset(...[1, 2, 3, 4, 5].map((n) => url(`/p${i}-${n}`))))]),
    ),
    '/': 'x',
  }))
  const { summary } = await crawl(quick.sitemaps({ urlsPerHost: 10 }).retries(0).seeds(started.url()))
  expect(summary.sitemaps).toBeLessThanOrEqual(6)
  const shallow = await crawl(quick.depth(0).seeds(started.url()))
  expect(shallow.summary.sitemaps).toBe(0)
})

test('a sitemap that nobody named is not missed', async () => {
  const started = await site({ '/': 'x' })
  const { failures, summary } = await crawl(quick.sitemaps({ wellKnown: true }).seeds(started.url()))
  expect(failures).toEqual([])
  expect(summary).toMatchObject({ failed: 0, statuses: { 404: 2 } })
})
