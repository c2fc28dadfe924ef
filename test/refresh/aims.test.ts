import { describe, expect, test } from 'vitest'
import { archiveIntervalMs } from '../../src/refresh/aims.js'
import { FreshnessBudget } from '../../src/refresh/freshness-budget.js'
import { seededRandom } from '../../src/time.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const RULES = { minMs: HOUR / 4, maxMs: 60 * DAY, target: 0.6 }

function bounded(ms: number, { minMs, maxMs } = RULES): number {
  return Math.min(maxMs, Math.max(minMs, ms))
}

/** The share of the time for which the copy of a page is up to date, if it is fetched at regular intervals. */
function freshness(changeMs: number, everyMs: number): number {
  const x = everyMs / changeMs
  return x > 0 ? -Math.expm1(-x) / x : 1
}

/** Pages that change at anything from a minute to years. */
function population(count: number, seed: number): number[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => 60_000 * 1e6 ** random.next())
}

function budgetFor(pages: readonly number[]): FreshnessBudget {
  const budget = new FreshnessBudget()
  for (const page of pages) budget.replace(undefined, page)
  return budget
}

function archiveVisits(pages: readonly number[], rules = RULES): number {
  return pages.reduce((sum, page) => sum + 1 / bounded(archiveIntervalMs(page, rules.target), rules), 0)
}

function visits(pages: readonly number[], budget: FreshnessBudget, rules = RULES): number {
  return pages.reduce((sum, page) => sum + 1 / budget.intervalMs(page, rules), 0)
}

function meanFreshness(pages: readonly number[], intervals: readonly number[]): number {
  return pages.reduce((sum, page, i) => sum + freshness(page, intervals[i]!), 0) / pages.length
}

describe('the aim archive', () => {
  test('catches the share of changes that it is to, by simulation', () => {
    const random = seededRandom(5)
    for (const target of [0.3, 0.6, 0.9]) {
      const every = archiveIntervalMs(DAY, target)
      let caught = 0
      let changes = 0
      let last = -1
      for (let now = 0; changes < 100_000; changes++) {
        now += -Math.log(1 - random.next()) * DAY
        const period = Math.floor(now / every)
        if (period !== last) caught++
        last = period
      }
      expect(caught / changes).toBeCloseTo(target, 2)
    }
  })

  test('solves (1 - e^-x) / x = target', () => {
    for (const target of [0.001, 0.1, 0.5, 0.8, 0.99, 0.999999]) {
      for (const changeMs of [1, HOUR, 400 * DAY]) {
        expect(freshness(changeMs, archiveIntervalMs(changeMs, target))).toBeCloseTo(target, 9)
      }
    }
    // W being Lambert's function: 2 + W(-2e^-2).
    expect(archiveIntervalMs(1, 0.5)).toBeCloseTo(1.59362426, 7)
  })

  test('has an answer at the ends', () => {
    expect(archiveIntervalMs(DAY, 1)).toBe(0)
    expect(archiveIntervalMs(DAY, 0)).toBe(Number.POSITIVE_INFINITY)
    expect(freshness(DAY, 0)).toBe(1)
    expect(freshness(DAY, Number.POSITIVE_INFINITY)).toBe(0)
    expect(freshness(Number.POSITIVE_INFINITY, DAY)).toBe(1)
  })
})

describe('freshness', () => {
  test('is the share of the time for which a copy is up to date, by simulation', () => {
    const random = seededRandom(6)
    for (const every of [0.2, 1, 5]) {
      let fresh = 0
      const rounds = 40_000
      for (let i = 0; i < rounds; i++) fresh += Math.min(every, -Math.log(1 - random.next()))
      expect(fresh / (rounds * every)).toBeCloseTo(freshness(1, every), 1.9)
    }
  })
})

