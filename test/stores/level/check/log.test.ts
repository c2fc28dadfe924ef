/** Logs that LevelDB wrote are read as it reads them; what is missing in the middle is found, what is cut off is not. */

import { beforeAll, expect, test } from 'vitest'
import { readLog } from '../../../../src/stores/level/check/log.js'
import { database, eachFlip, files } from './files.js'

/** Larger than all that a life writes. */
const ONE_LOG = 2 ** 20

let log: Buffer
let records: string[]
beforeAll(async () => {
  log = files((await database(2, 1, ONE_LOG)).path, /\.log$/).at(-1)!.bytes
  records = textsOf(log)
})

function textsOf(bytes: Uint8Array): string[] {
  return readLog(bytes).records.map((record) => Buffer.from(record).toString('latin1'))
}

test('a log of several blocks is whole', () => {
  expect(log.length).toBeGreaterThan(2 * 32_768)
  expect(readLog(log)).toMatchObject({ holes: [], end: 'whole' })
  expect(records.length).toBeGreaterThan(20)
})

test('one that is cut anywhere has no hole, and all its records up to there', () => {
  for (let length = 0; length <= log.length; length += 31) {
    const { holes, end } = readLog(log.subarray(0, length))
    expect({ holes, end }, `${length} bytes`).toEqual({ holes: [], end: expect.stringMatching(/whole|cut/) })
    const texts = textsOf(log.subarray(0, length))
    expect(texts).toEqual(records.slice(0, texts.length))
  }
})

test('a flipped bit is noticed, and costs one record', () => {
  eachFlip(log, 37, (flipped, at) => {
    const { records: left, holes, end } = readLog(flipped)
    const missing = records.length - left.length
    if (missing === 0) {
      expect({ holes, end, at: at % 32_768 > 32_768 - 7 }).toEqual({ holes: [], end: 'whole', at: true })
      return
    }
    expect(missing).toBe(1)
    // The last one may look as if its writer had been killed, but only if its length is what is wrong.
    if (holes.length === 0) expect(end).toBe('unreadable')
    else
      expect(records.indexOf(Buffer.from(left[holes[0]!.record]!).toString('latin1'))).toBe(
        holes[0]!.record + 1,
      )
  })
})

test('a block of zeros in the middle is a hole, at the end it is an unreadable end', () => {
  const middle = Uint8Array.from(log)
  middle.fill(0, 36_864, 40_960)
  expect(readLog(middle).holes).toHaveLength(1)
  const end = Uint8Array.from(log)
  end.fill(0, log.length - 100)
  expect(readLog(end)).toMatchObject({ holes: [], end: 'unreadable' })
  expect(readLog(Buffer.alloc(50_000))).toMatchObject({ records: [], holes: [], end: 'unreadable' })
})
