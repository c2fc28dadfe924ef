import { describe, expect, it } from 'vitest'
import { namedReferences } from '../../../src/extract/html/entity-names.js'
import { refreshUrl } from '../../../src/extract/html/meta-refresh.js'
import { cpuMs } from '../../cpu-time.js'
import { scan } from './scan-both-ways.js'

const hrefs = (html: string) => scan(html).links.map((link) => link.href)

describe('what a scan finds', () => {
  it('finds links of every kind, in document order', () => {
    const html = `
      <link rel="Canonical" href="/c"><meta http-equiv="refresh" content="3; url='/r'">
      <a href="/a" rel="nofollow noopener">x</a><map><area href=/b></map>
      <iframe src="/f"><a href="/not-a-link"></iframe><frame src='/g'>`
    expect(scan(html).links).toEqual([
      { href: '/c', tag: 'link', rel: 'Canonical' },
      { href: '/r', tag: 'meta-refresh', rel: undefined },
      { href: '/a', tag: 'a', rel: 'nofollow noopener' },
      { href: '/b', tag: 'area', rel: undefined },
      { href: '/f', tag: 'iframe', rel: undefined },
      { href: '/g', tag: 'frame', rel: undefined },
    ])
  })

  it('finds nothing in nothing', () => {
    for (const html of ['', 'text', '<', '</', '<!', '<a', '<a href=x', '<a name=x>', '<iframe>']) {
      expect(scan(html), html).toEqual({ links: [], base: undefined, title: undefined, robots: undefined })
    }
  })

  it('takes the first base that has an href', () => {
    expect(scan('<base target=_top><base href="/a&amp;b/"><base href=/c/>').base).toBe('/a&b/')
  })

  it('joins what several robots meta elements say', () => {
    const html = '<meta name=Robots content=noindex><meta name=robots><meta content="nofollow" name="robots">'
    expect(scan(html).robots).toBe('noindex,nofollow')
  })

  it.each([
    ['<title> A &amp; B \n\t C </title>', 'A & B C'],
    ['<title>first</title><title>second</title>', 'first'],
    ['<title></title><title>second</title>', ''],
    ['<svg><title>icon</title></svg><title>page</title>', 'page'],
    ['<template><title>part</title></template><title>page</title>', 'page'],
    ['<title><b>not bold</b></title>', '<b>not bold</b>'],
    ['<title>a</titles></TITLE >', 'a</titles>'],
    ['<title>open to the end', 'open to the end'],
    ['<title>&copy=1 &notit; a\0b', '\u00a9=1 \u00acit; a\ufffdb'],
  ])('reads the title of %j', (html, title) => {
    expect(scan(html).title).toBe(title)
  })
})

describe('a link behind other attributes', () => {
  it.each([
    ['plain ones', '<a class="b" title="" href="/x">'],
    ['the same in capitals', '<A CLASS="b" HREF="/x">'],
    ['capitals and then another', '<a class="b" HREF="/x" href="/y">'],
    ['one that begins like it', '<a hreflang="en" href="/x">'],
    ['one that ends like it', '<a data-href="/y" xhref="/y" href="/x">'],
    ['one with digits and hyphens', '<a data-a1="b" href="/x">'],
    ['one without value', '<a class="b" download href="/x">'],
    ['one without quotes', '<a class="b" id=c href="/x">'],
    ['one in single quotes', `<a class="b" id='"' href="/x">`],
    ['one that contains a tag', '<a class="b" title="> href=" href="/x">'],
    ['one with spaces around the equals sign', '<a class="b" id = "c" href="/x">'],
    ['one without a space behind it', '<a class="b"href="/x">'],
    ['more than one space', '<a class="b"  href="/x">'],
    ['a line break', '<a class="b"\nhref="/x">'],
    ['a slash', '<a class="b"/href="/x">'],
    ['a quote in a name', '<a class="b" "="c" href="/x">'],
    ['without quotes itself', '<a class="b" href=/x>'],
    ['in single quotes itself', `<a class="b" href='/x'>`],
  ])('is found: %s', (_, html) => {
    expect(hrefs(`${html}<a class="b" href="/z">`)).toEqual(['/x', '/z'])
  })

  it.each([
    ['in a value', '<a class="b" href="/x'],
    ['behind a value', '<a class="b" href="/x"'],
    ['in an earlier value', '<a class="b href=/x>'],
    ['in a name', '<a class="b" hre'],
    ['behind an equals sign', '<a class="b" id='],
    ['behind a space', '<a class="b" '],
  ])('is not found if the page ends %s', (_, html) => {
    expect(hrefs(`<a class="b" href="/z">${html}`)).toEqual(['/z'])
  })
})

