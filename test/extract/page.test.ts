import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { pageOf } from '../../src/conformance/page.js'
import { FetchedPage, isMarkup } from '../../src/extract/page.js'

const URL_OF_PAGE = 'https://example.com/shop/tea.html?cup=1'
const html = (body: string) => pageOf({ url: URL_OF_PAGE, body })
const typed = (contentType: string, body = 'x') =>
  pageOf({ url: URL_OF_PAGE, body, headers: { 'Content-Type': contentType } })

describe('FetchedPage', () => {
  it('says what was asked and what came back', () => {
    const request = {
      url: 'https://example.com:8443/a',
      host: 'example.com:8443',
      depth: 2,
      priority: 1,
      attempt: 3,
      redirects: 1,
      parent: 'https://example.com:8443/',
    }
    const headers = { get: () => 'text/plain', entries: () => [] }
    const body = Buffer.from('plain')
    const response = { ok: true, status: 203, headers, body, wireBytes: 4, skippedBody: false } as const
    const page = new FetchedPage(request, response, { fetchedAt: 1000, fetchMs: 12 })
    const { url, host, depth, attempt, parent } = request
    expect(page).toMatchObject({ url, host, depth, attempt, parent, status: 203, wireBytes: 4 })
    expect(page).toMatchObject({
      headers,
      body,
      content: 'plain',
      text: 'plain',
      fetchedAt: 1000,
      fetchMs: 12,
    })
    expect([page.data, page.links, page.title]).toEqual([{}, [], ''])
  })

  const types: [contentType: string, mediaType: string, markup: boolean][] = [
    ['text/html', 'text/html', true],
    ['Text/HTML ; charset=utf-8', 'text/html', true],
    ['application/xhtml+xml;charset=utf-8', 'application/xhtml+xml', true],
    ['', '', true],
    ['text/plain', 'text/plain', false],
    ['application/json', 'application/json', false],
    ['image/svg+xml', 'image/svg+xml', false],
  ]
  it.for(types)('reads the media type of %o', ([contentType, mediaType, markup]) => {
    expect(typed(contentType).mediaType).toBe(mediaType)
    expect(isMarkup(mediaType)).toBe(markup)
  })

  it('takes a page without a type for HTML', () => {
    const page = pageOf({ url: URL_OF_PAGE, body: '<title>Tea</title><a href=x>', headers: {} })
    expect([page.mediaType, page.title, page.links.length]).toEqual(['text/html', 'Tea', 1])
  })

  const titles: [markup: string, title: string][] = [
    ['<title>Tea</title>', 'Tea'],
    ['<title>\n Fine  &amp; rare\tteas </title>', 'Fine & rare teas'],
    ['<title>First</title><title>Second</title>', 'First'],
    ['<p>none', ''],
    ['<title></title>', ''],
  ]
  it.for(titles)('reads the title of %o', ([markup, title]) => {
    expect(html(markup).title).toBe(title)
  })

  const links: [what: string, markup: string, urls: string[]][] = [
    ['a relative link', '<a href="x">', ['https://example.com/shop/x']],
    ['a path', '<a href="/x">', ['https://example.com/x']],
    ['a query', '<a href="?cup=2">', ['https://example.com/shop/tea.html?cup=2']],
    ['another host', '<a href="//example.org/x#y">', ['https://example.org/x']],
    ['the page itself', '<a href="#top">', [URL_OF_PAGE]],
    [
      'other schemes and invalid URLs',
      '<a href="mailto:a@b.c"><a href="javascript:x()"><a href="https://[bad">',
      [],
    ],
    ['a base', '<base href="/docs/"><a href="x">', ['https://example.com/docs/x']],
    ['a base after the link', '<a href="x"><base href="/docs/">', ['https://example.com/docs/x']],
    [
      'a base on another host',
      '<base href="https://example.org/a/b"><a href="x">',
      ['https://example.org/a/x'],
    ],
    ['a base that is no web address', '<base href="data:x"><a href="x">', ['https://example.com/shop/x']],
    [
      'each once, in order',
      '<a href="b"><a href="a"><a href="b#c"><a href="./b">',
      ['https://example.com/shop/b', 'https://example.com/shop/a'],
    ],
  ]
  it.for(links)('resolves links: %s', ([, markup, urls]) => {
    expect(html(markup).links.map(({ url }) => url)).toEqual(urls)
  })

  it('says where a link stood', () => {
    const page = html('<link rel="next" href="a"><a rel="nofollow me" href="b"><iframe src="c"></iframe>')
    expect(page.links.map(({ tag, rel }) => [tag, rel])).toEqual([
      ['link', 'next'],
      ['a', 'nofollow me'],
      ['iframe', undefined],
    ])
  })

  it('finds no links in other media types', () => {
    expect(typed('text/plain', '<title>T</title><a href="x">')).toMatchObject({ title: '', links: [] })
  })

  it('has new links once more were added, even after an earlier access', () => {
    const page = html('<a href="a">') as FetchedPage
    expect(page.links).toHaveLength(1)
    page.found = page.found.with([{ href: 'b', tag: 'plugin' }])
    expect(page.links.map(({ url }) => url)).toEqual([
      'https://example.com/shop/a',
      'https://example.com/shop/b',
    ])
  })

  const robots: [content: string, noindex: boolean, nofollow: boolean][] = [
    ['', false, false],
    ['index, follow', false, false],
    ['noindex', true, false],
    ['nofollow', false, true],
    ['NoIndex,NoFollow', true, true],
    ['noindex nofollow', true, true],
    ['none', true, true],
    ['max-snippet:-1, noindex', true, false],
    ['noindexing', false, false],
  ]
  it.for(robots)('understands robots meta %o', ([content, noindex, nofollow]) => {
    expect(html(`<meta name="Robots" content="${content}">`).robots).toEqual({ noindex, nofollow })
  })

  it('adds up what several robots meta elements ask for', () => {
    const page = html('<meta name=robots content=noindex><meta name=robots content=nofollow>')
    expect(page.robots).toEqual({ noindex: true, nofollow: true })
    expect(html('<p>').robots).toEqual({ noindex: false, nofollow: false })
  })

  it('makes the text without scripts, and leaves other types as they are', () => {
    expect(html('<p>Tea &amp; cake<script>x</script><p>Milk').text).toBe('Tea & cake\nMilk')
    expect(typed('text/plain', 'a <b> &amp;').text).toBe('a <b> &amp;')
  })

  it('finds the main content once, and leaves other types as they are', () => {
    const page = html('<base href="/b/"><nav>Menu</nav><main><h1>Tea</h1><p>Hot, <a href=c>cup</a>.</main>')
    expect(page.main).toBe('Tea\nHot, cup.')
    expect(page.markdown).toBe('# Tea\n\nHot, [cup](https://example.com/b/c).')
    expect(page.main).toBe(page.main)
    const plain = typed('text/plain', 'a <b>\n&amp;')
    expect([plain.main, plain.markdown]).toEqual(['a <b>\n&amp;', 'a <b>\n&amp;'])
  })

  it('finds the main content of XHTML', () => {
    const page = typed(
      'application/xhtml+xml',
      '<html><body><p>a<![CDATA[<b>]]></p><div/><p>c</p></body></html>',
    )
    expect([page.main, page.markdown]).toEqual(['a<b>\nc', 'a\\<b>\n\nc'])
  })

  it('says which field could not be read of a page that is too large', () => {
    const page = html('<br>'.repeat(250_001))
    const error = (field: string) =>
      expect.objectContaining({
        code: 'KUMO_NO_DOCUMENT',
        message: expect.stringContaining(`page.${field}: ${URL_OF_PAGE} has more than`),
      })
    expect(() => page.main).toThrow(error('main'))
    expect(() => page.markdown).toThrow(error('markdown'))
  })

  it('builds the DOM once', () => {
    const page = html('<ul><li>one<li>two</ul>')
    expect(Array.from(page.document.querySelectorAll('li')).map((li) => li.textContent)).toEqual([
      'one',
      'two',
    ])
    expect(page.document).toBe(page.document)
  })

  it.for(['', ' ', '<', 'plain text', '<!-- only -->', '</p>'])('has a DOM for %o', (markup) => {
    expect(html(markup).document.querySelectorAll('a')).toHaveLength(0)
  })

  it('throws for the DOM of other media types', () => {
    const touch = () => typed('application/pdf').document
    expect(touch).toThrow(expect.objectContaining({ name: 'KumoError', code: 'KUMO_NO_DOCUMENT' }))
    expect(touch).toThrow(`${URL_OF_PAGE} is application/pdf`)
  })

  it('does not load linkedom before a DOM is asked for', () => {
    const project = fileURLToPath(new URL('../..', import.meta.url))
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'test/extract/dom/loads-dom-late.ts'],
      { cwd: project, encoding: 'utf8' },
    )
    expect(stderr).toBe('')
    const touched = ['Tea', 1, 'x', 36, false]
    expect(JSON.parse(stdout)).toEqual({ touched, before: false, title: 'Tea', after: true })
  })
})

