/**
 * The indexes of the Encoding Standard: bytes to code points. Node.js has them inside its decoders, so they are extracted
 * from those, once and on demand; deviations from the standard are corrected here, for decoders.ts and encoders.ts alike.
 */

import { WINDOWS_1252 } from '../html/entities.js'
import { hongKongCharacters } from './big5-hkscs.js'

/** No character. */
export const NONE = 0xfffd

const FIRST_BEYOND_ASCII = 0x80
const bytesBeyondAscii = Uint8Array.from({ length: 128 }, (_, i) => FIRST_BEYOND_ASCII + i)

const LATIN_10 =
  '\xa0ĄąŁ€„Š§š©Ș«Ź\xadźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ'

/** Where Node's single-byte decoders deviate from the standard: first byte, and the correct characters from there on. */
const CORRECTIONS: Readonly<Record<string, readonly (readonly [first: number, characters: string])[]>> = {
  // Latin-1 in many versions of Node.js (20.18.3 to 24.x).
  'windows-1252': [[0x80, WINDOWS_1252]],
  'koi8-u': [
    [0xae, 'ў'],
    [0xbe, 'Ў'],
  ],
  'windows-874': [
    [0xdb, '\ufffd'.repeat(4)],
    [0xfc, '\ufffd'.repeat(4)],
  ],
  'windows-1253': [[0xaa, '\ufffd']],
  'windows-1255': [[0xca, '\u05ba']],
}

/** Whether Node's single-byte decoder follows the standard. */
export function isReadByNode(encoding: string): boolean {
  // In IBM866, three control characters are permuted.
  return !(encoding in CORRECTIONS || encoding === 'ibm866' || UNKNOWN_TO_NODE.includes(encoding))
}

/** Encodings of the standard that Node.js does not know; each has only this label. */
export const UNKNOWN_TO_NODE: readonly string[] = ['iso-8859-16', 'x-user-defined']

const singles = new Map<string, Uint16Array>()

/** The characters of the 128 bytes beyond ASCII; undefined for a multi-byte encoding. */
export function singleByteIndex(encoding: string): Uint16Array | undefined {
  if (!SINGLE_BYTE.test(encoding)) return undefined
  let index = singles.get(encoding)
  if (index === undefined) {
    index = readSingleByteIndex(encoding)
    singles.set(encoding, index)
  }
  return index
}

const SINGLE_BYTE = /^(?:windows-|iso-8859-|koi8-|ibm866$|macintosh$|x-)/

function readSingleByteIndex(encoding: string): Uint16Array {
  if (encoding === 'x-user-defined') return Uint16Array.from(bytesBeyondAscii, (byte) => 0xf700 + byte)
  const controls = latin1(bytesBeyondAscii.subarray(0, 32))
  const text =
    encoding === 'iso-8859-16' ? controls + LATIN_10 : new TextDecoder(encoding).decode(bytesBeyondAscii)
  const index = Uint16Array.from(text, (character) => character.charCodeAt(0))
  for (const [first, characters] of CORRECTIONS[encoding] ?? []) {
    for (let i = 0; i < characters.length; i++) {
      index[first - FIRST_BEYOND_ASCII + i] = characters.charCodeAt(i)
    }
  }
  return index
}

/**
 * The characters of a multi-byte encoding, by lead byte × 256 + trail byte. 0 is none; values above 0xFFFF are two UTF-16
 * units.
 */
export type Pairs = Uint32Array

export type PairedEncoding = 'shift_jis' | 'euc-jp' | 'euc-kr' | 'big5' | 'gb18030'

const pairs = new Map<PairedEncoding, Pairs>()

export function pairsOf(encoding: PairedEncoding): Pairs {
  let index = pairs.get(encoding)
  if (index === undefined) {
    index = readPairs(encoding, [])
    if (encoding === 'euc-jp') addHalfWidthKatakana(index)
    else if (encoding === 'euc-kr') addToEucKr(index)
    else if (encoding === 'big5') addToBig5(index)
    pairs.set(encoding, index)
  }
  return index
}

let supplement: Pairs | undefined

/** The index of EUC-JP's three-byte sequences (JIS X 0212), which start with 0x8F. */
export function japaneseSupplement(): Pairs {
  if (supplement === undefined) {
    supplement = readPairs('euc-jp', [0x8f])
    // Node's decoder has a row beyond the end of the standard's index.
    supplement.fill(0, AFTER_SUPPLEMENT)
  }
  return supplement
}

