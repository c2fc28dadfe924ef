/**
 * The lines of a robots.txt, read as Google's parser reads them. The files are written by hand, so most of
 * this is tolerance: any line end, half a byte order mark, a missing colon, a misspelled field.
 *
 * Text is handled as a string of bytes (one character for each byte of its UTF-8 form), because rules are compared with
 * URLs byte by byte, and a file in another charset must not lose the bytes that its URLs carry.
 */

/** RFC 9309 (2.5) requires at least 500 KiB; the rest is ignored. */
export const MAX_TEXT_BYTES = 500 * 1024

/** A longer line is read up to here, as Google's parser does: eight times the longest URL that browsers once took. */
const MAX_LINE_BYTES = 2083 * 8 - 1

/** The fields that are read. Others are skipped and do not end a group. */
export type Field = 'agent' | 'allow' | 'disallow' | 'delay' | 'sitemap'

type Spelling = readonly [beginning: string, field: Field]

/**
 * How the names of fields begin, in lower case, by their first letter. Common misspellings are
 * accepted, and what follows the name is ignored, both as in Google's parser.
 */
const SPELLINGS: Readonly<Record<string, readonly Spelling[]>> = {
  u: [
    ['user-agent', 'agent'],
    ['useragent', 'agent'],
    ['user agent', 'agent'],
  ],
  a: [['allow', 'allow']],
  d: [
    ['disallow', 'disallow'],
    ['dissallow', 'disallow'],
    ['dissalow', 'disallow'],
    ['disalow', 'disallow'],
    ['diasllow', 'disallow'],
    ['disallaw', 'disallow'],
  ],
  c: [
    ['crawl-delay', 'delay'],
    ['crawldelay', 'delay'],
    ['crawl delay', 'delay'],
  ],
  s: [
    ['sitemap', 'sitemap'],
    ['site-map', 'sitemap'],
  ],
}

const LONGEST_SPELLING = 'crawl-delay'.length

/** A byte order mark, the beginning of one, or what a decoder made of a broken one. */
const MARK = /^(?:\xef\xbf\xbd|\xef(?:\xbb\xbf?)?)/

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const TWO_WORDS = /^([^ \t]+)[ \t]+[^ \t]+$/
const NOT_ASCII = /[^\0-\x7f]/

/**
 * The part of a robots.txt that is read, as a string of bytes without byte order mark. If the text is longer, the last
 * line of the part is dropped, because half a rule could mean the opposite.
 */
export function byteText(text: string | Uint8Array): string {
  let bytes = typeof text === 'string' ? bytesOf(text.slice(0, MAX_TEXT_BYTES + 1)) : fromBytes(text)
  if (text.length > MAX_TEXT_BYTES || bytes.length > MAX_TEXT_BYTES) {
    bytes = bytes.slice(0, MAX_TEXT_BYTES)
    bytes = bytes.slice(0, Math.max(bytes.lastIndexOf('\n'), bytes.lastIndexOf('\r')) + 1)
  }
  return bytes.replace(MARK, '')
}

/**
 * Calls `visit` for each line with a known field. Values have no comments and no surrounding white space. Lines that
 * cannot start with a field are skipped without copying them: a file may have 100,000.
 */
export function readLines(bytes: string, visit: (field: Field, value: string) => void): void {
  let start = 0
  for (let i = 0; i <= bytes.length; i++) {
    const code = i < bytes.length ? bytes.charCodeAt(i) : LINE_FEED
    if (code !== LINE_FEED && code !== CARRIAGE_RETURN) continue
    while (start < i && isSpace(bytes.charCodeAt(start))) start++
    const spellings = start < i ? SPELLINGS[bytes[start]!.toLowerCase()] : undefined
    if (spellings !== undefined) readLine(bytes.slice(start, i), spellings, visit)
    start = i + 1
  }
}

function readLine(
  line: string,
  spellings: readonly Spelling[],
  visit: (field: Field, value: string) => void,
): void {
  const name = line.slice(0, LONGEST_SPELLING).toLowerCase()
  const spelling = spellings.find(([beginning]) => name.startsWith(beginning))
  if (spelling === undefined) return
  const [beginning, field] = spelling
  const comment = line.indexOf('#')
  const content = trimmed(line.slice(0, Math.min(comment < 0 ? line.length : comment, MAX_LINE_BYTES)))
  const end = nameEnd(content)
  if (end >= beginning.length) visit(field, trimmed(content.slice(end + 1)))
}

/** Decodes a string of bytes, as a copy that does not keep the file in memory. */
export function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
}

/** A string of bytes for a string of characters. */
export function bytesOf(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text
}

function fromBytes(bytes: Uint8Array): string {
  const start = bytes.subarray(0, MAX_TEXT_BYTES + 1)
  // Not UTF-8, as the standard requires, but still readable.
  if (start[0] === 0xff && start[1] === 0xfe) return bytesOf(new TextDecoder('utf-16le').decode(start))
  if (start[0] === 0xfe && start[1] === 0xff) return bytesOf(new TextDecoder('utf-16be').decode(start))
  return Buffer.from(start.buffer, start.byteOffset, start.length).toString('latin1')
}

/** Where the name ends: at the colon, or, if it is missing, between two words if there are exactly two. */
function nameEnd(content: string): number {
  const colon = content.indexOf(':')
  return colon >= 0 ? colon : (TWO_WORDS.exec(content)?.[1]?.length ?? -1)
}

/** Trims ASCII white space only; `trim` would also remove bytes of letters. */
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}
