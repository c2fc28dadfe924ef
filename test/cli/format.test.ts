import { describe, expect, test } from 'vitest'
import { bytes, cut, duration, instant, printable, quoted, rate, tally, wrap } from '../../src/cli/format.js'

describe('figures', () => {
  test.each<[text: string, expected: string]>([
    [bytes(0), '0 bytes'],
    [bytes(1), '1 byte'],
    [bytes(999), '999 bytes'],
    [bytes(1000), '1.0 kB'],
    [bytes(999_499), '999 kB'],
    [bytes(999_500), '1.0 MB'],
    [bytes(38_917_800), '39 MB'],
    [bytes(5e15), '5000 TB'],
    [duration(0), '0.0 s'],
    [duration(59_949), '59.9 s'],
    [duration(59_950), '1 min 0 s'],
    [duration(125_000), '2 min 5 s'],
    [duration(3_600_000), '1 h 0 min'],
    [duration(90_000_000), '1 d 1 h'],
    [rate(0.84), '0.8'],
    [rate(1234.5), '1,235'],
    [instant(1_735_787_045_678), '2025-01-02 03:04:05 UTC'],
    [cut('abcdef', 6), 'abcdef'],
    [cut('abcdef', 5), 'abcd…'],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected)
  })
})

test('printable lets no text move the cursor, change colors or reverse direction', () => {
  expect(printable('a\x1b[31mb\nc\rd\x9b2Je\u202ef\x7f')).toBe('a�[31mb�c�d�2Je�f�')
  expect(printable('蜘蛛 – spider 🕷')).toBe('蜘蛛 – spider 🕷')
})

test('wrap keeps words whole', () => {
  expect(wrap('aa bb cc', 6, ' ')).toEqual([' aa bb', ' cc'])
  expect(wrap('https://example.com/ b', 6, '')).toEqual(['https://example.com/', 'b'])
})

test('tally sorts by count, in columns, within the width', () => {
  const lines = tally({ few: 2, 'very-many': 1200 }, 24, (word) => `about ${word}`)
  expect(lines).toEqual(['  1,200  very-many  abo…', '      2  few        abo…'])
})

test.each([
  ['https://example.com/a', 'https://example.com/a'],
  ['https://example.com/?a=1&b=2', "'https://example.com/?a=1&b=2'"],
  ['/login/**', "'/login/**'"],
  ["it's", "'it'\\''s'"],
  ['~', "'~'"],
  ['', "''"],
])('a shell takes %s as %s', (word, expected) => {
  expect(quoted(word)).toBe(expected)
})
