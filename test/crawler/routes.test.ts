/** `routes()`: each page goes to one handler. */

import type { Page } from 'kumo'
import { describe, expect, test } from 'vitest'
import { crawl, direct, linksTo, pathsOf, site } from './support.js'

describe('routes', () => {
  test('by label, then by pattern, then to the default', async () => {
    const { url } = await site({
      '/list': linksTo('/detail/1', '/blog/a/b', '/other'),
      '/detail/1': 'end',
      '/blog/a/b': 'end',
      '/blog/labelled': 'end',
      '/other': 'end',
    })
    const called: string[] = []
    const note = (route: string) => (page: Page) => void called.push(`${route} ${new URL(page.url).pathname}`)
    const crawler = direct.seeds({ url: url('/list'), label: 'list' }).routes({
      list: (page) => {
        note('list')(page)
        page.follow('/detail/1', { label: 'detail' })
        page.follow('/blog/labelled', { label: 'detail' })
      },
      '/blog/**': note('/blog/**'),
      '/**': note('too late'),
    })
    const { failures, summary } = await crawl(
      crawler.routes({ detail: note('detail'), default: note('default') }),
    )
    expect(failures).toEqual([])
    expect(summary.pages).toBe(5)
    expect(called.sort()).toEqual([
      '/blog/** /blog/a/b',
      'detail /blog/labelled',
      'detail /detail/1',
      'list /list',
      'too late /other',
    ])
  })

  test('labels that objects have anyway are no routes', async () => {
    const { url } = await site({ '/': 'end' })
    const called: string[] = []
    const { failures } = await crawl(
      direct
        .seeds({ url: url(), label: 'constructor' })
        .routes({ default: (page) => void called.push(page.request.label!) }),
    )
    expect([called, failures]).toEqual([['constructor'], []])
  })

  test('a page without a route is reported, and its links are followed', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const called: string[] = []
    const { pages, failures, summary } = await crawl(
      direct.seeds({ url: url(), label: 'detial' }).routes({ '/a': (page) => void called.push(page.url) }),
    )
    expect(pathsOf(pages)).toEqual(['/', '/a'])
    expect(called).toEqual([url('/a')])
    expect(failures).toMatchObject([{ url: url(), code: 'no-route', request: { label: 'detial' } }])
    expect(failures[0]!.message).toContain('detial')
    expect(summary.failures).toEqual({ 'no-route': 1 })
  })

  test.each([
    ['throws', () => raise()],
    ['rejects', async () => raise()],
  ])('a route that %s fails its page, and the crawl goes on', async (_, handler) => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const { pages, failures } = await crawl(direct.seeds(url()).routes({ '/': handler, default: () => {} }))
    expect(pathsOf(pages)).toEqual(['/', '/a'])
    expect(failures).toMatchObject([{ url: url(), code: 'hook-failed', cause: { message: 'boom' } }])
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'routes: got undefined'],
    ['no handler', {}, 'routes: got no handler'],
    ['what is no function', { list: 'x' }, "routes['list']: got 'x'"],
    ['a pattern that is none', { '/{a': () => {} }, 'no matching'],
  ])('%s is refused', (_, given, message) => {
    expect(() => direct.routes(given as never)).toThrow(message)
  })
})

function raise(): never {
  throw new Error('boom')
}
