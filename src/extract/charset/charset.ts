/**
 * Bytes → text. In this order: byte order mark, the charset of Content-Type, what the markup declares in its first
 * kilobyte, UTF-8 if the bytes are valid UTF-8, what the markup declares later, and last a guess. The order is that of
 * browsers, but for UTF-8 before a late declaration: text is not valid UTF-8 by chance.
 */

import { isAscii, isUtf8 } from 'node:buffer'
import { decoderFor, decodeWith } from './decoders.js'
import { guessEncoding } from './guess.js'
import { charsetOf } from './header.js'
import { metaEncoding, xmlEncoding } from './prescan.js'

/** Where browsers look for a declaration before they begin to read. */
const PRESCAN_BYTES = 1024
/** Browsers begin anew when they meet a declaration later on. It stands in the head, and heads end before this. */
const LATE_BYTES = 64 * 1024

/** A class and not a literal: see docs/decisions/0008. */
export class DecodedText {
  constructor(
    readonly text: string,
    /** As the Encoding Standard names it, e.g. `utf-8`. */
    readonly charset: string,
    /** True if every byte is one ASCII character, so that the bytes are the codes of the text. */
    readonly ascii: boolean,
  ) {}
}

/** Decodes a body; whatever it holds, there is a text. */
export function decodeBytes(body: Uint8Array, contentType: string | undefined): DecodedText {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const certain = byteOrderMark(bytes) ?? headerEncoding(contentType)
  if (certain !== undefined) return decodeAs(bytes, certain)
  const declared = declaredEncoding(bytes, contentType, PRESCAN_BYTES)
  if (declared !== undefined) return decodeAs(bytes, declared)
  if (hasJapaneseEscape(bytes)) return decodeAs(bytes, 'iso-2022-jp')
  if (isUtf8(bytes)) return decodeAs(bytes, 'utf-8')
  return decodeAs(bytes, declaredEncoding(bytes, contentType, LATE_BYTES) ?? guessEncoding(bytes))
}

/** What the bytes themselves declare within the first `limit`, by HTML's rules or, if it is XML, by those of XML. */
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

function decodeAs(bytes: Buffer, encoding: string): DecodedText {
  if (encoding === 'utf-8') {
    if (isAscii(bytes)) return new DecodedText(bytes.toString('latin1'), encoding, true)
  }
  return new DecodedText(decodeWith(decoderFor(encoding)!, bytes), encoding, false)
}

/** The encoding that a byte order mark tells. */
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

/** `<` and another character in two bytes each: UTF-16 without a mark, which no declaration could be read in. */
function wideMarkup(bytes: Buffer): string | undefined {
  if (bytes[0] === LESS_THAN)
    return bytes[1] === 0 && bytes[2] !== 0 && bytes[3] === 0 ? 'utf-16le' : undefined
  return bytes[0] === 0 && bytes[1] === LESS_THAN && bytes[2] === 0 && bytes[3] !== 0 ? 'utf-16be' : undefined
}

const LESS_THAN = 0x3c
const ESCAPE = '\x1b'
const JAPANESE_ESCAPES = ['$B', '$@', '(J', '(I', '(B'].map((rest) => ESCAPE + rest)

/** ISO-2022-JP is ASCII throughout, and announces Japanese with an escape that no other text contains. */
function hasJapaneseEscape(bytes: Buffer): boolean {
  const at = bytes.indexOf(ESCAPE.charCodeAt(0))
  return at !== -1 && JAPANESE_ESCAPES.includes(bytes.toString('latin1', at, at + 3))
}

/** Few values of the header are ever met, and one of them on nearly every page. */
const encodings = new Map<string, string | undefined>()
const HEADERS_REMEMBERED = 1000

function headerEncoding(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined
  let encoding = encodings.get(contentType)
  if (encoding !== undefined || encodings.has(contentType)) return encoding
  const label = charsetOf(contentType)
  // A label that names no encoding says nothing, and the next declaration is asked.
  encoding = label === undefined ? undefined : decoderFor(label)?.encoding
  if (encodings.size < HEADERS_REMEMBERED) encodings.set(contentType, encoding)
  return encoding
}
