/** What Snappy packed is unpacked, and what it did not is refused. LevelDB's own blocks are read in table.test.ts. */

import { expect, test } from 'vitest'
import { unsnappy } from '../../../../src/stores/level/check/snappy.js'

const text = (bytes: readonly number[]) => Buffer.from(unsnappy(Uint8Array.from(bytes))).toString()
const codes = (text: string) => [...Buffer.from(text)]

test.for([
  ['nothing', [0], ''],
  ['bytes as they are', [3, (3 - 1) << 2, ...codes('abc')], 'abc'],
  ['a length of its own', [3, 60 << 2, 2, ...codes('abc')], 'abc'],
  ['a near copy', [8, (4 - 1) << 2, ...codes('abcd'), 0b01, 4], 'abcdabcd'],
  ['a copy that runs into itself', [6, 0, ...codes('a'), (5 - 4) * 4 + 0b01, 1], 'aaaaaa'],
  ['a copy of two bytes', [5, (3 - 1) << 2, ...codes('abc'), (2 - 1) * 4 + 0b10, 3, 0], 'abcab'],
  ['a copy of four bytes', [5, (3 - 1) << 2, ...codes('abc'), (2 - 1) * 4 + 0b11, 3, 0, 0, 0], 'abcab'],
] as const)('%s', ([, packed, plain]) => {
  expect(text(packed)).toBe(plain)
})

test.for([
  ['no length', []],
  ['an endless length', Array(20).fill(0x80)],
  ['an impossible length', [255, 255, 255, 255, 127]],
  ['fewer bytes than it says', [3, 0, 97]],
  ['more bytes than it says', [1, (3 - 1) << 2, ...codes('abc')]],
  ['an end in the middle', [3, (3 - 1) << 2, 97]],
  ['a copy of nothing', [5, 0b01, 0]],
  ['a copy from before the beginning', [5, 0, 97, 0b01, 2]],
  ['a copy that is too long', [2, 0, 97, 0b01, 1]],
] as const)('%s is refused', ([, packed]) => {
  expect(() => text(packed as number[])).toThrow()
})
