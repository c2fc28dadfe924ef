/**
 * Our decoders and encoders against another implementation of the Encoding Standard, which carries the standard's indexes
 * as data: ours are read out of Node's decoders, so both would not be wrong in the same place.
 */

import '@exodus/bytes/encoding.js'
import { createMultibyteDecoder } from '@exodus/bytes/multi-byte.js'
import { percentEncodeAfterEncoding } from '@exodus/bytes/whatwg.js'
import { describe, expect, it } from 'vitest'
import { decoderFor, decodeWith } from '../../../src/extract/charset/decoders.js'
import { queryEncoding } from '../../../src/extract/charset/encoders.js'
import { seededRandom } from '../../../src/time.js'

const SINGLE_BYTE =
  'ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic x-user-defined'.split(
    ' ',
  )
const MULTI_BYTE = ['shift_jis', 'euc-jp', 'iso-2022-jp', 'euc-kr', 'big5', 'gbk', 'gb18030']
const BEYOND_ASCII = Array.from({ length: 0xd800 - 0x80 }, (_, i) => String.fromCharCode(0x80 + i))
  .concat(Array.from({ length: 0x2000 }, (_, i) => String.fromCharCode(0xe000 + i)))
  .join('')
/** Of a query of an http(s) URL. */
const ESCAPED_IN_QUERY = ' "#\'<>'

const decode = (bytes: readonly number[], encoding: string) =>
  decodeWith(decoderFor(encoding)!, Buffer.from(bytes))
const hex = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex')

describe('decoding', () => {
  it.each(SINGLE_BYTE)('%s: every byte', (encoding) => {
    const bytes = Array.from({ length: 128 }, (_, i) => 0x80 + i)
    const characters = [...decode(bytes, encoding)]
    const readable = bytes.filter((_, i) => characters[i] !== '\ufffd')
    const written = percentEncodeAfterEncoding(encoding, characters.join('').replaceAll('\ufffd', ''), '')
    expect(written).toBe(readable.map((byte) => `%${byte.toString(16).toUpperCase()}`).join(''))
    // What we cannot read must be unreadable: of all characters as many can be written as were read.
    const unwritable = percentEncodeAfterEncoding(encoding, BEYOND_ASCII, '').split('%26%23').length - 1
    expect(readable.length).toBe(BEYOND_ASCII.length - unwritable)
    expect(decode([0x1a, 0x1c, 0x7f], encoding)).toBe('\x1a\x1c\x7f')
  })

  it.each(MULTI_BYTE)('%s: every byte, every pair and strings of bytes, broken ones too', (encoding) => {
    const decodeAsStandard = createMultibyteDecoder(encoding, true)
    const differing: string[] = []
    const compare = (bytes: readonly number[]) => {
      if (decode(bytes, encoding) !== decodeAsStandard(Uint8Array.from(bytes))) differing.push(hex(bytes))
    }
    for (let first = 0; first < 0x100; first++) {
      compare([first])
      for (let second = 0; first >= 0x80 && second < 0x100; second++) compare([first, second])
    }
    const random = seededRandom(17)
    const byte = () => Math.floor(random.next() * 0x80)
    // Node's decoder of ISO-2022-JP lets a control character stand among pairs, which is no loss.
    const graphic = () => 0x21 + Math.floor(random.next() * 94)
    for (let round = 0; round < 2000; round++) {
      compare(Array.from({ length: 8 }, () => byte() + (random.next() < 0.7 ? 0x80 : 0)))
      // Three bytes of EUC-JP, four of GB18030, escapes of ISO-2022-JP.
      compare([0x8f, byte() + 0x80, byte() + 0x80, 0x3c])
      compare([byte() + 0x80, 0x30 + (byte() % 10), byte() + 0x80, 0x30 + (byte() % 10)])
      compare([0x1b, 0x24, 0x42, graphic(), graphic(), graphic(), graphic(), 0x1b, 0x28, 0x42, byte()])
    }
    expect(differing).toEqual([])
  })
})

describe('the query of a link, in the charset of its page', () => {
  it.each([...SINGLE_BYTE, ...MULTI_BYTE])('%s: every character', (encoding) => {
    const { encode } = queryEncoding(encoding)!
    const differing: string[] = []
    const compare = (text: string) => {
      if (encode(text) !== percentEncodeAfterEncoding(encoding, text, ESCAPED_IN_QUERY)) differing.push(text)
    }
    // In pieces, since to begin one costs the other implementation more than its characters.
    const size = 256
    const last = SINGLE_BYTE.includes(encoding) ? 0x10000 : 0x30000
    for (let code = 0x100; code < last; code += size) {
      const characters = Array.from({ length: size }, (_, i) => String.fromCodePoint(code + i))
      if (code < 0xd800 || code > 0xdfff) compare(characters.join('a'))
    }
    for (let code = 0x80; code < 0x100; code++) compare(String.fromCodePoint(code))
    expect(differing).toEqual([])
  })

  it('iso-2022-jp: whatever the state before', () => {
    const { encode } = queryEncoding('iso-2022-jp')!
    const random = seededRandom(17)
    const pieces = [...'a\\~1日本アｱﾞ¥‾é😀ー−', '\x1b', '\x0e', '\ud800']
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: 8 }, () => pieces[Math.floor(random.next() * pieces.length)]).join('')
      expect(encode(text)).toBe(percentEncodeAfterEncoding('iso-2022-jp', text, ESCAPED_IN_QUERY))
    }
  })

  it.each(['utf-8', 'utf-16le', 'utf-16be'])('%s: UTF-8', (encoding) => {
    expect(queryEncoding(encoding)).toBeUndefined()
  })
})