describe('a page that is printed', () => {
  it('shows which page it is, and not its content', () => {
    const page = pageOf({ url: 'https://a.example/1', body: '<title>A</title>' })
    expect(JSON.parse(JSON.stringify(page))).toMatchObject({
      url: 'https://a.example/1',
      status: 200,
      request: { method: 'GET', priority: 0 },
    })
    expect(inspect(page)).toMatch(/^Page \{[\s\S]*url: 'https:\/\/a.example\/1'/)
  })
})

describe('the Refresh header', () => {
  const links = (refresh: string, body = '<base href="https://other.example/"><a href="a">') =>
    pageOf({
      url: 'https://example.com/dir/',
      body,
      headers: { 'content-type': 'text/html', refresh },
    }).links.map(({ url, tag }) => [tag, url])
  const A = ['a', 'https://other.example/a']

  it('leads where a meta element would, but from the page itself: a base comes later', () => {
    expect(links('0; url=next')).toEqual([A, ['meta-refresh', 'https://example.com/dir/next']])
    expect(links("5;URL='https://h.example/x'")).toEqual([A, ['meta-refresh', 'https://h.example/x']])
  })

  it('that names no URL, or none that leads to a page, is no link', () => {
    for (const refresh of ['5', '', 'x;url=y', '0;url=mailto:a@b.c']) expect(links(refresh)).toEqual([A])
  })

  it('counts on pages without markup', () => {
    const headers = { 'content-type': 'text/plain', refresh: '0;url=/x' }
    const page = pageOf({ url: 'https://example.com/', body: 'moved', headers })
    expect(page.links.map(({ url }) => url)).toEqual(['https://example.com/x'])
  })
})

describe('a base of another scheme', () => {
  const links = (base: string) =>
    pageOf({
      url: 'https://example.com/dir/',
      body: `<base href="${base}"><a href="a"><a href="/b"><a href="?c"><a href="#d"><a href=""><a href="../e"><a href="//h.example/"><a href="https://h.example/f">`,
    }).links.map(({ url }) => url)

  it('makes no links of relative ones', () => {
    for (const base of [
      'ftp://h.example/',
      'mailto:a@b.c',
      'file:///x/',
      'about:blank',
      'blob:https://h.example/1',
    ]) {
      expect(links(base), base).toEqual(['https://h.example/f'])
    }
  })

  it('that may not be a base, or cannot be read, counts for nothing', () => {
    for (const base of ['data:,x', 'javascript:x', 'https://[', 'JavaScript:']) {
      expect(links(base)[0], base).toBe('https://example.com/dir/a')
    }
  })
})
