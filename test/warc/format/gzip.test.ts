import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gzipBound, gzipMembers, readMember, withGzipSync } from '../../../src/warc/format/gzip.js'

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
