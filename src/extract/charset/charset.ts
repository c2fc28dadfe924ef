/**
 * Decodes bytes. The encoding comes, in this order, from the byte order mark, Content-Type, a declaration in the first
 * kilobyte of the markup, UTF-8 if the bytes are valid UTF-8, a later declaration, and finally a guess. Browsers use the
 * same order, except for UTF-8 before a late declaration: no text is valid UTF-8 by chance.
 */

import { isAscii, isUtf8 } from 'node:buffer'
import type { EncodedText } from '../html/codes.js'
import { decoderFor, decodeWith } from './decoders.js'
import { guessEncoding } from './guess.js'
import { charsetOf } from './header.js'
import { metaEncoding, xmlEncoding } from './prescan.js'

/** The bytes of the HTML Standard's prescan. */
const PRESCAN_BYTES = 1024
/** Browsers reload the page if a declaration follows later. It is in the head, and heads end before this. */
const LATE_BYTES = 64 * 1024

/** Encodings in which ASCII characters are not always one byte of the same value: their pages are decoded first. */
const WITHOUT_ASCII: ReadonlySet<string> = new Set(['utf-16le', 'utf-16be', 'iso-2022-jp', 'replacement'])

/** The text of a body. It is decoded when it is read: a crawl that only follows links needs little of it. */
export class DecodedText implements EncodedText {
  readonly #bytes: Buffer
  #text: string | undefined
  #latin1: string | undefined
  /** Name in the Encoding Standard, in lower case, e.g. `utf-8`. */
  readonly charset: string
  /** True if all bytes are ASCII, so that the bytes are the codes of the text. */
  readonly ascii: boolean

  constructor(bytes: Buffer, charset: string) {
    this.#bytes = bytes
    this.charset = charset
    this.ascii = charset === 'utf-8' && isAscii(bytes)
  }

  get text(): string {
    this.#text ??= this.ascii ? this.latin1 : decodeWith(decoderFor(this.charset)!, this.#bytes)
    return this.#text
  }

  /** Whether markup can be found in the bytes: every byte below 0x80 that is not part of a character is ASCII. */
  get hasAsciiMarkup(): boolean {
    return this.ascii || !WITHOUT_ASCII.has(this.charset)
  }

  /** One character for each byte. */
  get latin1(): string {
    this.#latin1 ??= this.#bytes.toString('latin1')
    return this.#latin1
  }

  /** The text of some bytes, which must begin and end with whole characters. */
  slice(start: number, end: number): string {
    // A byte order mark is one at the beginning of the body only, so the decoder must not remove it here.
    if (this.charset === 'utf-8') return this.#bytes.toString('utf8', start, end)
    return decodeWith(decoderFor(this.charset)!, this.#bytes.subarray(start, end))
  }
}

/** Decodes a body. Every body results in a text. */
export function decodeBytes(body: Uint8Array, contentType: string | undefined): DecodedText {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return new DecodedText(bytes, encodingOf(bytes, contentType))
}

function encodingOf(bytes: Buffer, contentType: string | undefined): string {
  const certain = byteOrderMark(bytes) ?? headerEncoding(contentType)
  if (certain !== undefined) return certain
  const declared = declaredEncoding(bytes, contentType, PRESCAN_BYTES)
  if (declared !== undefined) return declared
  if (hasJapaneseEscape(bytes)) return 'iso-2022-jp'
  if (isUtf8(bytes)) return 'utf-8'
  return declaredEncoding(bytes, contentType, LATE_BYTES) ?? guessEncoding(bytes)
}

/** The encoding that the first `limit` bytes declare, by the rules of HTML or, if it is XML, by those of XML. */
export function declaredEncoding(
  bytes: Buffer,
  contentType: string | undefined,
  limit: number,
): string | undefined {
  const wide = wideMarkup(bytes)
  if (wide !== undefined) return wide
  const text = bytes.toString('latin1', 0, limit)
  if (contentType !== undefined && XML_TYPE.test(contentType)) return xmlEncoding(text) ?? metaEncoding(text)
  return metaEncoding(text) ?? xmlEncoding(text)
}

const XML_TYPE = /^[^;]*[/+]xml\b/i

/** The encoding of the byte order mark, if there is one. */
export function byteOrderMark(bytes: Buffer): string | undefined {
  switch (bytes[0]) {
    case 0xef:
      return bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined
    case 0xfe:
      return bytes[1] === 0xff ? 'utf-16be' : undefined
    case 0xff:
      return bytes[1] === 0xfe ? 'utf-16le' : undefined
    default:
      return undefined
  }
}

/** `<` and another character in two bytes each: UTF-16 without a byte order mark, which no declaration can name. */
function wideMarkup(bytes: Buffer): string | undefined {
  if (bytes[0] === LESS_THAN)
    return bytes[1] === 0 && bytes[2] !== 0 && bytes[3] === 0 ? 'utf-16le' : undefined
  return bytes[0] === 0 && bytes[1] === LESS_THAN && bytes[2] === 0 && bytes[3] !== 0 ? 'utf-16be' : undefined
}

const LESS_THAN = 0x3c
const ESCAPE = '\x1b'
const JAPANESE_ESCAPES = ['$B', '$@', '(J', '(I', '(B'].map((rest) => ESCAPE + rest)

/** ISO-2022-JP is all ASCII and switches to Japanese with an escape sequence that no other text contains. */
function hasJapaneseEscape(bytes: Buffer): boolean {
  const at = bytes.indexOf(ESCAPE.charCodeAt(0))
  return at !== -1 && JAPANESE_ESCAPES.includes(bytes.toString('latin1', at, at + 3))
}

/** Encodings by Content-Type. A crawl sees few values, and one of them on nearly every page. */
const encodings = new Map<string, string | undefined>()
const HEADERS_REMEMBERED = 1000

function headerEncoding(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined
  let encoding = encodings.get(contentType)
  if (encoding !== undefined || encodings.has(contentType)) return encoding
  const label = charsetOf(contentType)
  // A label that is unknown declares nothing, so the next source applies.
  encoding = label === undefined ? undefined : decoderFor(label)?.encoding
  if (encodings.size < HEADERS_REMEMBERED) encodings.set(contentType, encoding)
  return encoding
}
