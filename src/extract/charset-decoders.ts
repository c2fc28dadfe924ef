/**
 * What the Encoding Standard calls a label → text. Node.js brings decoders for nearly all encodings of the standard;
 * this file looks them up and mends the places where they differ from what browsers read, as far as that takes no
 * table: windows-1252, GBK, the extension of EUC-KR and the kana of Big5.
 */

import { textOf } from './codes.js'
import { WINDOWS_1252 } from './entities.js'

/** By label as written. There are some 220 valid labels; the bound is for invented ones. */
const decoders = new Map<string, TextDecoder | undefined>()
const LABELS_REMEMBERED = 1000

/** The decoder that a label names; undefined if it names none that may be used. */
export function decoderFor(label: string): TextDecoder | undefined {
  if (decoders.has(label)) return decoders.get(label)
  let decoder: TextDecoder | undefined
  try {
    decoder = new TextDecoder(label)
  } catch {
    // Not a name of any encoding.
  }
  if (decoders.size < LABELS_REMEMBERED) decoders.set(label, decoder)
  return decoder
}

/** Text from bytes. A byte order mark is not part of it; what cannot be read becomes U+FFFD. */
export function decodeWith(decoder: TextDecoder, bytes: Buffer): string {
  switch (decoder.encoding) {
    case 'windows-1252':
      return fromWindows1252(bytes)
    case 'gbk':
      // GBK is the smaller part of GB18030, and the standard reads both in the same way; Node.js does not.
      return decoderFor('gb18030')!.decode(bytes)
    case 'euc-kr':
      return fromEucKr(decoder, bytes)
    case 'big5':
      return fromBig5(decoder, bytes)
    default:
      return decoder.decode(bytes)
  }
}

/**
 * Node's own decoder takes windows-1252 for Latin-1 in many versions (20.18.3 to 24.x), and turns quotation marks,
 * dashes and the euro sign into control characters.
 */
function fromWindows1252(bytes: Buffer): string {
  const codes = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    codes[at] = byte >= 0x80 && byte <= 0x9f ? WINDOWS_1252.charCodeAt(byte - 0x80) : byte
  }
  return textOf(codes)
}

/** Where Node's decoder puts the kana of Big5: a private area, in the order of their bytes. */
const PRIVATE_KANA = /[\uf6f7-\uf79f]/g
const FIRST_PRIVATE_KANA = 0xf6f7
const FIRST_HIRAGANA = 0x3041
const HIRAGANA = 83
const FIRST_KATAKANA = 0x30a1

function fromBig5(decoder: TextDecoder, bytes: Buffer): string {
  return decoder.decode(bytes).replace(PRIVATE_KANA, (character) => {
    const n = character.charCodeAt(0) - FIRST_PRIVATE_KANA
    return String.fromCharCode(n < HIRAGANA ? FIRST_HIRAGANA + n : FIRST_KATAKANA + n - HIRAGANA)
  })
}

const FIRST_SYLLABLE = 0xac00
const LAST_SYLLABLE = 0xd7a3
/** Rows and cells of the standard that EUC-KR began with, and where its syllables stand in it. */
const FIRST_ROW = 0xa1
const FIRST_SYLLABLE_ROW = 0xb0
const LAST_SYLLABLE_ROW = 0xc8
const LAST_CELL = 0xfe
const FIRST_EXTENDED_LEAD = 0x81
const LAST_EXTENDED_LEAD = 0xc6

let extendedSyllables: string | undefined

/**
 * EUC-KR once held 2,350 of the 11,172 Korean syllables; Windows put the others into the free places, and browsers
 * read those as EUC-KR too. Node's decoder does not know them.
 */
function fromEucKr(decoder: TextDecoder, bytes: Buffer): string {
  let text = ''
  let copied = 0
  let at = 0
  while (at < bytes.length - 1) {
    const lead = bytes[at]!
    if (lead < 0x80) {
      at++
      continue
    }
    const index = extendedIndex(lead, bytes[at + 1]!)
    if (index !== -1) {
      extendedSyllables ??= syllablesBeyond(decoder)
      text += decoder.decode(bytes.subarray(copied, at)) + (extendedSyllables[index] ?? '\ufffd')
      copied = at + 2
    }
    // A lead byte takes the next one with it, unless that one is no cell of any row.
    at += bytes[at + 1]! > 0x40 ? 2 : 1
  }
  return copied === 0 ? decoder.decode(bytes) : text + decoder.decode(bytes.subarray(copied))
}

/** The place of an extended syllable among them; -1 if these two bytes are not one. */
function extendedIndex(lead: number, trail: number): number {
  if (lead < FIRST_EXTENDED_LEAD || lead > LAST_EXTENDED_LEAD) return -1
  let cell = -1
  if (trail >= 0x41 && trail <= 0x5a) cell = trail - 0x41
  else if (trail >= 0x61 && trail <= 0x7a) cell = trail - 0x61 + 26
  else if (trail >= 0x81 && trail <= LAST_CELL) cell = trail - 0x81 + 52
  if (cell === -1) return -1
  // Rows above the old standard have all cells; those beside it end where it begins.
  if (lead < FIRST_ROW) return (lead - FIRST_EXTENDED_LEAD) * 178 + cell
  return trail < FIRST_ROW ? (FIRST_ROW - FIRST_EXTENDED_LEAD) * 178 + (lead - FIRST_ROW) * 84 + cell : -1
}

/** All syllables that the old standard does not hold, in the order of Unicode, which is the order of their bytes. */
function syllablesBeyond(decoder: TextDecoder): string {
  const old: number[] = []
  for (let row = FIRST_SYLLABLE_ROW; row <= LAST_SYLLABLE_ROW; row++)
    for (let cell = FIRST_ROW; cell <= LAST_CELL; cell++) old.push(row, cell)
  const known = new Set(decoder.decode(Uint8Array.from(old)))
  let beyond = ''
  for (let code = FIRST_SYLLABLE; code <= LAST_SYLLABLE; code++) {
    const syllable = String.fromCharCode(code)
    if (!known.has(syllable)) beyond += syllable
  }
  return beyond
}
