import { expect, test } from 'vitest'
import type { Feed } from '../../../src/feeds/contract.js'
import { compareFeed } from '../../../src/feeds/difference/compare.js'
import { parseFeed } from '../../../src/feeds/parse/parse.js'
import { emptyObservation, observationOf } from '../../../src/feeds/schedule/observation.js'

const HOUR = 3_600_000
const START = Date.UTC(2024, 0, 1)

/** A feed with the articles `from` to `to`, one an hour. */
function feed(from: number, to: number, more = ''): Feed {
  const items = Array.from({ length: to - from }, (_, at) => to - 1 - at)
    .map(
      (n) =>
        `<item><guid>${n}</guid><title>Article ${n}</title><pubDate>${new Date(START + n * HOUR).toUTCString()}</pubDate></item>`,
    )
    .join('')
  return parseFeed(`<rss version="2.0"><channel><ttl>60</ttl>${more}${items}</channel></rss>`, {}) as Feed
}

test('a poll, as the schedule sees it', () => {
  const first = compareFeed(undefined, feed(0, 10), START + 10 * HOUR)
  expect(observationOf(feed(0, 10), first, { at: START + 10 * HOUR })).toMatchObject({
    outcome: 'feed',
    first: true,
    fresh: 10,
    window: 10,
    overlaps: true,
    unbounded: false,
    hints: { intervalMs: HOUR },
  })
  const at = START + 13 * HOUR
  const next = observationOf(feed(3, 13), compareFeed(first.memory, feed(3, 13), at), {
    at,
    notBefore: at + 5,
  })
  expect(next).toMatchObject({ first: false, fresh: 3, overlaps: true, unbounded: false, notBefore: at + 5 })
  expect(next.published).toEqual([10, 11, 12].map((n) => START + n * HOUR))
  const late = START + 40 * HOUR
  const gap = observationOf(feed(30, 40), compareFeed(first.memory, feed(30, 40), late), { at: late })
  expect(gap).toMatchObject({ fresh: 10, overlaps: false, unbounded: false, loss: { basis: 'dates' } })
})

test('a feed that was empty and wakes up has lost articles, if there may be a full window of it', () => {
  const empty = compareFeed(undefined, feed(0, 0), START)
  const at = START + 40 * HOUR
  const woke = compareFeed(empty.memory, feed(30, 40), at)
  // One article an hour; the oldest that is shown came 30 hours after the poll.
  expect(woke.loss).toMatchObject({ possible: true, basis: 'dates', gapMs: 30 * HOUR })
  expect(woke.loss.estimate).toBeCloseTo(27, 0)
  expect(observationOf(feed(30, 40), woke, { at })).toMatchObject({ overlaps: false, unbounded: false })
  const few = compareFeed(empty.memory, feed(37, 40), at)
  expect(few.loss).toMatchObject({ possible: false, estimate: 0 })
  expect(observationOf(feed(37, 40), few, { at })).toMatchObject({ overlaps: true, unbounded: false })
})

test('a feed without an order is unbounded', () => {
  const shuffled = (numbers: readonly number[]) => {
    const { entries, ...rest } = feed(0, 20)
    return { ...rest, entries: numbers.map((n) => entries[n]!) }
  }
  const first = compareFeed(undefined, shuffled([5, 1, 4, 2, 3, 7]), START + 20 * HOUR)
  const next = shuffled([12, 9, 15, 8, 14, 10])
  const difference = compareFeed(first.memory, next, START + 30 * HOUR)
  expect(observationOf(next, difference, { at: START + 30 * HOUR })).toMatchObject({ unbounded: true })
})

test('a delta is no window', () => {
  const first = compareFeed(undefined, feed(0, 10), START)
  const difference = compareFeed(first.memory, feed(10, 12), START + HOUR, { delta: true })
  expect(observationOf(feed(10, 12), difference, { at: START + HOUR, delta: true })).toMatchObject({
    outcome: 'delta',
    fresh: 2,
    window: 0,
    overlaps: true,
    unbounded: false,
  })
})

test('a poll without a feed', () => {
  expect(emptyObservation('not-modified', { at: 5 })).toMatchObject({
    at: 5,
    outcome: 'not-modified',
    fresh: 0,
  })
})