describe('the aim fresh', () => {
  test.each([5, 12, 50])('is the best division of visits among %i pages, by trying', (count) => {
    for (let seed = 0; seed < 4; seed++) {
      const pages = population(count, seed)
      const budget = budgetFor(pages)
      const ours = pages.map((page) => budget.intervalMs(page, RULES))
      const best = bestByTrying(pages, RULES)
      expect(meanFreshness(pages, ours)).toBeGreaterThan(meanFreshness(pages, best) - 0.001)
      expect(meanFreshness(pages, ours)).toBeLessThan(meanFreshness(pages, best) + 0.001)
      expect(error(visits(pages, budget), archiveVisits(pages))).toBeLessThan(0.01)
    }
  })

  test.each([
    ['narrow bounds', { minMs: DAY, maxMs: 3 * DAY, target: 0.6 }],
    ['a low target', { minMs: 1000, maxMs: 1000 * DAY, target: 0.1 }],
    ['a high target', { minMs: HOUR, maxMs: 90 * DAY, target: 0.97 }],
    ['no choice', { minMs: DAY, maxMs: DAY, target: 0.5 }],
    ['no upper bound', { minMs: HOUR, maxMs: Number.POSITIVE_INFINITY, target: 0.6 }],
    ['no lower bound', { minMs: 0, maxMs: 60 * DAY, target: 0.6 }],
  ])('spends as much as archive would, with %s', (_, rules) => {
    for (const pages of [
      population(2000, 8),
      population(7, 9),
      [DAY],
      [1, 1e12],
      [1000, 1000, 1000],
      [1000, 1000, DAY, 1000, 9000],
    ]) {
      const budget = budgetFor(pages)
      expect(error(visits(pages, budget, rules), archiveVisits(pages, rules))).toBeLessThan(0.01)
      for (const page of pages) {
        const every = budget.intervalMs(page, rules)
        expect(every).toBeGreaterThanOrEqual(rules.minMs)
        expect(every).toBeLessThanOrEqual(rules.maxMs)
      }
    }
  })

  test('gets the same for one more visit from every page, also from those that hardly ever change', () => {
    const pages = Array.from({ length: 30 }, (_, i) => 1e6 * 1.9 ** i)
    const budget = budgetFor(pages)
    const rules = { minMs: 1, maxMs: 1e15, target: 0.6 }
    const returns = pages
      .filter((page) => budget.intervalMs(page, rules) < rules.maxMs)
      .map((page) => {
        const x = budget.intervalMs(page, rules) / page
        // How freshness grows with visits: 1 - e^-x·(1 + x), by its series where that has no digits left.
        return page * (x < 1e-3 ? (x * x) / 2 - x ** 3 / 3 : 1 - Math.exp(-x) * (1 + x))
      })
    expect(returns.length).toBeGreaterThan(20)
    expect(budget.intervalMs(pages.at(-1)!, rules) / pages.at(-1)!).toBeLessThan(1.4e-4)
    expect(Math.max(...returns) / Math.min(...returns)).toBeLessThan(1.001)
  })

  test('lets go of pages that change too fast, and is fresher for it', () => {
    const pages = population(1000, 1)
    const budget = budgetFor(pages)
    const every = (changeMs: number) => budget.intervalMs(changeMs, RULES)
    expect(every(2 * 60_000)).toBe(RULES.maxMs)
    // The most visits go to pages that change at a medium pace; from there on they become fewer.
    const slower = [HOUR, 4 * HOUR, DAY, 10 * DAY, 100 * DAY].map(every)
    expect(slower).toEqual([...slower].sort((a, b) => a - b))
    expect(slower.at(-1)).toBeLessThan(every(2 * 60_000))
    const archive = pages.map((page) => bounded(archiveIntervalMs(page, RULES.target)))
    expect(meanFreshness(pages, pages.map(every))).toBeGreaterThan(meanFreshness(pages, archive) + 0.05)
  })

  test('is archive as long as no page is known, and again when all are gone', () => {
    const budget = new FreshnessBudget()
    const alone = () => [HOUR, DAY, 900 * DAY].map((changeMs) => budget.intervalMs(changeMs, RULES))
    const archive = [HOUR, DAY, 900 * DAY].map((changeMs) =>
      bounded(archiveIntervalMs(changeMs, RULES.target)),
    )
    expect(alone()).toEqual(archive)
    budget.replace(undefined, HOUR)
    budget.replace(undefined, 30 * DAY)
    expect(alone()).not.toEqual(archive)
    budget.replace(HOUR, undefined)
    budget.replace(30 * DAY, undefined)
    expect(alone()).toEqual(archive)
  })

  test('follows pages that come, go and change, as if they had always been so', () => {
    const random = seededRandom(2)
    let pages = population(300, 3)
    const budget = budgetFor(pages)
    for (let step = 0; step < 3000; step++) {
      const at = Math.floor(random.next() * pages.length)
      const now = random.next() < 0.1 ? undefined : Math.min(1e12, pages[at]! * 10 ** (random.next() - 0.45))
      budget.replace(pages[at], now)
      if (now === undefined) {
        pages = pages.filter((_, i) => i !== at)
        pages.push(HOUR * 100 ** random.next())
        budget.replace(undefined, pages.at(-1))
      } else pages[at] = now
      if (step % 50 !== 0) continue
      expect(error(visits(pages, budget), archiveVisits(pages))).toBeLessThan(0.03)
    }
    const anew = budgetFor(pages)
    for (const page of pages)
      expect(error(budget.intervalMs(page, RULES), anew.intervalMs(page, RULES))).toBeLessThan(0.1)
  })

  test('follows rules that change', () => {
    const pages = population(100, 4)
    const budget = budgetFor(pages)
    for (const target of [0.3, 0.6, 0.9, 0.3]) {
      const rules = { ...RULES, target }
      expect(error(visits(pages, budget, rules), archiveVisits(pages, rules))).toBeLessThan(0.01)
    }
  })

  test('bears what is not a number, and pages that it was never told of', () => {
    const budget = budgetFor([DAY, 2 * DAY])
    const before = budget.intervalMs(DAY, RULES)
    budget.replace(Number.NaN, Number.NaN)
    budget.replace(undefined, undefined)
    budget.replace(HOUR, undefined)
    expect(budget.intervalMs(DAY, RULES)).toBeCloseTo(before, -3)
    budget.replace(undefined, Number.POSITIVE_INFINITY)
    expect(budget.intervalMs(DAY, RULES)).toBeGreaterThan(0)
    expect(budget.intervalMs(Number.POSITIVE_INFINITY, RULES)).toBe(RULES.maxMs)
  })
})