describe('what hides a link', () => {
  it.each([
    ['a comment', '<!-- <a href=x> -->'],
    ['a comment that never ends', '<!-- <a href=x>'],
    ['a script', '<script>"<a href=x>"</script>'],
    ['a script in a script’s comment', '<script><!--<script></script><a href=x>--></script>'],
    ['a style', '<style><a href=x></style>'],
    ['a textarea', '<textarea><a href=x></textarea>'],
    ['a title', '<title><a href=x></title>'],
    ['a quoted value', '<div title="<a href=x>">'],
    ['a quoted value of an end tag', '</div title="<a href=x>">'],
    ['a value with a > in it', '<img alt=">" x="<a href=x>">'],
    ['a bogus comment', '<!x <a href=x>'],
    ['a processing instruction', '<?x <a href=x>'],
    ['plaintext', '<plaintext></plaintext><a href=x>'],
    ['CDATA in SVG', '<svg><![CDATA[<a href=x>]]></svg>'],
    ['a name that only begins with a', '<abbr href=x><article href=x>'],
    ['a longer attribute name', '<a hrefs=x data-href=y>'],
  ])('%s', (_, html) => {
    expect(hrefs(html)).toEqual([])
  })

  it.each([
    ['noscript', '<noscript><a href=x></noscript>'],
    ['template', '<template><a href=x></template>'],
    ['SVG', '<svg><a href=x></a></svg>'],
    ['a style of SVG', '<svg><style><a href=x></a></style></svg>'],
    ['CDATA outside SVG, which ends at the first >', '<![CDATA[ > <a href=x> ]]>'],
    ['after an empty comment', '<!--><a href=x>-->'],
    ['after a comment that ends in --!>', '<!-- --!><a href=x>-->'],
    ['after a quote that opens no value', '<div "><a href=x>'],
    ['after a value that begins with =', '<div =">"><a href=x>'],
  ])('%s does not', (_, html) => {
    expect(hrefs(html)).toEqual(['x'])
  })
})

describe('values', () => {
  it.each([
    ['"a&amp;b"', 'a&b'],
    ['?a=1&copy=2', '?a=1&copy=2'],
    ['"?a=1&copy;=2"', '?a=1\u00a9=2'],
    ['"&copy"', '\u00a9'],
    ['"&copyright"', '&copyright'],
    ['"&notin;&notit;"', '\u2209&notit;'],
    ['"&#47;&#x2f&#X2F;"', '///'],
    ['"&#128;&#x99;&#x81;"', '\u20ac\u2122\u0081'],
    ['"&#0;&#xd800;&#x110000;&#99999999999;"', '\ufffd\ufffd\ufffd\ufffd'],
    ['"&#;&#x;&;&"', '&#;&#x;&;&'],
    ['"a\0b\r\nc\rd\te"', 'a\ufffdb\nc\nd\te'],
    ["'\"'", '"'],
    ['/a/', '/a/'],
    ['', ''],
  ])('href=%s is %j', (written, value) => {
    expect(hrefs(`<a href=${written}>`)).toEqual([value])
  })

  it('knows every named reference', () => {
    const { byName, withoutSemicolon } = namedReferences()
    expect([byName.size, withoutSemicolon.size]).toEqual([2125, 106])
  })
})

