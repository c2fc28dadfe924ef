import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import type { FetchedPage } from '../../../src/extract/page.js'
import { encode } from './encode.js'

const links = (body: Uint8Array | string, contentType: string) =>
  pageOf({ url: 'https://example.com/dir/', body, headers: { 'content-type': contentType } }).links.map(
    ({ url }) => url.slice('https://example.com'.length),
  )

describe('queries of links are written in the charset of the page', () => {
  const cases: [charset: string, href: string, url: string][] = [
    ['shift_jis', '/s?q=日本', '/s?q=%93%FA%96{'],
    ['euc-jp', '/s?q=日本', '/s?q=%C6%FC%CB%DC'],
    ['iso-2022-jp', '/s?q=&#26085;&#26412;&amp;x', '/s?q=%1B$BF|K\\%1B(B&x'],
    ['gbk', '?q=中文', '/dir/?q=%D6%D0%CE%C4'],
    ['gb18030', '?q=中&#x1f600;', '/dir/?q=%D6%D0%949%FC6'],
    ['big5', 's?q=中文', '/dir/s?q=%A4%A4%A4%E5'],
    ['euc-kr', '/s?q=한국', '/s?q=%C7%D1%B1%B9'],
    ['windows-1251', '/s?q=пр', '/s?q=%EF%F0'],
    ['koi8-r', '/s?q=пр', '/s?q=%D0%D2'],
    ['windows-1252', '/?x=ä', '/?x=%E4'],
    ['iso-8859-15', '/you?c=&euro;', '/you?c=%A4'],
    ['iso-8859-2', '/ž?q=ž', '/%C5%BE?q=%BE'],
    // Only queries: paths are UTF-8 everywhere. Fragments are not part of a URL here.
    ['windows-1252', '/ä', '/%C3%A4'],
    ['windows-1252', '/a#?ä', '/a'],
    ['windows-1252', '/a?b#ä', '/a?b'],
    // What the charset does not have is sent as browsers send it in a form.
    ['windows-1252', '/?x=Ж', '/?x=%26%231046%3B'],
    ['windows-1252', '/?x=&#x1f600;', '/?x=%26%23128512%3B'],
    ['windows-1251', '/?a=1&amp;b=<é>', '/?a=1&b=%3C%26%23233%3B%3E'],
    // Escapes that were written are left alone.
    ['shift_jis', '/s?q=%E6%97%A5日', '/s?q=%E6%97%A5%93%FA'],
    ['shift_jis', '/s?a=1&b=2', '/s?a=1&b=2'],
  ]
  it.for(cases)('%s: %s', ([charset, href, url]) => {
    const written = charset === 'windows-1252' ? href.replace('Ж', '&#1046;') : href.replace('é', '&#233;')
    expect(links(encode(`<a href="${written}">`, charset), `text/html; charset=${charset}`)).toEqual([url])
  })

  it('in UTF-8 on pages of UTF-8 and UTF-16', () => {
    const html = '<a href="/?q=日">'
    expect(links(html, 'text/html; charset=utf-8')).toEqual(['/?q=%E6%97%A5'])
    expect(links(Buffer.from(html, 'utf16le'), 'text/html; charset=utf-16le')).toEqual(['/?q=%E6%97%A5'])
  })

  it('also of bases, canonical URLs, frames and refreshes', () => {
    const body = encode(
      '<base href="/b/?q=ä"><link rel=canonical href="?c=ä"><iframe src="?i=ä"></iframe><meta http-equiv=refresh content="0;url=?r=ä"><a href="">',
      'windows-1252',
    )
    const headers = { 'content-type': 'text/html; charset=windows-1252' }
    const page = pageOf({ url: 'https://example.com/', body, headers }) as FetchedPage
    expect(page.base).toBe('https://example.com/b/?q=%E4')
    expect(page.canonical).toBe('https://example.com/b/?c=%E4')
    expect(page.links.map(({ url }) => url.slice('https://example.com/b/'.length))).toEqual([
      '?c=%E4',
      '?i=%E4',
      '?r=%E4',
      '?q=%E4',
    ])
  })
})
