/**
 * What the Encoding Standard calls a label → text, as the standard reads it. Node.js brings decoders for nearly all
 * encodings, and they are quicker than code of our own; where they differ from browsers (in some characters, and in what
 * they skip after a broken one) the standard's indexes are used instead.
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

/** An encoding that a label names. */
export interface Decoder {
  /** As the Encoding Standard names it, in small letters. */
  readonly encoding: string
}

/** By label as written. There are some 220 valid labels; the bound is for invented ones. */
const decoders = new Map<string, Decoder | undefined>()
const LABELS_REMEMBERED = 1000

/** The decoder that a label names; undefined if it names none that may be used. */
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

/** Text from bytes. A byte order mark is not part of it; what cannot be read becomes U+FFFD. */
export function decodeWith(decoder: Decoder, bytes: Buffer): string {
  const { encoding } = decoder
  switch (encoding) {
    case 'gbk':
      // GBK is the smaller part of GB18030, and the standard reads both in the same way; Node.js does not.
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

/** Where Node's decoders of two bytes a character differ from the standard, at least one of these is in their text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: three of them change places
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

/** Of a broken pair the second byte is kept where it is ASCII: it may be the `<` of a tag. */
function fromPairs(bytes: Buffer, encoding: PairedEncoding): string {
  const pairs = pairsOf(encoding)
  const kinds = kindsOf(encoding)
  // No character takes fewer bytes than UTF-16 units.
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
    // Beyond the end there is no byte, and 0 follows no lead.
    const trail = bytes[at] ?? 0
    const units = index[256 * first + trail]!
    if (units > 0xffff) codes[length++] = units >>> 16
    if (units !== 0) codes[length++] = units & 0xffff
    else codes[length++] = NONE
    if (units !== 0 || trail >= FIRST_BEYOND_ASCII) at++
  }
  return textOf(codes.subarray(0, length))
}

/** Begins a character of two bytes. */
const LEAD = 0xffff

const kinds = new Map<PairedEncoding, Uint16Array>()

/** What each byte is where a character begins: LEAD, or the character itself. */
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