function error(value: number, truth: number): number {
  return Math.abs(value - truth) / truth
}

/** Takes visits from one page and gives them to another as long as that helps, in ever smaller portions. */
function bestByTrying(pages: readonly number[], rules: typeof RULES): number[] {
  const rates = pages.map((page) => 1 / bounded(archiveIntervalMs(page, rules.target), rules))
  const value = (page: number, rate: number) => freshness(page, 1 / rate)
  for (let portion = 1 / rules.minMs / 4; portion > 1e-6 / rules.maxMs; portion /= 2) {
    for (let helped = true; helped; ) {
      helped = false
      let giver = -1
      let taker = -1
      let least = Number.POSITIVE_INFINITY
      let most = 0
      for (const [i, page] of pages.entries()) {
        const rate = rates[i]!
        const loss = value(page, rate) - value(page, rate - portion)
        const gain = value(page, rate + portion) - value(page, rate)
        if (rate - portion >= 1 / rules.maxMs && loss < least) {
          least = loss
          giver = i
        }
        if (rate + portion <= 1 / rules.minMs && gain > most) {
          most = gain
          taker = i
        }
      }
      if (giver >= 0 && taker >= 0 && giver !== taker && most > least + 1e-13) {
        rates[giver]! -= portion
        rates[taker]! += portion
        helped = true
      }
    }
  }
  return rates.map((rate) => 1 / rate)
}
