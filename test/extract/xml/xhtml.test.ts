/** Pages that are sent as `application/xhtml+xml`, which browsers read as XML. */

import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import { scan, titleOf } from '../../../src/extract/html/scanner.js'
import { scanXml } from '../../../src/extract/xml/scanner.js'

const XHTML = 'application/xhtml+xml'
const page = (body: string, type = XHTML) =>
  pageOf({ url: 'http://site.example/', body, headers: { 'content-type': type } })
const paths = (body: string, type = XHTML) =>
  page(body, type).links.map(({ url }) => url.slice('http://site.example'.length))
const whole = (head: string, body: string, doctype = '') =>
  `<?xml version="1.0" encoding="UTF-8"?>${doctype}<html xmlns="http://www.w3.org/1999/xhtml"><head>${head}<title>T</title></head><body>${body}<a href="/after">x</a></body></html>`

describe('XHTML', () => {
  const EMPTY = [
    'script',
    'style',
    'textarea',
    'iframe',
    'xmp',
    'noembed',
    'noframes',
    'plaintext',
    'template',
  ]
  it.each([...EMPTY, 'title', 'noscript', 'svg', 'math', 'select'])('<%s/> is a whole element', (name) => {
    const body = whole('', `<${name}/>`)
    expect(paths(body)).toEqual(['/after'])
    expect(page(body).text).toBe('x')
    expect(page(body).document.querySelector('body > a')?.getAttribute('href')).toBe('/after')
    // In HTML the slash means nothing, and the rest of the page is text of the element.
    if (EMPTY.slice(0, -1).includes(name)) expect(paths(body, 'text/html')).toEqual([])
  })

  it('an empty title is the title', () => {
    const body =
      '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><a href="/x"/></body></html>'
    expect([page(body).title, ...paths(body)]).toEqual(['', '/x'])
  })

  const cases: [what: string, body: string, found: string[]][] = [
    ['CDATA is text', '<![CDATA[<a href="/no">]]>', []],
    ['CDATA with brackets', '<![CDATA[ ]] ]> <a href="/no"> ]]>', []],
    ['a comment', '<!-- <a href="/no"> -->', []],
    ['a comment that begins with >', '<!--> <a href="/no"/> -->', []],
    ['an instruction ends in ?>', '<?php echo "<a href=\'/no\'>" ?>', []],
    [
      'a script holds markup, unless it is in CDATA',
      '<script>//<![CDATA[\nif (a<b) "</script><a href=/no>"\n//]]></script>',
      [],
    ],
    [
      'elements in elements that hold text in HTML',
      '<xmp><a href="/in"/></xmp><iframe src="/f"><a href="/g"/></iframe>',
      ['/in', '/f', '/g'],
    ],
    ['names in capitals are other names', '<A href="/no"/><a HREF="/no"/>', []],
    ['references of XML', '<a href="/?a=1&amp;b=&#50;&#x33;&apos;"/>', ['/?a=1&b=23%27']],
    ['names of HTML', '<a href="/&eacute;&nbsp;"/>', ['/%C3%A9%C2%A0']],
    ['numbers of control characters are no signs of windows-1252', '<a href="/&#128;"/>', ['/%C2%80']],
    ['white space in a value is a blank', '<a href="/a\nb"/><a href="/c&#10;d"/>', ['/a%20b', '/cd']],
    ['values in single quotes', "<a title='>' href='/q'/>", ['/q']],
    ['a prefix for XHTML', '<h:a xmlns:h="http://www.w3.org/1999/xhtml" href="/p"/>', ['/p']],
    ['a prefix for something else', '<h:a xmlns:h="urn:x" href="/no"/>', []],
    ['an element of another namespace', '<a xmlns="urn:x" href="/no"><a href="/no2"/></a>', []],
    ['an element of no namespace', '<a xmlns="" href="/no"/>', []],
    [
      'SVG',
      '<svg xmlns="http://www.w3.org/2000/svg"><a href="/s"/><title>no</title><link href="/no"/></svg>',
      ['/s'],
    ],
    [
      'XLink',
      '<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><a l:href="/s"/><a href="/t" l:href="/no"/></svg>',
      ['/s', '/t'],
    ],
    ['XLink in XHTML', '<a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="/no"/>', []],
    [
      'an area, a frame, a refresh',
      '<area href="/a"/><frame src="/f"/><meta http-equiv="Refresh" content="0;url=/r"/>',
      ['/a', '/f', '/r'],
    ],
  ]
  it.for(cases)('%s', ([, body, found]) => {
    const read = page(whole('', body))
    expect(read.links.map(({ url }) => url.slice('http://site.example'.length))).toEqual([...found, '/after'])
    expect(read.title).toBe('T')
  })

  it('reads title, base, robots and canonical URL', () => {
    const body = whole(
      '<title>A &amp; <![CDATA[<B>]]>\n C</title><base href="/dir/"/><meta name="robots" content="nofollow"/><link rel="canonical" href="c"/>',
      '<link rel="canonical" href="no"/><template><title>no</title><base href="/no/"/></template>',
    )
    const { title, canonical, robots, links } = page(body)
    expect([title, canonical, robots]).toEqual([
      'A & <B> C',
      'http://site.example/dir/c',
      { noindex: false, nofollow: true },
    ])
    expect(links[0]?.url).toBe('http://site.example/dir/c')
  })

  it('only a link in the head declares a canonical URL', () => {
    expect(page(whole('', '<link rel="canonical" href="/no"/>')).canonical).toBeUndefined()
  })

  it('knows entities that the document declares, within bounds', () => {
    const doctype = `<!DOCTYPE html [<!-- ] > --><!ENTITY dir "/d'&#62;"><!ENTITY dir "/no"><!ENTITY big "${'x'.repeat(1000)}">]>`
    expect(paths(whole('', '<a href="&dir;"/>', doctype))).toEqual(["/d'%3E", '/after'])
    const nested = '<!DOCTYPE html [<!ENTITY a "/x"><!ENTITY b "&a;&a;&#38;">]>'
    expect(paths(whole('', '<a href="&b;"/>', nested))).toEqual(['/x/x&', '/after'])
    // Some 4 MB, if it were written out. As HTML the names mean nothing.
    const many = page(whole('', `<a href="/${'&big;'.repeat(4000)}"/>`, doctype))
    expect(many.links[0]?.url.length).toBeLessThan(100_000)
  })

  const broken: [what: string, body: string, found: string[]][] = [
    ['an end tag is missing', '<p><a href="/a">x</a>', ['/a', '/after']],
    ['an end tag too many', '</p><a href="/a">x</a>', ['/a', '/after']],
    ['an ampersand', '<a href="/?a=1&b=2">x</a>', ['/?a=1&b=2', '/after']],
    ['an unknown name', '<a href="/a">&nosuch;</a>', ['/a', '/after']],
    ['a value without quotes', '<a href=/a>x</a>', ['/a', '/after']],
    ['an attribute twice', '<a href="/a" href="/b">x</a>', ['/a', '/after']],
    ['a bare <', '<p>a < b</p>', ['/after']],
    ['a script as in HTML', '<script>if (a<b && "<a href=/no>") ;</script>', ['/after']],
    ['an empty script before it', '<script src="a.js"/><textarea/><title/><p>', ['/after']],
    ['CDATA before it', '<![CDATA[<a href="/no">]]><p>', ['/after']],
  ]
  it.for(broken)(
    'not well-formed, it is read as HTML in which empty tags are empty: %s',
    ([, body, found]) => {
      expect(paths(whole('<style/>', body))).toEqual(found)
      expect(page(whole('<style/>', body)).text).toMatch(/x$/)
    },
  )

  it('is read up to a quarter of a million tags and attributes', () => {
    const body = (count: number) => whole('', '<p a="b"/>'.repeat(count))
    expect(paths(body(2 ** 17 - 1000))).toEqual(['/after'])
    expect(paths(body(2 ** 17))).toEqual([])
  })

  it('that ends early keeps what was read', () => {
    expect(paths('<html xmlns="http://www.w3.org/1999/xhtml"><script/><a href="/a"/><a href="/b')).toEqual([
      '/a',
    ])
  })

  it('is XHTML even without a namespace declaration', () => {
    expect(paths('<html><script/><a href="/a"/></html>')).toEqual(['/a'])
  })
})