const AFTER_SUPPLEMENT = 0xee00

const FIRST_LEAD = 0x81
const LAST_BYTE = 0xfe
const FIRST_TRAIL = 0x40
const SEPARATOR = 0x0a

/** Decodes all pairs in one go, each followed by a line feed, which no invalid pair consumes. */
function readPairs(encoding: PairedEncoding, before: readonly number[]): Pairs {
  const bytes: number[] = []
  const read: number[] = []
  for (let lead = FIRST_LEAD; lead <= LAST_BYTE; lead++) {
    for (let trail = FIRST_TRAIL; trail <= LAST_BYTE; trail++) {
      bytes.push(...before, lead, trail, SEPARATOR)
      read.push(256 * lead + trail)
    }
  }
  const index = new Uint32Array(0x10000)
  const isPrivate = encoding === 'big5' || encoding === 'euc-kr' ? PRIVATE : NOTHING
  for (const [i, text] of new TextDecoder(encoding).decode(Uint8Array.from(bytes)).split('\n').entries()) {
    if (text.length === 1 && text !== '\ufffd' && !isPrivate.test(text)) index[read[i]!] = text.charCodeAt(0)
  }
  return index
}

/** What Node's decoders return for pairs that they do not know. */
const PRIVATE = /[\ue000-\uf8ff\x80-\x9f]/
const NOTHING = /(?!)/

const FIRST_HALF_WIDTH = 0xff61
const HALF_WIDTH = 63
const FIRST_KATAKANA_BYTE = 0xa1

/** After their own lead byte, which Node's decoder also accepts before some other bytes. */
function addHalfWidthKatakana(index: Pairs): void {
  index.fill(0, 0x8e00, 0x8f00)
  for (let i = 0; i < HALF_WIDTH; i++) index[0x8e00 + FIRST_KATAKANA_BYTE + i] = FIRST_HALF_WIDTH + i
}

const FIRST_SYLLABLE = 0xac00
const LAST_SYLLABLE = 0xd7a3
const FIRST_ROW = 0xa1
const LAST_EXTENDED_LEAD = 0xc6
const EXTENDED_TRAIL = [
  [0x41, 0x5a],
  [0x61, 0x7a],
  [0x81, 0xfe],
] as const

/**
 * EUC-KR has 2,350 of the 11,172 Korean syllables; Windows put the others into the free pointers, in the order of Unicode,
 * and browsers decode them as EUC-KR.
 */
function addToEucKr(index: Pairs): void {
  index[0xa2e6] = '€'.charCodeAt(0)
  index[0xa2e7] = '®'.charCodeAt(0)
  const known = new Set(index)
  let syllable = FIRST_SYLLABLE
  for (let lead = FIRST_LEAD; lead <= LAST_EXTENDED_LEAD; lead++) {
    for (const [first, last] of EXTENDED_TRAIL) {
      // Rows beside KS X 1001 end where it begins.
      for (let trail = first; trail <= (lead < FIRST_ROW ? last : Math.min(last, FIRST_ROW - 1)); trail++) {
        while (known.has(syllable)) syllable++
        if (syllable <= LAST_SYLLABLE) index[256 * lead + trail] = syllable++
      }
    }
  }
}

/** Pointers per row of Big5, and how many of them have the low trail bytes. */
const BIG5_ROW = 157
const BIG5_LOW_TRAILS = 0x3f

function addToBig5(index: Pairs): void {
  hongKongCharacters((pointer, character) => {
    const cell = pointer % BIG5_ROW
    const trail = cell + (cell < BIG5_LOW_TRAILS ? 0x40 : 0x62)
    index[256 * (FIRST_LEAD + Math.floor(pointer / BIG5_ROW)) + trail] = unitsOf(character)
  })
  // The only pointers that stand for two code points.
  for (const [at, text] of [
    [0x8862, 'Ê\u0304'],
    [0x8864, 'Ê\u030c'],
    [0x88a3, 'ê\u0304'],
    [0x88a5, 'ê\u030c'],
  ] as const) {
    index[at] = unitsOf(text)
  }
}

function unitsOf(text: string): number {
  return text.length === 1 ? text.charCodeAt(0) : text.charCodeAt(0) * 0x10000 + text.charCodeAt(1)
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}