describe('meta refresh', () => {
  it.each([
    ['5; url=x', 'x'],
    ['5;URL = "x" y', 'x'],
    ["0;'x", 'x'],
    ['0,x', 'x'],
    ['0 x', 'x'],
    ['.5;x', 'x'],
    ['1.5.5 ; url=x', 'x'],
    ['0;url', 'url'],
    ['0;ur=x', 'ur=x'],
    ['0;u', 'u'],
    ['0;url x', 'url x'],
    ['0; url=x ', 'x '],
    ['5', undefined],
    ['5;', undefined],
    ['5;url=', undefined],
    ["5;url=''", undefined],
    ['5x;url=x', undefined],
    ['x;url=x', undefined],
    ['', undefined],
  ])('%j leads to %j', (content, url) => {
    expect(refreshUrl(content)).toBe(url)
  })
})

describe('hostile pages', () => {
  const COUNT = 100_000
  const HOSTILE: Record<string, (count: number) => string> = {
    'unterminated comments': (count) => '<!-- '.repeat(count),
    'comments with the rare ending': (count) => '<!----!>'.repeat(count),
    'a comment of hyphens': (count) => `<!--${'-'.repeat(count)}`,
    'unterminated scripts': (count) => '<script>'.repeat(count),
    'scripts in a comment in a script': (count) => `<script>${'<!--<script></script>'.repeat(count)}`,
    'escapes in a script': (count) => `<script>${'<!---->'.repeat(count)}`,
    'almost the end of a script': (count) => `<script>${'</scrip'.repeat(count)}`,
    'almost the end of a title': (count) => `<title>${'</titl'.repeat(count)}`,
    quotes: (count) => '<a href="'.repeat(count),
    bases: (count) => '<base '.repeat(count),
    metas: (count) => '<meta http-equiv refresh '.repeat(count),
    'attributes on one tag': (count) => `<a${' href=x'.repeat(count)}>`,
    'a long attribute': (count) => `<a href="${'x'.repeat(10 * count)}">`,
    'a long attribute of ampersands': (count) => `<a href="${'&'.repeat(10 * count)}">`,
    'a long attribute of references': (count) => `<a href="${'&amp;&lt;&#1'.repeat(count)}">`,
    'a long number': (count) => `<a href="&#${'9'.repeat(10 * count)}">`,
    'a long name of a reference': (count) => `<a href="&${'a'.repeat(10 * count)}">`,
    'a title of spaces': (count) => `<title>${' '.repeat(10 * count)}`,
    'a long refresh': (count) => `<meta http-equiv=refresh content="1${' '.repeat(10 * count)}">`,
    'nested elements': (count) => '<div>'.repeat(count),
    'nested SVG': (count) => '<svg>'.repeat(count) + '</math>'.repeat(count),
    'nested SVG and HTML': (count) => '<svg><desc>'.repeat(count) + '</mi></desc>'.repeat(count),
    'nested MathML and SVG': (count) =>
      `<math><mi>${'<svg><title>'.repeat(count)}<template>${'</mi>'.repeat(count)}`,
    'nested templates': (count) => '<template><svg>'.repeat(count) + '</template>'.repeat(count),
    'CDATA that never ends': (count) => `<svg>${'<![CDATA['.repeat(count)}`,
    'CDATA that is none': (count) => '<![CDATA['.repeat(count),
    'less-thans': (count) => '<'.repeat(10 * count),
    slashes: (count) => `<a${'/'.repeat(10 * count)}`,
    'spaces in a tag': (count) => `<a x${' '.repeat(10 * count)}`,
    'bogus end tags': (count) => '</ '.repeat(count),
  }

  /** A scan of 2 MB takes some 10 ms; one that goes back over the page takes minutes. */
  const FAR_TOO_LONG_MS = 5_000

  it.each(Object.keys(HOSTILE))('%s take linear time', (name) => {
    const html = HOSTILE[name]!(COUNT)
    const started = cpuMs()
    scan(html)
    expect(cpuMs() - started).toBeLessThan(FAR_TOO_LONG_MS)
  })
})
