import { describe, expect, it } from 'vitest'
import type { PageRecord } from '../../src/refresh/contract.js'
import { type CountedMiss, goneIntervalMs, missed, missedIntervalMs } from '../../src/refresh/gone.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const THERE: PageRecord = { at: 0, every: DAY, history: '', change: 1000, depth: 0 }

describe('missed', () => {
  const courses: [course: CountedMiss[], goneAt: number | undefined][] = [
    [['gone'], 1],
    [['not-found'], undefined],
    [['not-found', 'not-found'], 2],
    [['not-found', 'gone'], 2],
    [['failed', 'failed', 'failed'], undefined],
    [['failed', 'failed', 'failed', 'failed'], 4],
    [['not-found', 'failed'], undefined],
    [['not-found', 'failed', 'failed'], 3],
    [['failed', 'not-found'], undefined],
    [['failed', 'not-found', 'failed'], 3],
    [['failed', 'gone'], 2],
    [['failed', 'failed', 'not-found'], 3],
  ]
  it.for(courses)('after %j a page is gone at visit %o', ([course, goneAt]) => {
    let record = THERE
    let seenGone: number | undefined
    course.forEach((how, index) => {
      const { misses, isGone } = missed(record, how)
      if (isGone) seenGone ??= index + 1
      record = { ...record, misses }
    })
    expect(seenGone).toBe(goneAt)
  })

  it('begins again once the page was there', () => {
    expect(missed({ ...THERE, misses: 2 }, 'not-found').isGone).toBe(true)
    expect(missed({ ...THERE, misses: undefined }, 'not-found')).toEqual({ misses: 2, isGone: false })
  })

  it('leaves a gone page gone, whatever it meets with', () => {
    for (const how of ['gone', 'not-found', 'failed'] as const) {
      expect(missed({ ...THERE, gone: 0 }, how).isGone).toBe(true)
    }
  })
})

describe('missedIntervalMs', () => {
  const cases: [everyMs: number, minMs: number, expected: number][] = [
    [8 * DAY, HOUR, DAY],
    [DAY, HOUR, 3 * HOUR],
    [8 * HOUR, HOUR, HOUR],
    [4 * HOUR, HOUR, HOUR],
    [HOUR, HOUR, HOUR],
  ]
  it.for(cases)('of %d, at least %d, is %d', ([everyMs, minMs, expected]) => {
    expect(missedIntervalMs(everyMs, minMs)).toBe(expected)
  })
})

describe('goneIntervalMs', () => {
  const cases: [what: string, everyMs: number, maxMs: number, days: number[]][] = [
    ['a page that was visited often', HOUR, 8 * DAY, [2, 4, 8, 16, 32, 64, 128, 128, 128]],
    ['a page that was visited rarely', 8 * DAY, 8 * DAY, [8, 16, 32, 64, 128, 128]],
    ['one in between', 3 * DAY, 8 * DAY, [3, 6, 12, 24, 48, 96, 128, 128]],
    ['one beyond all bounds', 400 * DAY, 8 * DAY, [128, 128]],
  ]
  it.for(cases)('%s', ([, everyMs, maxMs, days]) => {
    expect(days.map((_, tries) => goneIntervalMs(tries, everyMs, maxMs) / DAY)).toEqual(days)
  })

  it('is a finite number after any number of tries', () => {
    for (const tries of [64, 1000, 1e6, 1e300]) expect(goneIntervalMs(tries, HOUR, DAY)).toBe(16 * DAY)
    expect(goneIntervalMs(1e6, 0, 0)).toBe(0)
  })
})
