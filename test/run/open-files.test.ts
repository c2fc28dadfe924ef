import { expect, it } from 'vitest'
import { limitIn, openFilesLimit } from '../../src/run/open-files.js'

const LINE = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             7823                 7823                 processes
Max open files            ${soft}                 1048576              files
Max locked memory         65536                65536                bytes
`

it.each([
  [LINE('1024'), 1024],
  [LINE('unlimited'), Number.POSITIVE_INFINITY],
  ['', undefined],
])('reads the limit of a process', (limits, expected) => {
  expect(limitIn(limits)).toBe(expected)
})

it.skipIf(process.platform !== 'linux')('reads that of this process', () => {
  expect(openFilesLimit()).toBeGreaterThan(10)
})
