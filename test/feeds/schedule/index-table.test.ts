import { describe, expect, test } from 'vitest'
import { logChance, type Tail, tailAt } from '../../../src/feeds/posting/counts.js'
import { IndexTables, windowClass } from '../../../src/feeds/schedule/index-table.js'
import { priceGrid } from '../../../src/feeds/schedule/prices.js'

const REGULAR = { burst: 0, change: 0 }
const EXACT = { futile: 0.3, delay: 0.01 }

/** w·P(N > w) − μ·P(N ≤ 1) + δ·λT²/2, which holds for every mixed Poisson number. */
function closedForm(rate: number, shape: number, window: number, days: number): number {
  const mean = rate * days
  const tail: Tail = { empty: 0, full: 0, lost: 0 }
  const above = tailAt(mean, shape, window + 1, tail).full
  const few = Math.exp(logChance(mean, shape, 0)) + Math.exp(logChance(mean, shape, 1))
  return window * above - EXACT.futile * few + (EXACT.delay * rate * days * days) / 2
}

describe('the index', () => {
  test.each([
    [0.5, 2, 5, 0.2],
    [0.5, 2, 5, 2],
    [0.05, 0.3, 5, 0.1],
    [20, 40, 10, 1],
    [3, 8, 15, 0.01],
    [50, 100, 30, 5],
  ])(
    'rate %d, shape %d, window %d reaches the price %d when the closed form does',
    (rate, shape, window, price) => {
      const tables = new IndexTables(REGULAR, EXACT)
      const days = tables.intervalAt({ rate, shape }, windowClass(window), price, 0.001, 1000)
      expect(closedForm(rate, shape, window, days * 0.93)).toBeLessThan(price)
      expect(closedForm(rate, shape, window, days * 1.07)).toBeGreaterThan(price)
    },
  )

  test('with a large window and only delay counted it is the square-root rule', () => {
    const tables = new IndexTables(REGULAR, { futile: 0, delay: 1 })
    const days = (rate: number) =>
      tables.intervalAt({ rate, shape: 100 }, windowClass(4096), 0.5, 0.001, 1000)
    expect(days(4)).toBeCloseTo(Math.sqrt(1 / 4), 2)
    expect(days(1) / days(4)).toBeCloseTo(2, 2)
  })

  test('stays within the bounds', () => {
    const tables = new IndexTables(REGULAR, { futile: 0, delay: 0 })
    expect(tables.intervalAt({ rate: 1e6, shape: 1 }, 5, 0.1, 0.25, 30)).toBe(0.25)
    expect(tables.intervalAt({ rate: 1e-9, shape: 1 }, 5, 0.1, 0.25, 30)).toBe(30)
    expect(tables.intervalAt({ rate: 0, shape: 1 }, 5, 0.1, 0.25, 30)).toBe(30)
    expect(tables.intervalAt({ rate: Number.NaN, shape: Number.NaN }, 5, 0.1, 0.25, 30)).toBe(30)
  })

  test('busier feeds, smaller windows and lower prices mean shorter intervals', () => {
    const tables = new IndexTables({ burst: 0.5, change: 0.2 }, { futile: 0, delay: 0.002 })
    const days = (rate: number, window: number, price: number) =>
      tables.intervalAt({ rate, shape: 3 }, windowClass(window), price, 0.01, 60)
    for (const rate of [0.1, 0.5, 2, 10]) {
      expect(days(rate * 2, 10, 0.5)).toBeLessThan(days(rate, 10, 0.5))
      expect(days(rate, 5, 0.5)).toBeLessThan(days(rate, 20, 0.5))
      expect(days(rate, 10, 0.1)).toBeLessThan(days(rate, 10, 0.5))
    }
  })

  test('a sweep over all prices gives the intervals of single questions', () => {
    const tables = new IndexTables({ burst: 0.3, change: 0.1 }, { futile: 0.1, delay: 0.01 })
    // A shape that has a row of its own.
    const shape = 0.05 * (2000 / 0.05) ** (10 / 23)
    const swept: number[] = []
    tables.sweep(0.7, 10, 10, priceGrid, { minDays: 0.01, maxDays: 30 }, (_, { days }) => swept.push(days))
    expect(swept).toHaveLength(priceGrid.length)
    for (const [at, price] of priceGrid.entries()) {
      const asked = tables.intervalAt({ rate: 0.7, shape }, 10, price, 0.01, 30)
      expect(Math.abs(Math.log(swept[at]! / asked))).toBeLessThan(0.12)
    }
  })

  test.each([
    [0, 1],
    [Number.NaN, 1],
    [-3, 1],
    [1, 1],
    [32, 32],
    [33, 32],
    [1e9, windowClass(4096)],
  ])('a window of %d is of class %d', (window, expected) => {
    expect(windowClass(window)).toBe(expected)
  })
})
