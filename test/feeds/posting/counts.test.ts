import { describe, expect, test } from 'vitest'
import { logChance, logGamma, shapeOf, tailAt } from '../../../src/feeds/posting/counts.js'

/** Sums of the probabilities themselves. */
function slowTail(mean: number, shape: number, window: number) {
  let full = 0
  let lost = 0
  for (let n = window; n < 20_000; n++) {
    const chance = Math.exp(logChance(mean, shape, n))
    full += chance
    lost += (n - window) * chance
  }
  return { empty: Math.exp(logChance(mean, shape, 0)), full, lost }
}

describe('counts', () => {
  test.each([
    [0.1, 0.3, 5],
    [3, 0.3, 5],
    [3, 2, 1],
    [12, 50, 10],
    [80, 1000, 100],
    [0.5, 20, 15],
  ])('mean %d, shape %d, window %d: the same as term by term', (mean, shape, window) => {
    const slow = slowTail(mean, shape, window)
    const fast = tailAt(mean, shape, window, { empty: 0, full: 0, lost: 0 })
    expect(fast.empty).toBeCloseTo(slow.empty, 9)
    expect(fast.full).toBeCloseTo(slow.full, 7)
    expect(Math.abs(fast.lost - slow.lost)).toBeLessThan(1e-6 + 1e-4 * slow.lost)
  })

  test('probabilities add up to one, whichever way they are computed', () => {
    for (const [mean, shape] of [
      [0.2, 0.1],
      [40, 3],
      [200, 500],
    ] as const) {
      let sum = 0
      for (let n = 0; n < 5000; n++) sum += Math.exp(logChance(mean, shape, n))
      expect(sum).toBeCloseTo(1, 6)
    }
  })

  test('the gamma function', () => {
    expect(logGamma(1)).toBeCloseTo(0, 9)
    expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI)), 9)
    expect(logGamma(11)).toBeCloseTo(Math.log(3_628_800), 9)
  })

  test('means that are too large for a number do no harm', () => {
    const far = tailAt(1e6, 1e6, 100, { empty: 0, full: 0, lost: 0 })
    expect(far).toEqual({ empty: 0, full: 1, lost: 1e6 - 100 })
    expect(tailAt(0, 1, 5, { empty: 0, full: 0, lost: 0 })).toEqual({ empty: 1, full: 0, lost: 0 })
    expect(tailAt(Number.NaN, 1, 5, { empty: 0, full: 0, lost: 0 }).lost).toBe(0)
  })

  test('bursts and changes widen the distribution as they should', () => {
    const mean = 4
    const shape = shapeOf(mean, 2, { burst: 0.5, change: 0.25 })
    let variance = 0
    for (let n = 0; n < 1000; n++) variance += (n - mean) ** 2 * Math.exp(logChance(mean, shape, n))
    expect(variance).toBeCloseTo(mean + mean ** 2 / 2 + 0.25 * mean ** 2 + 0.5 * mean, 4)
  })
})
