/** The checksum of LevelDB's files, by the published examples. */

import { expect, test } from 'vitest'
import { crc32c, masked } from '../../../../src/stores/level/check/crc32c.js'

const counting = Uint8Array.from({ length: 32 }, (_, i) => i)

// RFC 3720, B.4, and the check value of the catalogue of CRCs.
test.for([
  ['32 zeros', new Uint8Array(32), 0x8a9136aa],
  ['32 ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
  ['counting up', counting, 0x46dd794e],
  ['counting down', counting.slice().reverse(), 0x113fdb5c],
  ['the digits', Buffer.from('123456789'), 0xe3069283],
  ['nothing', new Uint8Array(0), 0],
] as const)('%s', ([, bytes, sum]) => {
  expect(crc32c(bytes)).toBe(sum)
})

test('a part of a file, whatever its beginning and length', () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => (i * 151) & 255)
  for (let from = 0; from < 9; from++) {
    for (let to = from; to <= 100; to++)
      expect(crc32c(bytes, from, to)).toBe(bitByBit(bytes.subarray(from, to)))
  }
})

function bitByBit(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return ~crc >>> 0
}

test('as LevelDB writes it', () => {
  expect(masked(0)).toBe(0xa282ead8)
  expect(masked(1)).toBe((0xa282ead8 + 0x20000) >>> 0)
})
