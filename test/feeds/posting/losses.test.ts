/** Losses without dates: what the next poll shows says how fast the feed is now. */

import { expect, test } from 'vitest'
import { closedGap, openGap } from '../../../src/feeds/posting/losses.js'

const IRREGULARITY = { burst: 0.15, change: 0.2 }
const gap = (rate: number, shape: number, days: number, shown: number) =>
  openGap({ rate, shape }, days, shown, undefined, IRREGULARITY)

test('a feed that woke up lost more than it could be expected to', () => {
  // Three articles a month until then; ten were shown after 12 days, and as many a day later.
  const asleep = gap(0.1, 3, 12, 10)
  expect(asleep[4]).toBeLessThan(4)
  const woke = closedGap(asleep, 10, 1, IRREGULARITY)
  expect(woke).toBeGreaterThan(8)
  expect(woke).toBeLessThan(60)
})

test('a feed that goes on as before lost as much as was expected', () => {
  const steady = gap(2, 100, 3, 5)
  expect(closedGap(steady, 4, 2, IRREGULARITY) / steady[4]).toBeCloseTo(1, 1)
})

test('a burst that is over was shown for the most part', () => {
  const over = gap(0.1, 3, 12, 10)
  expect(closedGap(over, 0, 5, IRREGULARITY)).toBeLessThan(over[4])
})

test('a gap that an earlier version stored is closed too', () => {
  const [days, shown, gapDays, rate, estimate] = gap(2, 100, 3, 5)
  const lost = closedGap([days, shown, gapDays, rate, estimate], 4, 2, IRREGULARITY)
  expect(lost).toBeGreaterThan(1)
  expect(lost).toBeLessThan(20)
})
