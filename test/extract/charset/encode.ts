/** Text → bytes of the encodings of old: Node.js can only read them, so their tables are read backwards. */

import { decoderFor, decodeWith } from '../../../src/extract/charset/decoders.js'

const tables = new Map<string, Map<string, number[]>>()
const TWO_BYTES = /^(shift_jis|euc-jp|euc-kr|gbk|gb18030|big5)$/

/** What cannot be written becomes a question mark. */
export function encode(text: string, encoding: string): Buffer {
  let table = tables.get(encoding)
  if (table === undefined) tables.set(encoding, (table = tableOf(encoding)))
  return Buffer.from(Array.from(text).flatMap((character) => table.get(character) ?? [0x3f]))
}

function tableOf(encoding: string): Map<string, number[]> {
  const decoder = decoderFor(encoding)!
  const table = new Map<string, number[]>()
  const add = (...codes: number[]) => {
    const text = decodeWith(decoder, Buffer.from(codes))
    if (Array.from(text).length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, codes)
  }
  for (let first = 0; first < 0x100; first++) add(first)
  if (!TWO_BYTES.test(encoding)) return table
  for (let first = 0x81; first < 0xff; first++)
    for (let second = 0x40; second < 0xff; second++) add(first, second)
  return table
}
