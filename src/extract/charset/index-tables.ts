/**
 * The indexes of the Encoding Standard: which character the bytes of an encoding stand for. Node.js has them inside its
 * decoders, so they are read out of those, once and only when a page needs one; what differs from the standard is
 * mended here, for reading (charset-decoders.ts) and writing (charset-encoders.ts) alike.
 */

import { WINDOWS_1252 } from '../html/entities.js'
import { hongKongCharacters } from './big5-hkscs.js'

/** No character. */
export const NONE = 0xfffd

const FIRST_BEYOND_ASCII = 0x80
const bytesBeyondAscii = Uint8Array.from({ length: 128 }, (_, i) => FIRST_BEYOND_ASCII + i)

const LATIN_10 =
  '\xa0ĄąŁ€„Š§š©Ș«Ź\xadźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ'

/** What Node's decoders of one byte a character read otherwise than the standard: from which byte on, which characters. */
const MENDED: Readonly<Record<string, readonly (readonly [first: number, characters: string])[]>> = {
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

/** Whether Node's decoder of one byte a character reads all bytes as the standard does. */
export function isReadByNode(encoding: string): boolean {
  // IBM866 has three control characters in each other's places.
  return !(encoding in MENDED || encoding === 'ibm866' || UNKNOWN_TO_NODE.includes(encoding))
}

/** Encodings of the standard that Node.js does not know; each is its only label. */
export const UNKNOWN_TO_NODE: readonly string[] = ['iso-8859-16', 'x-user-defined']

const singles = new Map<string, Uint16Array>()

/** The characters of the 128 bytes beyond ASCII; undefined for an encoding that takes more than a byte for some. */
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
  for (const [first, characters] of MENDED[encoding] ?? []) {
    for (let i = 0; i < characters.length; i++) {
      index[first - FIRST_BEYOND_ASCII + i] = characters.charCodeAt(i)
    }
  }
  return index
}

/**
 * The characters of an encoding that takes up to two bytes for one: by first byte × 256 + second byte. 0 is none, and
 * what is larger than 0xffff are two UTF-16 units.
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

/** What two bytes stand for in EUC-JP behind a third, 0x8f. */
export function japaneseSupplement(): Pairs {
  if (supplement === undefined) {
    supplement = readPairs('euc-jp', [0x8f])
    // Node's decoder has a row of signs beyond the end of the standard's index.
    supplement.fill(0, AFTER_SUPPLEMENT)
  }
  return supplement
}

const AFTER_SUPPLEMENT = 0xee00

const FIRST_LEAD = 0x81
const LAST_BYTE = 0xfe
const FIRST_TRAIL = 0x40
const SEPARATOR = 0x0a

/** All pairs in one decoding, each with a line break behind it that no broken pair takes with it. */
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

/** Where Node's decoders put what they do not know. */
const PRIVATE = /[\ue000-\uf8ff\x80-\x9f]/
const NOTHING = /(?!)/

const FIRST_HALF_WIDTH = 0xff61
const HALF_WIDTH = 63
const FIRST_KATAKANA_BYTE = 0xa1

/** Behind a lead of their own, which Node's decoder lets stand before some signs too. */
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
 * EUC-KR once held 2,350 of the 11,172 Korean syllables; Windows put the others into the free places, in the order of
 * Unicode, and browsers read those as EUC-KR too.
 */
function addToEucKr(index: Pairs): void {
  index[0xa2e6] = '€'.charCodeAt(0)
  index[0xa2e7] = '®'.charCodeAt(0)
  const known = new Set(index)
  let syllable = FIRST_SYLLABLE
  for (let lead = FIRST_LEAD; lead <= LAST_EXTENDED_LEAD; lead++) {
    for (const [first, last] of EXTENDED_TRAIL) {
      // Rows beside the old standard end where it begins.
      for (let trail = first; trail <= (lead < FIRST_ROW ? last : Math.min(last, FIRST_ROW - 1)); trail++) {
        while (known.has(syllable)) syllable++
        if (syllable <= LAST_SYLLABLE) index[256 * lead + trail] = syllable++
      }
    }
  }
}

/** Pointers of Big5 in a row, and the trail bytes that they stand for. */
const BIG5_ROW = 157
const BIG5_LOW_TRAILS = 0x3f

function addToBig5(index: Pairs): void {
  hongKongCharacters((pointer, character) => {
    const cell = pointer % BIG5_ROW
    const trail = cell + (cell < BIG5_LOW_TRAILS ? 0x40 : 0x62)
    index[256 * (FIRST_LEAD + Math.floor(pointer / BIG5_ROW)) + trail] = unitsOf(character)
  })
  // The only places that stand for a letter and an accent.
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
