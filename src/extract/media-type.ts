/**
 * The media type of a body whose Content-Type is missing or wrong. It sniffs the first bytes, based on the MIME Sniffing
 * Standard, and is as cautious: it overrides a type only if the bytes leave no doubt.
 *
 * - No type: recognizes markup, feeds, XML and known binary formats; other binary data is `application/octet-stream`;
 *   other text stays without a type.
 * - `text/html` and `application/xhtml+xml`: recognizes binary formats (images, PDF, archives), so that they are not
 *   scanned for links; under `text/html` also feeds and sitemaps.
 * - `text/plain`: recognizes binary formats only. Text that looks like markup stays text, as in a browser: the page may
 *   show source code.
 * - `application/octet-stream`: recognizes documents that start with an HTML doctype or `<html>`, which browsers do not,
 *   but servers without a table of types send them; and binary formats.
 * - Every other type is trusted.
 */

import { isSpace } from './html/characters.js'

/** The resource header: the bytes that are sniffed. */
const GLANCE_BYTES = 512

const HTML = 'text/html'
const PLAIN = 'text/plain'
const OCTETS = 'application/octet-stream'
/** Types that browsers treat as unknown. */
const NO_TYPES = new Set(['', 'unknown/unknown', 'application/unknown', '*/*'])

/** The essence of a Content-Type value, in lower case without parameters; '' if there is none. */
export function declaredType(contentType: string | null | undefined): string {
  // A custom fetcher may pass a `Headers` object, which returns null.
  if (contentType === undefined || contentType === null) return ''
  const end = contentType.search(/[;,]/)
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/**
 * The media type of a body, given the declared one.
 *
 * @example
 * sniffedType('text/html', pdfBytes)  // 'application/pdf'
 * sniffedType('', htmlBytes)          // 'text/html'
 */
export function sniffedType(declared: string, body: Uint8Array): string {
  if (body.length === 0) return declared
  switch (declared) {
    case HTML:
      if (beginsPlainly(body)) return HTML
      return binaryType(body) ?? feedType(glance(body)) ?? HTML
    case 'application/xhtml+xml':
    case PLAIN:
      return binaryType(body) ?? declared
    case OCTETS:
      return binaryType(body) ?? (BEGINS_DOCUMENT.test(afterPrologue(glance(body))) ? HTML : OCTETS)
    default:
      return NO_TYPES.has(declared) ? unknownType(body) : declared
  }
}

const BANG = 0x21
const LESS_THAN = 0x3c
const CAPITAL_D = 0x44
const CAPITAL_H = 0x48

/** `<!d` or `<h`, in any case: nearly every page, and the quick way out. */
function beginsPlainly(body: Uint8Array): boolean {
  if (body[0] !== LESS_THAN) return false
  const isDoctype = body[1] === BANG && (body[2]! & ~0x20) === CAPITAL_D
  return isDoctype || (body[1]! & ~0x20) === CAPITAL_H
}

function unknownType(body: Uint8Array): string {
  if (beginsPlainly(body)) return HTML
  const binary = binaryType(body)
  if (binary !== undefined) return binary
  const text = glance(body)
  const feed = feedType(text)
  if (feed !== undefined) return feed
  if (BEGINS_HTML.test(text)) return HTML
  if (text.startsWith('<?xml')) return BEGINS_DOCUMENT.test(afterPrologue(text)) ? HTML : 'text/xml'
  return !isMarked(body) && HAS_BINARY.test(text) ? OCTETS : ''
}

/** The resource header as text, one character per byte, without a byte order mark and leading white space. */
function glance(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, GLANCE_BYTES)).toString(
    'latin1',
  )
  return text.replace(/^(?:\xef\xbb\xbf)?[\t\n\f\r ]+|^\xef\xbb\xbf/, '')
}

function isMarked(body: Uint8Array): boolean {
  return (body[0] === 0xfe && body[1] === 0xff) || (body[0] === 0xff && body[1] === 0xfe)
}

/** Skips comments, processing instructions and declarations up to the first element or an HTML doctype. */
function afterPrologue(text: string): string {
  let at = 0
  while (text.startsWith('<!', at) || text.startsWith('<?', at)) {
    if (BEGINS_DOCUMENT.test(text.slice(at))) break
    const end = text.startsWith('<!--', at) ? '-->' : '>'
    const close = text.indexOf(end, at + 2)
    if (close === -1) return ''
    at = close + end.length
    while (isSpace(text.charCodeAt(at))) at++
  }
  return text.slice(at)
}

const BEGINS_DOCUMENT = /^<(?:!doctype html|html)[\s>]/i
const ELEMENTS = 'html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link'
const BEGINS_HTML = new RegExp(String.raw`^<(?:!doctype html|(?:${ELEMENTS})(?=[\s>/])|!--)`, 'i')
const FEED = /^<(rss|feed|rdf:RDF|urlset|sitemapindex)[\s>]/
/** Binary data bytes. Escape is not one of them: ISO-2022-JP uses it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the bytes to find
const HAS_BINARY = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/

const FEED_TYPES: Readonly<Record<string, string>> = {
  rss: 'application/rss+xml',
  feed: 'application/atom+xml',
  'rdf:RDF': 'application/rss+xml',
  urlset: 'application/xml',
  sitemapindex: 'application/xml',
}

function feedType(text: string): string | undefined {
  const root = FEED.exec(afterPrologue(text))?.[1]
  return root === undefined ? undefined : FEED_TYPES[root]
}

type Signature = readonly [bytes: string, mediaType: string, inner?: string]

/** Byte patterns, one character per byte: the start of the body and, for some, what follows at offset 8. */
const SIGNATURES: readonly Signature[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['RIFF', 'image/webp', 'WEBPVP'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['PK\x03\x04', 'application/zip'],
  ['PK\x05\x06', 'application/zip'],
  ['\x1f\x8b\x08', 'application/gzip'],
  ['Rar!\x1a\x07', 'application/x-rar-compressed'],
  ["7z\xbc\xaf'\x1c", 'application/x-7z-compressed'],
  ['\xfd7zXZ\0', 'application/x-xz'],
  ['\x28\xb5\x2f\xfd', 'application/zstd'],
  ['RIFF', 'audio/wave', 'WAVEfmt'],
  ['RIFF', 'video/avi', 'AVI LIST'],
  ['OggS\0', 'application/ogg'],
  ['ID3\x03', 'audio/mpeg'],
  ['ID3\x04', 'audio/mpeg'],
  ['fLaC\0', 'audio/flac'],
  ['\x1a\x45\xdf\xa3', 'video/webm'],
  ...['\x14', '\x18', '\x1c', ' '].map((size): Signature => [`\0\0\0${size}ftyp`, 'video/mp4']),
  ['wOFF\0', 'font/woff'],
  ['wOF2\0', 'font/woff2'],
  ['\x7fELF', OCTETS],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'application/x-ole-storage'],
]
const LONGEST_SIGNATURE = 16
const INNER_AT = 8
/** The first bytes of all patterns; most text is ruled out here. */
const FIRST_BYTES = new Set(SIGNATURES.map(([bytes]) => bytes.charCodeAt(0)))

function binaryType(body: Uint8Array): string | undefined {
  if (!FIRST_BYTES.has(body[0]!)) return undefined
  const length = Math.min(body.length, LONGEST_SIGNATURE)
  const head = Buffer.from(body.buffer, body.byteOffset, length).toString('latin1')
  return SIGNATURES.find(
    ([bytes, , inner = '']) => head.startsWith(bytes) && head.startsWith(inner, INNER_AT),
  )?.[1]
}
