/**
 * Encodes the query of a link in the encoding of its page: a server that sends pages in Shift_JIS expects its queries in
 * Shift_JIS, and browsers send them so. This is "percent-encode after encoding" of the URL Standard with the encoders of
 * the Encoding Standard; Node.js has no encoders, so these are the indexes of index-tables.ts in reverse.
 */

import { fingerprint } from '../../url/fingerprint.js'
import type { QueryEncoding } from '../../url/resolve.js'
import { NONE, type PairedEncoding, pairsOf, singleByteIndex } from './index-tables.js'

/** The bytes of a code point beyond ASCII; undefined if it is not in the encoding. */
type Encode = (codePoint: number) => readonly number[] | undefined

const FIRST_BEYOND_ASCII = 0x80
const REPLACEMENT = 0xfffd
/** Removed from every URL before it is parsed. */
const REMOVED = /[\t\n\r]+/g
const BEYOND_ASCII = /[^\0-\x7f]/

/** Encodes queries for pages of one encoding. */
export interface CharsetQueries extends QueryEncoding {
  /** A number derived from the encoding. */
  readonly salt: number
}

const encodings = new Map<string, CharsetQueries | undefined>()

/** Undefined if queries are in UTF-8. */
export function queryEncoding(charset: string): CharsetQueries | undefined {
  if (charset === 'utf-8') return undefined
  let found = encodings.get(charset)
  if (found === undefined && !encodings.has(charset)) {
    found = makeEncoding(charset)
    encodings.set(charset, found)
  }
  return found
}

function makeEncoding(charset: string): CharsetQueries | undefined {
  const words = new Uint32Array(2)
  fingerprint(charset, words)
  const salt = words[0]!
  if (charset === 'iso-2022-jp') return { salt, encode: encodeIso2022Jp }
  const make = encoderOf(charset)
  if (make === undefined) return undefined
  // Tables are created for the first query beyond ASCII: most pages have none.
  let encoder: Encode | undefined
  const encodeBeyond = (query: string): string => {
    encoder ??= make()
    return encodeEach(query, encoder)
  }
  return { salt, encode: (query) => (BEYOND_ASCII.test(query) ? encodeBeyond(query) : query) }
}

/** UTF-16 has no encoder: browsers use UTF-8 instead (the "output encoding"). */
function encoderOf(charset: string): (() => Encode) | undefined {
  switch (charset) {
    case 'shift_jis':
      return shiftJis
    case 'euc-jp':
      return eucJp
    case 'euc-kr':
      return () => paired(reversed('euc-kr', 0x8100))
    case 'big5':
      return big5
    case 'gbk':
      return gbk
    case 'gb18030':
      return gb18030
    default: {
      const index = singleByteIndex(charset)
      return index && (() => singleByte(index))
    }
  }
}

function encodeEach(query: string, encode: Encode): string {
  let written = ''
  for (const character of query) {
    const code = scalarOf(character)
    if (code < FIRST_BEYOND_ASCII) written += character
    else written += escaped(encode(code), code)
  }
  return written
}

/** The scalar value; U+FFFD for half of a surrogate pair. */
function scalarOf(character: string): number {
  const code = character.codePointAt(0)!
  return code >= 0xd800 && code <= 0xdfff ? REPLACEMENT : code
}

/** A code point that is not in the encoding becomes `&#26085;`, percent-encoded, as in an HTML form. */
function escaped(bytes: readonly number[] | undefined, code: number): string {
  return bytes === undefined ? `%26%23${code}%3B` : bytes.map(escapedByte).join('')
}

function escapedByte(byte: number): string {
  const character = String.fromCharCode(byte)
  return MUST_BE_ESCAPED.test(character) ? `%${byte.toString(16).toUpperCase().padStart(2, '0')}` : character
}

