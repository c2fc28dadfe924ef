/** The estimate of what was lost, against a feed of which everything is known. */

import { compareFeed } from 'kumo/feeds'
import { describe, expect, it } from 'vitest'
import { excess } from '../../../src/feeds/difference/loss.js'
import { seededRandom } from '../../../src/time.js'
import { article, articles, entry, feedOf, HOUR, polls, START } from './feeds.js'

const DAY = 24 * HOUR

/** Estimated and true losses of a feed that posts at random, polled now and then. */
function losses(
  postsADay: number,
  window: number,
  pollEveryMs: number,
  dated: boolean,
  aheadMs = 0,
  lateMs = 0,
) {
  const random = seededRandom(postsADay * 100 + window)
  const posts: number[] = []
  let lost = 0
  let estimated = 0
  let memory: Uint8Array | undefined
  let next = START
  const seen = new Set<string>()
  for (let poll = 1; poll <= 500; poll++) {
    // Polls are not regular either.
    const now = START + (poll + random.next() / 2) * pollEveryMs
    while (next + lateMs < now) {
      posts.push(next)
      next -= (Math.log(1 - random.next()) * DAY) / postsADay
    }
    const shown = posts.slice(-window).map((at, k) => {
      const n = Math.max(0, posts.length - window) + k
      const published = dated ? new Date(at + aheadMs).toISOString() : undefined
      return entry({ id: `${n}`, title: `Post ${n}`, published })
    })
    const difference = compareFeed(memory, feedOf(shown.reverse()), now)
    memory = difference.memory
    for (const { id } of difference.new) seen.add(id!)
    if (poll > 1) estimated += difference.loss.estimate
  }
  const first = posts.length === 0 ? 0 : Math.min(...[...seen].map(Number))
  for (let n = first; n < posts.length; n++) if (!seen.has(String(n))) lost++
  return { lost, ratio: estimated / lost }
}

describe('the estimate', () => {
  it.each([
    [10, 5, true],
    [20, 10, true],
    [30, 15, true],
    [8, 5, true],
    [3, 5, false],
    [7, 10, false],
  ])('of %i posts a day and a window of %i, dates: %s, is near the truth', (postsADay, window, dated) => {
    const { lost, ratio } = losses(postsADay, window, DAY, dated)
    expect(lost).toBeGreaterThan(30)
    // Without dates the rate itself is an estimate.
    expect(ratio).toBeGreaterThan(dated ? 0.9 : 0.8)
    expect(ratio).toBeLessThan(dated ? 1.1 : 1.25)
  })

  it('is near the truth if the clock of the feed is an hour ahead', () => {
    const { ratio } = losses(10, 5, DAY, true, HOUR)
    expect(ratio).toBeGreaterThan(0.85)
    expect(ratio).toBeLessThan(1.15)
  })

  it.each([24, 24 * 40])('is near the truth if the feed shows entries %i hours after their date', (hours) => {
    const { lost, ratio } = losses(10, 5, DAY, true, 0, hours * HOUR)
    expect(lost).toBeGreaterThan(1000)
    expect(ratio).toBeGreaterThan(0.85)
    expect(ratio).toBeLessThan(1.15)
  })

  it('is none if the windows overlap, and unknown where nothing can be said', () => {
    expect(polls(articles(1, 5), articles(5, 9))[1]!.loss).toMatchObject({ basis: 'overlap', estimate: 0 })
    const unordered = (ids: readonly number[]) => ids.map((n) => article(n))
    const [, shuffled] = polls(unordered([5, 1, 4, 2, 3, 7]), unordered([12, 9, 15, 8, 14, 10]))
    expect(shuffled!.loss).toEqual({
      overlap: 0,
      possible: false,
      estimate: 0,
      basis: 'unknown',
      gapMs: undefined,
    })
  })

  it('does not take a pinned entry for an overlap', () => {
    const pinned = article(0)
    const [, second] = polls([pinned, ...articles(1, 4)], [pinned, ...articles(40, 43)])
    expect(second!.loss).toMatchObject({ overlap: 0, possible: true, basis: 'dates' })
    const [, third] = polls([pinned, ...articles(1, 4)], [pinned, ...articles(4, 7)])
    expect(third!.loss).toMatchObject({ overlap: 1, possible: false })
  })
})

describe('a feed that was not modified', () => {
  // Article n is published n hours after the start, and there are five in each window.
  const first = compareFeed(undefined, feedOf(articles(1, 5)), START + 6 * HOUR)
  const later = (seenAt?: number) =>
    compareFeed(first.memory, feedOf(articles(40, 44)), START + 45 * HOUR, { seenAt }).loss

  it('has lost nothing up to then', () => {
    expect(later().gapMs).toBe(34 * HOUR)
    expect(later(START + 30 * HOUR).gapMs).toBe(10 * HOUR)
    expect(later(START + 30 * HOUR).estimate).toBeLessThan(later().estimate / 2)
  })

  it.each([START, Number.POSITIVE_INFINITY])(
    'at a time that cannot be (%d): no less than nothing',
    (seenAt) => {
      expect(later(seenAt).estimate).toBeGreaterThanOrEqual(0)
    },
  )
})

describe('the expected number beyond a window', () => {
  it.each([
    // From the definition, summed term by term.
    [1, 1, 0.5819767],
    [5, 5, 1.5681],
    [10, 5, 5.1949],
    [0, 5, 0],
  ])('of %d expected and %d shown', (mean, window, beyond) => {
    expect(excess(mean, window)).toBeCloseTo(beyond, 1)
  })

  it('is finite for any mean', () => {
    for (const mean of [1e-9, 1e-3, 1, 1e3, 9e3]) {
      for (const window of [1, 10, 1000]) {
        const value = excess(mean, window)
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThanOrEqual(Math.max(mean, 1))
      }
    }
    expect(excess(5000, 10)).toBeCloseTo(4990, 0)
  })
})
