import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { pageOf } from '../../src/conformance/page.js'
import { declaredType, sniffedType } from '../../src/extract/media-type.js'
import { cpuMs } from '../cpu-time.js'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const PNG = latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')
const PDF = latin1('%PDF-1.7\n<a href="/x">')
const RSS = '<?xml version="1.0"?>\n<!-- made -->\n<rss version="2.0"><channel>'

describe('declaredType', () => {
  const cases: [contentType: string | null | undefined, mediaType: string][] = [
    [undefined, ''],
    [null, ''],
    ['', ''],
    ['Text/HTML', 'text/html'],
    [' text/html ; charset=utf-8', 'text/html'],
    ['text/html, text/html', 'text/html'],
    [';', ''],
  ]
  it.for(cases)('%o → %s', ([contentType, mediaType]) => {
    expect(declaredType(contentType)).toBe(mediaType)
  })
})

describe('sniffedType', () => {
  const cases: [declared: string, body: Uint8Array | string, mediaType: string][] = [
    // What is true stays.
    ['text/html', '<!doctype html><p>', 'text/html'],
    ['text/html', '<HTML>', 'text/html'],
    ['text/html', '<p>PK', 'text/html'],
    ['text/html', 'PK is a pair of letters', 'text/html'],
    ['text/html', 'Words only', 'text/html'],
    ['text/html', '', 'text/html'],
    ['text/html', '\ufeff \n<!DOCTYPE html>', 'text/html'],
    ['text/html', '<?xml version="1.0"?><!DOCTYPE html><html>', 'text/html'],
    ['text/html', '<!-- <rss> --><p>', 'text/html'],
    ['text/html', '<p><rss>', 'text/html'],
    ['text/html', '<rssfeed>', 'text/html'],
    ['text/css', '<!doctype html>', 'text/css'],
    ['application/json', PNG, 'application/json'],
    ['application/xml', RSS, 'application/xml'],

    // Binary data under a name of text.
    ['text/html', PNG, 'image/png'],
    ['text/html', PDF, 'application/pdf'],
    ['text/html', gzipSync('<!doctype html>'), 'application/gzip'],
    ['text/html', latin1('PK\x03\x04\x14\0'), 'application/zip'],
    ['text/html', latin1('\xff\xd8\xff\xe0'), 'image/jpeg'],
    ['text/html', latin1('GIF89a'), 'image/gif'],
    ['text/html', latin1('RIFF\x24\0\0\0WEBPVP8 '), 'image/webp'],
    ['text/html', latin1('\0\0\0\x18ftypmp42'), 'video/mp4'],
    ['application/xhtml+xml', PDF, 'application/pdf'],
    ['text/plain', PDF, 'application/pdf'],
    ['application/octet-stream', PNG, 'image/png'],

    // Feeds and sitemaps under a name of HTML.
    ['text/html', RSS, 'application/rss+xml'],
    ['text/html', '\n<feed xmlns="http://www.w3.org/2005/Atom">', 'application/atom+xml'],
    ['text/html', '<?xml version="1.0"?><rdf:RDF xmlns="x">', 'application/rss+xml'],
    ['text/html', '<?xml version="1.0"?><urlset xmlns="x">', 'application/xml'],

    // Markup under other names: browsers show text/plain as it is.
    ['text/plain', '<!doctype html><p>', 'text/plain'],
    ['application/octet-stream', '\n<!-- x --> <!DOCTYPE html>', 'text/html'],
    ['application/octet-stream', '\n<!DOCTYPE html>', 'text/html'],
    ['application/octet-stream', '<!-- x --><html lang=en>', 'text/html'],
    ['application/octet-stream', '<p>', 'application/octet-stream'],

    // No type.
    ['', '<!doctype html>', 'text/html'],
    ['', ' <title>Tea</title>', 'text/html'],
    ['', '<!-- x -->', 'text/html'],
    ['', '<abbr>', ''],
    ['', 'words', ''],
    ['', '<?xml version="1.0"?><note>', 'text/xml'],
    ['', '<?xml version="1.0"?><html>', 'text/html'],
    ['', RSS, 'application/rss+xml'],
    ['', PNG, 'image/png'],
    ['', latin1('\x01\x02\x03'), 'application/octet-stream'],
    ['', latin1('\x1b$B$*Cc\x1b(B'), ''],
    ['', latin1('\xff\xfea\0'), ''],
    ['*/*', '<html>', 'text/html'],
  ]
  it.for(cases)('%s with %o is %s', ([declared, body, mediaType]) => {
    expect(sniffedType(declared, Buffer.from(body as string))).toBe(mediaType)
  })

  it('glances at the beginning only', () => {
    const late = Buffer.from(`<!--${' '.repeat(600)}--><rss>`)
    expect(sniffedType('text/html', late)).toBe('text/html')
  })

  it('takes bounded time for a hostile beginning', () => {
    const started = cpuMs()
    for (const piece of ['<!--', '<?', '<!a', ' ', '<!---->', '<?>', '<!a>'])
      for (const declared of ['text/html', '', 'application/octet-stream'])
        sniffedType(declared, Buffer.from(` ${piece.repeat(2000)}`))
    expect(cpuMs() - started).toBeLessThan(5000)
  })
})

describe('page.mediaType', () => {
  const page = (contentType: string, body: Uint8Array) =>
    pageOf({ url: 'https://example.com/', body, headers: { 'content-type': contentType } })

  it('is the true one, and binary data is not searched for links', () => {
    const lie = page('text/html', PDF)
    expect([lie.mediaType, lie.links, lie.title]).toEqual(['application/pdf', [], ''])
    expect(() => lie.document).toThrow('is application/pdf')
  })

  it('makes a page of HTML that was sent as bytes', () => {
    const truth = page('application/octet-stream', Buffer.from('<!doctype html><a href="/x">'))
    expect([truth.mediaType, truth.links.length]).toEqual(['text/html', 1])
  })
})
