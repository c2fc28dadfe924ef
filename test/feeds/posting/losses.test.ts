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

/** The window: n articles, evenly spread over some days, which ended the gap. */
const windowOf = (articles: number, days: number) =>
  Array.from({ length: articles }, (_, at) => 1e12 + (at * days * 86_400_000) / (articles - 1))

test('with dates, a steady feed lost what it posts in the gap, though the window was a quick one', () => {
  const quick = openGap({ rate: 5, shape: 500 }, 2, 10, 0.5, { burst: 0, change: 0 }, windowOf(10, 1.5))
  expect(closedGap(quick, 5, 1, { burst: 0, change: 0 }) / (5 * 0.5)).toBeCloseTo(1, 1)
})

test('with dates, a feed that has become another one lost at its new rate', () => {
  const woke = openGap({ rate: 0.1, shape: 20 }, 10, 10, 8, IRREGULARITY, windowOf(10, 2))
  const lost = closedGap(woke, 5, 1, IRREGULARITY)
  expect(lost).toBeGreaterThan(0.5 * 5 * 8)
  expect(lost).toBeLessThan(5 * 8)
})

test('if dates show groups, the oldest entry may be one of a group whose others are lost', () => {
  const groups = [0, 1, 2, 3, 500, 501, 502, 503, 1000, 1001].map((minute) => 1e12 + minute * 60_000)
  const args = [{ rate: 5, shape: 50 }, 2, 10, 1] as const
  const even = closedGap(openGap(...args, IRREGULARITY, windowOf(10, 1)), 5, 1, IRREGULARITY)
  const grouped = openGap(...args, IRREGULARITY, groups.toReversed())
  expect(grouped[6]).toBeGreaterThan(IRREGULARITY.burst)
  expect(closedGap(grouped, 5, 1, IRREGULARITY)).toBeGreaterThan(even)
})

test('dates that say nothing leave the burst term as it is', () => {
  for (const published of [[], [Number.NaN, 1e12], windowOf(10, 0)]) {
    const known = openGap({ rate: 5, shape: 50 }, 2, 10, 1, IRREGULARITY, published)
    expect(known[6]).toBe(IRREGULARITY.burst)
  }
})
