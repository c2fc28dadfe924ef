import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  gzipBound,
  gzipMembers,
  halfStoredMembers,
  readMember,
  withGzipSync,
} from '../../../src/warc/format/gzip.js'
import { GzipPool, keptCompressor, withGzip } from '../../../src/warc/format/gzip-pool.js'

describe.each([
  ['one compressor for all', gzipMembers],
  ['gzipSync', withGzipSync],
] as const)('%s', (_, members) => {
  it.each([1, 6, 9])('makes members of any length at level %i', (level) => {
    const member = members(level)
    for (const length of [0, 1, 100, 16_383, 100_000, 1_000_000]) {
      for (const bytes of [Buffer.alloc(length, 'abc'), randomBytes(length)]) {
        const output = Buffer.alloc(3 + gzipBound(length))
        const end = member(bytes, length, output, 3)
        expect(gunzipSync(output.subarray(3, end)).equals(bytes)).toBe(true)
        const read = readMember(Buffer.concat([output.subarray(3, end), gzipSync('next')]), 2_000_000)
        expect(read).toMatchObject({ length: end - 3 })
      }
    }
  })
})

it('makes the same bytes as gzipSync', () => {
  const text = Buffer.from('The quick brown fox. '.repeat(500))
  const output = Buffer.alloc(gzipBound(text.length))
  const end = gzipMembers(6)(text, text.length, output, 0)
  expect(output.subarray(0, end).equals(gzipSync(text, { level: 6 }))).toBe(true)
})

it('tells members that do not end, are too large, or are none', () => {
  const member = gzipSync(Buffer.alloc(10_000, 'x'))
  expect(readMember(member.subarray(0, 12), 20_000)).toBe('more')
  expect(readMember(member.subarray(0, -3), 20_000)).toBe('more')
  expect(readMember(member, 5000)).toBe('too-large')
  expect(readMember(Buffer.from('hello, world'), 5000)).toBe('damaged')
})

describe.each([
  ['kept compressors', keptCompressor],
  ['zlib.gzip', withGzip],
] as const)('on the pool, with %s', (_, make) => {
  it('makes the same members, many at once', async () => {
    const texts = [0, 1, 20_000, 300_000, 5000].map((length, i) => Buffer.alloc(length, `${i}, some text. `))
    const lengths = texts.map(async (text) => {
      const output = Buffer.alloc(gzipBound(text.length))
      const gzip = make(5)
      for (let round = 0; round < 3; round++) {
        const length = await gzip(text, text.length, output)
        expect(output.subarray(0, length).equals(gzipSync(text, { level: 5 }))).toBe(true)
      }
      return gunzipSync(output).length
    })
    expect(await Promise.all(lengths)).toEqual(texts.map(({ length }) => length))
  })
})

it('has no compressor to spare while all are busy', async () => {
  const pool = await GzipPool.open(5)
  const taken = Array.from({ length: 100 }, () => pool.take()).filter((each) => each !== undefined)
  expect(taken.length).toBeGreaterThan(4)
  expect(taken.length).toBeLessThan(50)
  pool.giveBack(taken[0]!)
  expect(pool.take()).toBe(taken[0])
})

it('stores what is compressed already, behind a head that is compressed', () => {
  const member = halfStoredMembers(5)
  const head = Buffer.from('WARC-Type: response\r\n'.repeat(100))
  for (const length of [0, 1, 65_534, 65_535, 65_536, 200_000]) {
    const input = Buffer.concat([head, randomBytes(length)])
    const output = Buffer.alloc(3 + gzipBound(input.length))
    for (let round = 0; round < 2; round++) {
      const end = member(input, head.length, input.length, output, 3)
      expect(gunzipSync(output.subarray(3, end)).equals(input)).toBe(true)
      expect(end - 3).toBeLessThan(input.length)
      expect(readMember(output.subarray(3, end), 1_000_000)).toMatchObject({ length: end - 3 })
    }
  }
})
