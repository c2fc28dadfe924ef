/**
 * Decodes bytes as the Encoding Standard does. Node.js has decoders for nearly all encodings, and they are faster than
 * JavaScript; where they deviate from browsers (in some characters, and in what they skip after an invalid one) the
 * standard's indexes are used instead.
 */

import { textOf } from '../html/codes.js'
import {
  isReadByNode,
  japaneseSupplement,
  NONE,
  type PairedEncoding,
  type Pairs,
  pairsOf,
  singleByteIndex,
  UNKNOWN_TO_NODE,
} from './index-tables.js'

/** An encoding. */
export interface Decoder {
  /** Name in the Encoding Standard, in lower case. */
  readonly encoding: string
}

/** By label as written. There are about 220 valid labels; the limit is for made-up ones. */
const decoders = new Map<string, Decoder | undefined>()
const LABELS_REMEMBERED = 1000

/** The decoder for a label; undefined if the label is unknown. */
export function decoderFor(label: string): Decoder | undefined {
  if (decoders.has(label)) return decoders.get(label)
  let decoder: Decoder | undefined
  try {
    decoder = new TextDecoder(label)
  } catch {
    const encoding = UNKNOWN_TO_NODE.find((each) => each === label.trim().toLowerCase())
    if (encoding !== undefined) decoder = { encoding }
  }
  if (decoders.size < LABELS_REMEMBERED) decoders.set(label, decoder)
  return decoder
}

/** Decodes bytes. A byte order mark is removed; invalid sequences become U+FFFD. */
export function decodeWith(decoder: Decoder, bytes: Buffer): string {
  const { encoding } = decoder
  switch (encoding) {
    case 'gbk':
      // The standard's GBK decoder is its GB18030 decoder; that of Node.js is not.
      return (decoderFor('gb18030') as TextDecoder).decode(bytes)
    case 'shift_jis':
    case 'euc-jp':
    case 'euc-kr':
    case 'big5': {
      const text = (decoder as TextDecoder).decode(bytes)
      return DOUBTFUL.test(text) ? fromPairs(bytes, encoding) : text
    }
    default: {
      const index = isReadByNode(encoding) ? undefined : singleByteIndex(encoding)
      return index === undefined ? (decoder as TextDecoder).decode(bytes) : fromSingles(bytes, index)
    }
  }
}

/** Where Node's double-byte decoders deviate from the standard, their output has at least one of these characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: three of them are permuted
const DOUBTFUL = /[\ufffd\x1a\x1c\x7f-\x9f¢£¬▓Ⅰ-ⅹ㈱\ue000-\uf8ff]/

const FIRST_BEYOND_ASCII = 0x80

function fromSingles(bytes: Buffer, index: Uint16Array): string {
  const codes = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    codes[at] = byte < FIRST_BEYOND_ASCII ? byte : index[byte - FIRST_BEYOND_ASCII]!
  }
  return textOf(codes)
}

const SUPPLEMENT_LEAD = 0x8f
const FIRST_SUPPLEMENT_BYTE = 0xa1

/** If a trail byte is invalid and ASCII, it is not consumed: it may be the `<` of a tag. */
function fromPairs(bytes: Buffer, encoding: PairedEncoding): string {
  const pairs = pairsOf(encoding)
  const kinds = kindsOf(encoding)
  // No character has fewer bytes than UTF-16 units.
  const codes = new Uint16Array(bytes.length)
  let length = 0
  let at = 0
  while (at < bytes.length) {
    const lead = bytes[at++]!
    if (kinds[lead] !== LEAD) {
      codes[length++] = kinds[lead]!
      continue
    }
    let index: Pairs = pairs
    let first = lead
    if (
      encoding === 'euc-jp' &&
      lead === SUPPLEMENT_LEAD &&
      bytes[at]! >= FIRST_SUPPLEMENT_BYTE &&
      bytes[at] !== 0xff
    ) {
      index = japaneseSupplement()
      first = bytes[at++]!
    }
    // At the end there is no byte; 0 is not a trail byte.
    const trail = bytes[at] ?? 0
    const units = index[256 * first + trail]!
    if (units > 0xffff) codes[length++] = units >>> 16
    if (units !== 0) codes[length++] = units & 0xffff
    else codes[length++] = NONE
    if (units !== 0 || trail >= FIRST_BEYOND_ASCII) at++
  }
  return textOf(codes.subarray(0, length))
}

/** A lead byte. */
const LEAD = 0xffff

const kinds = new Map<PairedEncoding, Uint16Array>()

/** What each byte means at the start of a character: LEAD, or the character itself. */
function kindsOf(encoding: PairedEncoding): Uint16Array {
  let kind = kinds.get(encoding)
  if (kind === undefined) {
    kind = Uint16Array.from({ length: 256 }, (_, byte) => kindOf(byte, encoding))
    kinds.set(encoding, kind)
  }
  return kind
}

function kindOf(byte: number, encoding: PairedEncoding): number {
  if (byte < FIRST_BEYOND_ASCII) return byte
  switch (encoding) {
    case 'shift_jis':
      if (byte === 0x80) return byte
      if (byte >= 0xa1 && byte <= 0xdf) return 0xff61 - 0xa1 + byte
      return byte === 0xa0 || byte > 0xfc ? NONE : LEAD
    case 'euc-jp':
      return byte === 0x8e || byte === SUPPLEMENT_LEAD || (byte >= 0xa1 && byte <= 0xfe) ? LEAD : NONE
    default:
      return byte === 0x80 || byte === 0xff ? NONE : LEAD
  }
}