/** The "special-query percent-encode set". */
const MUST_BE_ESCAPED = /[^!$-&(-;=?-~]/

function singleByte(index: Uint16Array): Encode {
  const bytes = new Map<number, readonly number[]>()
  for (const [i, code] of index.entries()) {
    if (code !== NONE && !bytes.has(code)) bytes.set(code, [FIRST_BEYOND_ASCII + i])
  }
  return (code) => bytes.get(code)
}

/** The first pointer of each character, starting at `from`, without those for which `excludes` returns true. */
function reversed(
  encoding: PairedEncoding,
  from: number,
  excludes?: (pair: number) => boolean,
): Map<number, number> {
  const pairs = new Map<number, number>()
  for (const [pair, units] of pairsOf(encoding).entries()) {
    if (units === 0 || pair < from || excludes?.(pair)) continue
    const code = units > 0xffff ? codePointOf(units) : units
    if (!pairs.has(code)) pairs.set(code, pair)
  }
  return pairs
}

function codePointOf(units: number): number {
  return String.fromCharCode(units >>> 16, units & 0xffff).codePointAt(0)!
}

function paired(pairs: ReadonlyMap<number, number>): Encode {
  return (code) => {
    const pair = pairs.get(code)
    return pair === undefined ? undefined : [pair >>> 8, pair & 0xff]
  }
}

const YEN = 0xa5
const OVERLINE = 0x203e
const BACKSLASH = 0x5c
const TILDE = 0x7e
const MINUS = 0x2212
const FULL_WIDTH_MINUS = 0xff0d
const FIRST_HALF_WIDTH = 0xff61
const LAST_HALF_WIDTH = 0xff9f
const FIRST_KATAKANA_BYTE = 0xa1

function japanese(pairs: ReadonlyMap<number, number>, katakana: (byte: number) => readonly number[]): Encode {
  const encode = paired(pairs)
  return (code) => {
    if (code === YEN) return [BACKSLASH]
    if (code === OVERLINE) return [TILDE]
    if (code >= FIRST_HALF_WIDTH && code <= LAST_HALF_WIDTH) {
      return katakana(code - FIRST_HALF_WIDTH + FIRST_KATAKANA_BYTE)
    }
    return encode(code === MINUS ? FULL_WIDTH_MINUS : code)
  }
}

function shiftJis(): Encode {
  // The duplicates of NEC, and the private use area.
  const excludes = (pair: number) => (pair >= 0xed00 && pair < 0xef00) || (pair >= 0xf000 && pair < 0xfa00)
  const encode = japanese(reversed('shift_jis', 0x8100, excludes), (byte) => [byte])
  return (code) => (code === FIRST_BEYOND_ASCII ? [code] : encode(code))
}

/** Without JIS X 0212, which the standard decodes but does not encode. */
function eucJp(): Encode {
  return japanese(reversed('euc-jp', 0xa100), (byte) => [0x8e, byte])
}

/** Characters that occur twice in Big5 and are encoded with the last pointer. */
const WRITTEN_LAST = '═╞╡╪十卅'

/** Without the Hong Kong extensions before 0xA1, which the standard decodes but does not encode. */
function big5(): Encode {
  const pairs = reversed('big5', 0xa100)
  for (const [pair, units] of pairsOf('big5').entries()) {
    if (units !== 0 && units <= 0xffff && WRITTEN_LAST.includes(String.fromCharCode(units)))
      pairs.set(units, pair)
  }
  return paired(pairs)
}

/** Private use code points that used to have these bytes, and are still encoded as them. */
const FORMERLY_PRIVATE: readonly (readonly [first: number, pairs: readonly number[]])[] = [
  [0xe78d, [0xa6d9, 0xa6da, 0xa6db, 0xa6dc, 0xa6dd, 0xa6de, 0xa6df, 0xa6ec, 0xa6ed, 0xa6f3]],
  [0xe81e, [0xfe59]],
  [0xe826, [0xfe61]],
  [0xe82b, [0xfe66, 0xfe67]],
  [0xe832, [0xfe6d]],
  [0xe843, [0xfe7e]],
  [0xe854, [0xfe90]],
  [0xe864, [0xfea0]],
]

function chinese(): Map<number, number> {
  const pairs = reversed('gb18030', 0x8100)
  for (const [first, places] of FORMERLY_PRIVATE) {
    for (const [i, pair] of places.entries()) pairs.set(first + i, pair)
  }
  return pairs
}

const EURO = 0x20ac

function gbk(): Encode {
  const encode = paired(chinese())
  return (code) => (code === EURO ? [0x80] : encode(code))
}

/** The only code point that GB18030 cannot encode. */
const WITHOUT_PLACE = 0xe5e5
const FIRST_ASTRAL = 0x10000
const FIRST_ASTRAL_POINTER = 189_000
/** Number of four-byte pointers of the Basic Multilingual Plane. */
const BASIC_POINTERS = 39_420

function gb18030(): Encode {
  const encode = paired(chinese())
  const pointers = fourBytePointers()
  return (code) => {
    if (code === WITHOUT_PLACE) return undefined
    const pair = encode(code)
    if (pair !== undefined) return pair
    if (code >= FIRST_ASTRAL) return fourBytes(FIRST_ASTRAL_POINTER + code - FIRST_ASTRAL)
    const pointer = pointers.get(code)
    return pointer === undefined ? undefined : fourBytes(pointer)
  }
}

function fourBytePointers(): Map<number, number> {
  const all = Buffer.alloc(4 * BASIC_POINTERS)
  for (let pointer = 0; pointer < BASIC_POINTERS; pointer++) all.set(fourBytes(pointer), 4 * pointer)
  const text = new TextDecoder('gb18030').decode(all)
  const pointers = new Map<number, number>()
  for (let pointer = 0; pointer < text.length; pointer++) pointers.set(text.charCodeAt(pointer), pointer)
  return pointers
}

function fourBytes(pointer: number): number[] {
  return [
    0x81 + Math.floor(pointer / 12_600),
    0x30 + (Math.floor(pointer / 1260) % 10),
    0x81 + (Math.floor(pointer / 10) % 126),
    0x30 + (pointer % 10),
  ]
}

/** The states of ISO-2022-JP, by the escape sequence that starts them. */
const ASCII = '\x1b(B'
const ROMAN = '\x1b(J'
const KANJI = '\x1b$B'
/** These would be read as an escape sequence, or as the shifts of other encodings. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are control characters
const SHIFTS = /[\x0e\x0f\x1b]/
const TO_SEVEN_BITS = 0x80

let kanji: ReadonlyMap<number, number> | undefined

/** The only stateful encoding, so that even ASCII may need an escape sequence. */
function encodeIso2022Jp(query: string): string {
  if (!BEYOND_ASCII.test(query) && !SHIFTS.test(query)) return query
  kanji ??= reversed('euc-jp', 0xa100)
  let written = ''
  let state = ASCII
  const turnTo = (next: string) => {
    if (state !== next) written += `%1B${next.slice(1)}`
    state = next
  }
  for (const character of query.replace(REMOVED, '')) {
    const code = scalarOf(character)
    if (SHIFTS.test(character)) {
      if (state === KANJI) turnTo(ASCII)
      written += escaped(undefined, REPLACEMENT)
    } else if (code < FIRST_BEYOND_ASCII) {
      if (state === KANJI || code === BACKSLASH || code === TILDE) turnTo(ASCII)
      written += character
    } else if (code === YEN || code === OVERLINE) {
      turnTo(ROMAN)
      written += code === YEN ? '\\' : '~'
    } else {
      const pair = kanji.get(fullWidth(code))
      if (pair === undefined) {
        if (state === KANJI) turnTo(ASCII)
        written += escaped(undefined, code)
      } else {
        turnTo(KANJI)
        written += escaped([(pair >>> 8) - TO_SEVEN_BITS, (pair & 0xff) - TO_SEVEN_BITS], code)
      }
    }
  }
  turnTo(ASCII)
  return written
}

const FIRST_VOICE_MARK = 0xff9e
const FULL_WIDTH_VOICE_MARK = 0x309b

/** ISO-2022-JP has no half-width katakana. */
function fullWidth(code: number): number {
  if (code === MINUS) return FULL_WIDTH_MINUS
  if (code < FIRST_HALF_WIDTH || code > LAST_HALF_WIDTH) return code
  if (code >= FIRST_VOICE_MARK) return code - FIRST_VOICE_MARK + FULL_WIDTH_VOICE_MARK
  return String.fromCharCode(code).normalize('NFKC').charCodeAt(0)
}
