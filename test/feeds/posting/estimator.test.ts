import { describe, expect, test } from 'vitest'
import {
  learn,
  learnAges,
  lostBeyond,
  postingOf,
  unknownPosting,
} from '../../../src/feeds/posting/estimator.js'
import { seededRandom } from '../../../src/time.js'

const REGULAR = { burst: 0, change: 0 }

function poisson(random: () => number, mean: number): number {
  let n = -1
  let left = mean
  while (left > 0) {
    left += Math.log(1 - random())
    n++
  }
  return n
}

const known = (state: number[]) => postingOf(state, 0, { rate: 0, shape: 0 })

describe('the rate of a feed', () => {
  test.each([0.05, 0.5, 4])('%d articles a day are found', (rate) => {
    const random = seededRandom(7)
    const rates = Array.from({ length: 40 }, () => {
      const state = unknownPosting()
      for (let poll = 0; poll < 100; poll++)
        learn(
          state,
          0,
          { days: 2, articles: poisson(() => random.next(), 2 * rate), censored: false },
          REGULAR,
        )
      return known(state).rate
    })
    const mean = rates.reduce((sum, each) => sum + each, 0) / rates.length
    expect(mean / rate).toBeGreaterThan(0.85)
    expect(mean / rate).toBeLessThan(1.25)
  })

  test('windows that are always overrun show only part of it, and it is found nevertheless', () => {
    const random = seededRandom(3)
    const state = unknownPosting()
    for (let poll = 0; poll < 200; poll++) {
      const posted = poisson(() => random.next(), 6)
      const shown = Math.min(posted, 5)
      learn(state, 0, { days: 1, articles: shown, censored: posted >= 5 }, REGULAR)
    }
    expect(known(state).rate).toBeGreaterThan(5)
    expect(known(state).rate).toBeLessThan(7.5)
  })

  test('a feed that wakes up is followed within days, a steady one is known well', () => {
    const state = unknownPosting()
    for (let poll = 0; poll < 90; poll++) learn(state, 0, { days: 1, articles: 0, censored: false }, REGULAR)
    const asleep = known(state).rate
    for (let poll = 0; poll < 5; poll++) learn(state, 0, { days: 1, articles: 4, censored: false }, REGULAR)
    expect(asleep).toBeLessThan(0.02)
    expect(known(state).rate).toBeGreaterThan(1)

    const steady = unknownPosting()
    for (let poll = 0; poll < 150; poll++)
      learn(steady, 0, { days: 1, articles: 2, censored: false }, REGULAR)
    expect(known(steady).shape).toBeGreaterThan(50)
  })

  test('the first poll of a feed with dates says how it posts', () => {
    const state = unknownPosting()
    learnAges(
      state,
      0,
      Array.from({ length: 20 }, (_, at) => at / 2),
    )
    expect(known(state).rate).toBeGreaterThan(1.3)
    expect(known(state).rate).toBeLessThan(2.2)
  })

  test.each([
    ['no time', { days: 0, articles: 5, censored: false }],
    ['time that runs back', { days: -3, articles: 5, censored: false }],
    ['a time that is no number', { days: Number.NaN, articles: 5, censored: true }],
    ['a count that is no number', { days: 1, articles: Number.NaN, censored: false }],
    ['endless articles', { days: 1, articles: Number.POSITIVE_INFINITY, censored: true }],
  ])('%s teaches nothing', (_, count) => {
    const state = unknownPosting()
    learn(state, 0, { days: 3, articles: 2, censored: false }, REGULAR)
    const before = [...state]
    learn(state, 0, count, REGULAR)
    expect(state).toEqual(before)
  })

  test('dates that cannot be true teach nothing', () => {
    const state = unknownPosting()
    learnAges(state, 0, [Number.NaN, Number.NaN, Number.POSITIVE_INFINITY])
    expect(state).toEqual(unknownPosting())
  })

  test('articles beyond the window are expected as the distribution says', () => {
    expect(lostBeyond({ rate: 0, shape: 1 }, 3, 5, REGULAR)).toBe(0)
    expect(lostBeyond({ rate: 10, shape: 1000 }, 1, 5, REGULAR)).toBeCloseTo(5.2, 0)
    // Geometric numbers have no memory: m more are expected, whatever the window.
    expect(lostBeyond({ rate: 3, shape: 1 }, 1, 7, REGULAR)).toBeCloseTo(3, 5)
  })
})
