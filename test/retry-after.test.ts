import { expect, test } from 'vitest'
import { retryAfterMs } from '../src/time.js'

const NOW = Date.parse('Fri, 31 Dec 1999 23:59:50 GMT')

test.each<[string | undefined, number | undefined]>([
  ['120', 120_000],
  [' 0 ', 0],
  ['Fri, 31 Dec 1999 23:59:59 GMT', 9000],
  ['Friday, 31-Dec-99 23:59:59 GMT', 9000],
  ['Fri Dec 31 23:59:59 1999', 9000],
  ['Fri, 31 Dec 1999 23:59:00 GMT', 0],
  ['Sat, 01 Jan 2000 01:59:59 +0200', 9000],
  ['1999-12-31T23:59:59Z', 9000],
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['1999', 1_999_000],
  ['99999999999999999999', undefined],
])('%j asks to wait %s ms', (value, wait) => {
  expect(retryAfterMs(value, NOW)).toBe(wait)
})
