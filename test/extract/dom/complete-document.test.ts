import { parse, serialize } from 'parse5'
import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'

const documentOf = (body: string) => pageOf({ url: 'https://example.com/', body }).document

/** Without the differences that are none: case of the doctype, white space between elements. */
const tidy = (html: string) =>
  html
    .replace(/<!doctype html>/i, '')
    .replace(/>\s+</g, '><')
    .replace(/\s+</g, '<')

const CASES: string[] = [
  '',
  ' ',
  'plain',
  'plain <b>bold</b>',
  '<p>a</p><p>b</p>',
  '<title>T</title><p>x</p>',
  '<title>T</title>text<meta charset="utf-8">',
  '<!doctype html><title>T</title><meta charset="utf-8"><p>x</p>',
  '<!doctype html><meta charset="utf-8"><title>T</title><link rel="icon" href="x"><script>1</script><h1>x</h1><script>2</script>',
  '<html><title>T</title><p>x</p></html>',
  '<html><head><title>T</title></head><p>x</p></html>',
  '<html lang="de"><body class="c"><p>x</p></body></html>',
  '<html><head><title>T</title></head><body><p>x</p></body></html>',
  '<html>\n<head>\n<title>T</title>\n</head>\n<body>\n<p>x</p>\n</body>\n</html>',
  '<head><title>T</title></head><body><p>x</p></body>',
  '<body><p>x</p></body>',
  '<html><head></head><body><p>x</p></body></html><p>late</p>',
  '<html><head></head><frameset></frameset></html>',
]

describe('completeDocument', () => {
  it.for(CASES)('makes of %o what browsers make', (html) => {
    const { documentElement } = documentOf(html)
    expect(tidy(documentElement.outerHTML)).toBe(tidy(serialize(parse(html))))
  })

  it('lets head, title and body be found, and looking does not change them', () => {
    const document = documentOf('<title>Tea</title><link rel=next href=x><p>Text')
    const before = String(document)
    expect([document.title, document.body.innerHTML, document.head.children.length]).toEqual([
      'Tea',
      '<p>Text</p>',
      2,
    ])
    expect(String(document)).toBe(before)
  })

  it('takes pages with very many elements outside the body', () => {
    expect(documentOf('<p>x</p>'.repeat(100_000)).body.childNodes.length).toBe(100_000)
  })

  it('keeps comments outside where they are', () => {
    expect(String(documentOf('<!-- a --><p>x</p><!-- b -->'))).toContain('<body><p>x</p>')
  })
})