const SITE = new URL('../../../../shared/sites/postgresql.tar.gz', import.meta.url)

describe.skipIf(!existsSync(SITE))(
  'real pages that are XML (skipped where ../shared/sites is absent)',
  () => {
    it('say the same, read as XML and as HTML', () => {
      const pages = pagesOf(gunzipSync(readFileSync(SITE))).slice(0, 200)
      expect(pages.length).toBeGreaterThan(100)
      for (const html of pages) {
        const asXml = scanXml(html, undefined, 0)!.scan
        const asHtml = scan(html)
        expect([...asXml.links]).toEqual([...asHtml.links])
        expect([asXml.base, titleOf(asXml), asXml.robots]).toEqual([
          asHtml.base,
          titleOf(asHtml),
          asHtml.robots,
        ])
      }
    })
  },
)

/** The pages of an archive: its records are of 512 bytes, and each file follows its header. */
function pagesOf(tar: Buffer): string[] {
  const pages: string[] = []
  for (let at = 0; at < tar.length; ) {
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8) || 0
    const name = tar.toString('latin1', at, at + 100)
    if (/\.html\0/.test(name)) pages.push(tar.toString('utf8', at + 512, at + 512 + size))
    at += 512 + 512 * Math.ceil(size / 512)
  }
  return pages
}
