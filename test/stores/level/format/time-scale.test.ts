/** Time as a store tells it, over clocks that were set. True time is the first number of each case. */

import type { Clock } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { type TimeMark, TimeScale } from '../../../../src/stores/level/format/time-scale.js'

const HOUR_MS = 3_600_000
const T = 1_700_000_000_000

/** A clock at a true instant, wrong by `shift`; with a steady scale, if it has a name. */
function clockAt(trueMs: number, shift: number, scale?: string): Clock {
  return {
    now: () => T + trueMs + shift,
    wakeAt: () => ({ cancel() {} }),
    steady: () => (scale === undefined ? undefined : { scale, ms: trueMs + 5000 }),
  }
}

/** What a commit keeps is JSON. */
function kept(mark: TimeMark): TimeMark {
  return JSON.parse(JSON.stringify(mark)) as TimeMark
}

const FIRST = { trueMs: 1000, shift: 0 }
const DUE = T + 5000

test('a new store tells time as the clock does', () => {
  const scale = new TimeScale(clockAt(0, 0, 'boot'), undefined)
  expect([scale.toStore(T), scale.fromStore(T), scale.toStore(0), scale.fromStore(0)]).toEqual([T, T, 0, 0])
})

describe('an instant that was kept, 4 s ahead, is so much ahead a second later', () => {
  const CASES: readonly (readonly [string, number, string | undefined, string | undefined, number])[] = [
    ['and the clock was not set', 0, 'boot', 'boot', 3000],
    ['and the clock was set forward', HOUR_MS, 'boot', 'boot', 3000],
    ['and the clock was set back', -HOUR_MS, 'boot', 'boot', 3000],
    ['without a steady clock', 0, undefined, undefined, 3000],
    ['after the machine started anew', 0, 'boot', 'another', 3000],
    ['without a steady clock, set forward: that is believed', HOUR_MS, undefined, undefined, 3000 - HOUR_MS],
    ['without a steady clock, set back: no time has passed', -HOUR_MS, undefined, undefined, 4000],
    ['after a new start, set forward: that is believed', HOUR_MS, 'boot', 'another', 3000 - HOUR_MS],
    ['after a new start, set back: no time has passed', -HOUR_MS, 'boot', 'another', 4000],
    ['when a steady clock was gained', 0, undefined, 'boot', 3000],
    ['when a steady clock was lost', 0, 'boot', undefined, 3000],
  ]
  test.for(CASES)('%s', ([, shift, before, after, ahead]) => {
    const first = new TimeScale(clockAt(FIRST.trueMs, FIRST.shift, before), undefined)
    const due = first.toStore(DUE)
    const clock = clockAt(2000, shift, after)
    const second = new TimeScale(clock, kept(first.mark()))
    expect(second.fromStore(due) - clock.now()).toBe(ahead)
    expect(second.toStore(second.fromStore(due))).toBe(due)
  })
})

test('a jump that a steady clock saw through does not count when the machine starts anew', () => {
  const first = new TimeScale(clockAt(1000, 0, 'boot'), undefined)
  const due = first.toStore(DUE)
  const second = new TimeScale(clockAt(2000, HOUR_MS, 'boot'), kept(first.mark()))
  const clock = clockAt(3000, HOUR_MS, 'another')
  const third = new TimeScale(clock, kept(second.mark()))
  expect(third.fromStore(due) - clock.now()).toBe(2000)
})

test('a jump back that a steady clock saw through costs nothing when the machine starts anew', () => {
  const first = new TimeScale(clockAt(1000, 0, 'boot'), undefined)
  const due = first.toStore(DUE)
  const second = new TimeScale(clockAt(2000, -HOUR_MS, 'boot'), kept(first.mark()))
  const clock = clockAt(3000, -HOUR_MS, 'another')
  const third = new TimeScale(clock, kept(second.mark()))
  expect(third.fromStore(due) - clock.now()).toBe(2000)
})
