/** The first thing that anybody tries must work: a seed in, all pages of its site out, each once. */

import { Crawler, type Summary } from 'kumo'
import { describe, expect, test } from 'vitest'
import { askedPaths, crawl, linkedPages, linksTo, pathsOf, quick, site } from './support.js'

describe('a crawl of a small site', () => {
  test('fetches every page once, after robots.txt', async () => {
    const { url, requests } = await site(linkedPages(12))
    const { pages, summary } = await crawl(quick.seeds(url()))
    const asked = requests.map(({ path }) => path)
    expect(asked[0]).toBe('/robots.txt')
    expect(asked.slice(1).sort()).toEqual(Object.keys(linkedPages(12)).sort())
    expect(pathsOf(pages)).toEqual(Object.keys(linkedPages(12)).sort())
    expect(summary).toMatchObject({
      reason: 'done',
      pages: 12,
      robots: 1,
      failed: 0,
      failures: {},
      redirects: 0,
      retries: 0,
      statuses: { 200: 12, 404: 1 },
      known: 12,
      pending: 0,
      inFlight: 0,
      hosts: 0,
      hostsVisited: 1,
      skipped: 0,
    } satisfies Partial<Summary>)
    expect(summary.bytes).toBeGreaterThan(0)
    expect(summary.elapsedMs).toBeGreaterThan(0)
    expect(summary.pagesPerSecond).toBeCloseTo((12 * 1000) / summary.elapsedMs, 1)
  })

  test('works with nothing but a seed', async () => {
    const { url } = await site({ '/': '<title>Home</title>' })
    const summary = await new Crawler().seeds(url()).run()
    expect(summary).toMatchObject({ reason: 'done', pages: 1 })
  })

  test('a page tells where it came from and what it holds', async () => {
    const { url } = await site({
      '/': '<title> The\n start </title><a href="next#part" rel="next">go</a>',
      '/next': '<title>Next</title><p>Read <b>this</b>.</p>',
    })
    const { pages } = await crawl(quick.seeds(url()))
    const [start, next] = pages
    expect(start).toMatchObject({
      url: url('/'),
      title: 'The start',
      depth: 0,
      parent: undefined,
      status: 200,
    })
    expect(start!.links).toEqual([{ url: url('/next'), tag: 'a', rel: 'next', text: 'go' }])
    expect(next).toMatchObject({ url: url('/next'), title: 'Next', depth: 1, parent: url('/'), attempt: 0 })
    expect(next!.document.querySelector('b')?.textContent).toBe('this')
    expect(next!.text).toContain('Read this.')
    expect(next!.mediaType).toBe('text/html')
    expect(next!.headers.get('content-type')).toContain('text/html')
  })

  test('of a body that nobody wants only the headers are read', async () => {
    const { url } = await site({
      '/': linksTo('/photo', '/page'),
      '/photo': { headers: { 'content-type': 'image/png' }, body: new Uint8Array(1000) },
      '/page': 'end',
    })
    const { pages, skips, summary } = await crawl(quick.seeds(url()))
    expect(pathsOf(pages)).toEqual(['/', '/page'])
    expect(skips).toMatchObject([{ url: url('/photo'), reason: 'media-type', parent: url('/') }])
    expect(summary.skips).toEqual({ 'media-type': 1 })
  })

  test('the same page under many spellings is one page', async () => {
    const pages = { '/': linksTo('/a', '/a#x', '/./a', '/b/../a', '/%61', '/a?', ' /a '), '/a': 'end' }
    const started = await site(pages)
    await crawl(quick.seeds(started.url(), `${started.url()}#top`))
    expect(askedPaths(started)).toEqual(['/', '/a'])
  })

  test('links lead where a browser would go, also those that look alike', async () => {
    const routes: Record<string, string> = {
      '/a/': linksTo('httpd/one', '../b/', 'same'),
      '/b/': linksTo('httpd/one', '../c/', 'same'),
      '/c/': '',
      ...Object.fromEntries(
        ['/a/httpd/one', '/b/httpd/one', '/a/same', '/b/same', '/'].map((path) => [path, 'end']),
      ),
    }
    const started = await site(routes)
    // The home page is linked as many sites do it: by the bare origin.
    routes['/c/'] = linksTo(new URL(started.url()).origin)
    const { pages } = await crawl(quick.seeds(started.url('/a/')))
    expect(pathsOf(pages)).toEqual(Object.keys(routes).sort())
  })

  test('sends the user agent and the headers that it was given', async () => {
    const { url, requests } = await site({ '/': 'end' })
    await quick
      .userAgent('Tester/2 (+https://example.com/)')
      .headers({ 'X-One': '1' })
      .headers({ 'X-Two': '2' })
      .seeds(url())
      .run()
    expect(requests.map(({ path }) => path)).toEqual(['/robots.txt', '/'])
    for (const { headers } of requests) {
      expect(headers).toMatchObject({
        'user-agent': 'Tester/2 (+https://example.com/)',
        'x-one': '1',
        'x-two': '2',
      })
    }
  })
})

describe('data', () => {
  test('fields and extractors together make page.data, and links of an extractor are followed', async () => {
    const { url } = await site({ '/': '<h1>One</h1>', '/hidden': '<h1>Two</h1>' })
    const { pages } = await crawl(
      quick
        .seeds(url())
        .extract({ heading: (page) => page.document.querySelector('h1')?.textContent })
        .extract({ size: async (page) => page.body.length })
        .extract({ name: 'finder', extract: (page) => ({ links: ['/hidden'], data: { from: page.url } }) }),
    )
    expect(pages.map(({ data }) => data)).toEqual([
      { heading: 'One', size: 12, from: url('/') },
      { heading: 'Two', size: 12, from: url('/hidden') },
    ])
  })

  test('an extractor gets the media types that it names', async () => {
    const { url } = await site({
      '/': linksTo('/data.json', '/style.css'),
      '/data.json': '{"n":1}',
      '/style.css': 'a{}',
    })
    const { pages, skips } = await crawl(
      quick.seeds(url()).extract({
        name: 'json',
        mediaTypes: ['application/json'],
        extract: (page) => ({ data: JSON.parse(page.content) as { n: number } }),
      }),
    )
    expect(pages.map(({ url, data }) => [new URL(url).pathname, data])).toEqual([
      ['/', {}],
      ['/data.json', { n: 1 }],
    ])
    expect(skips.map(({ reason }) => reason)).toEqual(['media-type'])
  })

  test('extractors and hooks are opened before the first page and closed after the last', async () => {
    const { url } = await site(linkedPages(3))
    const story: string[] = []
    const told = (word: string) => () => void story.push(word)
    await quick
      .seeds(url())
      .extract({
        name: 'e',
        open: told('extractor opens'),
        extract: () => {},
        close: told('extractor closes'),
      })
      .use({ name: 'h', open: told('hook opens'), page: told('page'), close: told('hook closes') })
      .on('end', told('end'))
      .run()
    expect(story).toEqual([
      'extractor opens',
      'hook opens',
      ...Array(3).fill('page'),
      'hook closes',
      'extractor closes',
      'end',
    ])
  })
})
