import { describe, expect, it } from 'vitest'
import { type PageRule, PageSchedule } from '../../../experiments/refresh/page-rules.js'
import { drawPages, simulateVisits } from '../../../experiments/refresh/pages.js'
import { DAY_MS } from '../../../experiments/refresh/world.js'
import { seededRandom } from '../../../src/time.js'

const pages = drawPages({ pages: 400 })

function score(rule: PageRule, visitsPerDay = 0.3, changeMs = pages) {
  return simulateVisits(changeMs, { rule, visitsPerDay, learningDays: 200, scoredDays: 200, seed: 1 })
}

/** The best division of visits, found by giving them out one small part after the other to whom it helps most. */
function bestFreshness(changeMs: Float64Array, visitsPerMs: number): number {
  const steps = 400_000
  const part = (visitsPerMs * changeMs.length) / steps
  const rates = new Float64Array(changeMs.length)
  const fresh = (change: number, rate: number) =>
    rate === 0 ? 0 : rate * change * -Math.expm1(-1 / (rate * change))
  const gains = changeMs.map((change) => fresh(change, part))
  for (let step = 0; step < steps; step++) {
    let best = 0
    for (let i = 1; i < gains.length; i++) if (gains[i]! > gains[best]!) best = i
    rates[best]! += part
    gains[best] = fresh(changeMs[best]!, rates[best]! + part) - fresh(changeMs[best]!, rates[best]!)
  }
  return changeMs.reduce((sum, change, i) => sum + fresh(change, rates[i]!), 0) / changeMs.length
}

describe('simulateVisits', () => {
  it('scores a fixed interval as the formula says', () => {
    const every = 3 * DAY_MS
    const expected =
      pages.reduce((sum, c) => sum + (c / every) * (1 - Math.exp(-every / c)), 0) / pages.length
    const { freshness, spent } = score('fixed', 1 / 3)
    expect(freshness).toBeCloseTo(expected, 2)
    expect(spent).toBeCloseTo(1, 2)
  })

  it('scores the oracle as the best division that greed finds', () => {
    const few = drawPages({ pages: 40 })
    const best = bestFreshness(few, 0.1 / DAY_MS)
    const runs = [1, 2, 3, 4, 5].map(
      (seed) =>
        simulateVisits(few, { rule: 'oracle', visitsPerDay: 0.1, learningDays: 0, scoredDays: 2000, seed })
          .freshness,
    )
    expect(runs.reduce((sum, value) => sum + value, 0) / runs.length).toBeCloseTo(best, 1.7)
  })

  it('gives every rule as many visits as the budget has', () => {
    for (const rule of ['fresh', 'archive', 'step', 'fixed', 'oracle'] as const) {
      expect(Math.abs(score(rule).spent - 1), rule).toBeLessThan(0.02)
    }
  })

  it('keeps pages fresher than a step rule, and nearly as fresh as an oracle', () => {
    const ours = score('fresh').freshness
    expect(ours).toBeGreaterThan(1.1 * score('step').freshness)
    expect(ours).toBeGreaterThan(0.95 * score('oracle').freshness)
  })

  it('sees most changes with the aim to see them', () => {
    expect(score('archive').caught).toBeGreaterThan(1.5 * score('fixed').caught)
    expect(score('archive').caught).toBeGreaterThan(1.5 * score('fresh').caught)
  })

  it('gives the same again for the same seed', () => {
    expect(score('fresh', 0.05)).toEqual(score('fresh', 0.05))
  })
})

describe('the step rule', () => {
  it('settles where steps up and down are in balance, before it is scaled', () => {
    // As many steps of log 1.4 up as of log 1.25 down: 60 % of the visits see a change, after 0.92 change intervals.
    const random = seededRandom(1)
    const changeMs = new Float64Array(300).map((_, i) => (i % 2 === 0 ? 2 : 50) * DAY_MS)
    const schedule = new PageSchedule(changeMs, 'step', 0.1 / DAY_MS)
    const logs = [0, 0]
    for (let visit = 0; visit < 200; visit++) {
      for (const [page, change] of changeMs.entries()) {
        const every = schedule.everyMs(page)
        if (visit >= 100) logs[page % 2]! += Math.log(every / change)
        schedule.visited(page, every, random.next() < -Math.expm1(-every / change))
      }
    }
    for (const log of logs) {
      expect(Math.exp(log / 15_000)).toBeGreaterThan(0.75)
      expect(Math.exp(log / 15_000)).toBeLessThan(1.1)
    }
    expect(schedule.scale()).toBe(true)
    const visitsPerMs = changeMs.reduce((sum, _, page) => sum + 1 / schedule.everyMs(page), 0)
    expect(visitsPerMs / (300 * (0.1 / DAY_MS))).toBeCloseTo(1, 6)
  })
})
