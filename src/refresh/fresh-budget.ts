/**
 * Visits shared out among pages so that as many copies as possible are up to date (Cho & Garcia-Molina 2003,
 * "Effective page refresh policies"). The best division gives every page the same return for one more visit, the
 * price μ. With x = λ·interval that is 1 - e^-x·(1 + x) = μλ. A page for which μλ ≥ 1 is not worth its price however
 * seldom it is visited: it changes so fast that its copy is out of date at once.
 *
 * The price is that at which all pages together cost as many visits as the aim `archive` would make. It depends on
 * the pages only through how many there are of each change interval, and is reckoned again when these numbers have
 * moved.
 */

import { archiveIntervalMs } from './aims.js'

/** What bounds intervals, and what the budget is reckoned by: part of `RefreshRules`. */
export interface BudgetRules {
  readonly minMs: number
  readonly maxMs: number
  readonly target: number
}

/** Pages that change about equally often. */
interface PageClass {
  readonly at: number
  readonly count: number
  /** The (geometric) mean of their change intervals. */
  readonly changeMs: number
}

/** Pages whose change intervals differ by less are counted together, under their mean. */
const CLASS_WIDTH = Math.log(1.1)
/** From 1 ms to 30,000 years. */
const LONGEST_MS = 1e15
const CLASSES = Math.round(Math.log(LONGEST_MS) / CLASS_WIDTH) + 1
/** The price is reckoned again when this share of the pages has come, gone or changed its habit. */
const MOVED = 0.01
/** How exactly the budget is met. */
const PRECISE = 1e-4
const MOST_STEPS = 200

/** The intervals for the aim `fresh`. It is told of every page, and keeps only a few hundred numbers. */
export class FreshBudget {
  readonly #counts = new Float64Array(CLASSES)
  /** Sums of the logarithms of change intervals. */
  readonly #sums = new Float64Array(CLASSES)
  #pages = 0
  /** Since the price was reckoned: how many pages have come or gone, and by how much others have changed. */
  #moved = 0
  #price: number | undefined
  /** At that price, for each class that had pages; 0 elsewhere. */
  readonly #intervals = new Float64Array(CLASSES)
  #rules: BudgetRules | undefined

  /** A page has another change interval than before. It is new without `before`, and gone without `now`. */
  replace(before: number | undefined, now: number | undefined): void {
    const old = logOf(before)
    const young = logOf(now)
    if (old !== undefined) this.#count(old, -1)
    if (young !== undefined) this.#count(young, 1)
    if (old !== undefined && young !== undefined) this.#moved += Math.min(1, Math.abs(young - old))
    else if (old !== young) this.#moved += 1
  }

  /** How often a page is to be visited that changes at this interval. */
  intervalMs(changeMs: number, rules: BudgetRules): number {
    if (this.#pages === 0) return bounded(archiveIntervalMs(changeMs, rules.target), rules)
    const price = this.#priceFor(rules)
    const log = logOf(changeMs) ?? 0
    // As its class, whose visits have been added up; then they are no more and no less than was reckoned.
    return this.#intervals[classOf(log)]! || intervalAt(price, Math.exp(log), rules)
  }

  #count(log: number, by: 1 | -1): void {
    const at = classOf(log)
    // A page that was never told of cannot go.
    if (this.#counts[at]! + by < 0) return
    this.#counts[at]! += by
    this.#sums[at] = this.#counts[at] === 0 ? 0 : this.#sums[at]! + by * log
    this.#pages += by
  }

  #priceFor(rules: BudgetRules): number {
    const known = this.#rules
    const isSame =
      known?.minMs === rules.minMs && known.maxMs === rules.maxMs && known.target === rules.target
    if (isSame && this.#price !== undefined && this.#moved <= MOVED * this.#pages) return this.#price
    this.#rules = { minMs: rules.minMs, maxMs: rules.maxMs, target: rules.target }
    this.#moved = 0
    const classes = this.#classes()
    const budget = classes.reduce(
      (sum, { count, changeMs }) => sum + count / bounded(archiveIntervalMs(changeMs, rules.target), rules),
      0,
    )
    const [cheap, dear] = prices(classes, budget, rules)
    this.#price = dear
    this.#intervals.fill(0)
    let left = budget
    let most = 0
    let marginal = classes[0]!
    for (const one of classes) {
      const every = intervalAt(dear, one.changeMs, rules)
      this.#intervals[one.at] = every
      left -= one.count / every
      const more = one.count / intervalAt(cheap, one.changeMs, rules) - one.count / every
      if (more > most) {
        most = more
        marginal = one
      }
    }
    // Pages that change much faster than they may be visited return the same for the first visit as for the last, so
    // that between two prices that are next to each other they get all or none. What is left is for them.
    const rate = 1 / this.#intervals[marginal.at]! + left / marginal.count
    if (most > 0) this.#intervals[marginal.at] = bounded(1 / Math.max(rate, 1 / rules.maxMs), rules)
    return dear
  }

  #classes(): PageClass[] {
    const classes: PageClass[] = []
    for (let at = 0; at < CLASSES; at++) {
      const count = this.#counts[at]!
      if (count > 0) classes.push({ at, count, changeMs: Math.exp(this.#sums[at]! / count) })
    }
    return classes
  }
}

/**
 * Two prices, as close as can be or alike: at the first the budget is used up or exceeded, at the second it suffices.
 */
function prices(classes: readonly PageClass[], budget: number, rules: BudgetRules): [number, number] {
  const overspent = (logPrice: number) => {
    const price = Math.exp(logPrice)
    let visits = 0
    for (const { count, changeMs } of classes) visits += count / intervalAt(price, changeMs, rules)
    return Math.log(visits / budget)
  }
  // At the lowest price every page is visited as often as allowed: where x is small, μλ is x² / 2. At the highest
  // none is worth it.
  const longest = Math.log(classes.at(-1)!.changeMs)
  const shortest = Math.log(classes[0]!.changeMs)
  let low = Math.min(2 * Math.log(Math.max(rules.minMs, 1)) - longest - 2, shortest - 1)
  let high = longest
  let atLow = overspent(low)
  let atHigh = overspent(high)
  // Where the bounds leave no choice.
  if (atLow <= PRECISE) return [Math.exp(low), Math.exp(low)]
  if (atHigh >= -PRECISE) return [Math.exp(high), Math.exp(high)]
  for (let step = 0; step < MOST_STEPS && high - low > 1e-12; step++) {
    // The straight line through both ends is fast where the curve is smooth, halving where it has a step.
    const between = (low * atHigh - high * atLow) / (atHigh - atLow)
    const middle = step % 3 !== 2 && between > low && between < high ? between : (low + high) / 2
    const there = overspent(middle)
    if (Math.abs(there) < PRECISE) return [Math.exp(middle), Math.exp(middle)]
    if (there > 0) {
      low = middle
      atLow = there
    } else {
      high = middle
      atHigh = there
    }
  }
  return [Math.exp(low), Math.exp(high)]
}

/** The interval at which one more visit to a page returns the price. */
function intervalAt(price: number, changeMs: number, rules: BudgetRules): number {
  const worth = price / changeMs
  if (worth >= 1) return rules.maxMs
  return bounded(changesUnseen(-Math.log1p(-worth)) * changeMs, rules)
}

/**
 * x from 1 - e^-x·(1 + x) = worth, given -log(1 - worth): x - log(1 + x) equals that. It is convex, and from above
 * Newton's method comes down to the solution in three or four steps.
 */
function changesUnseen(log: number): number {
  const root = Math.sqrt(2 * log)
  // Here the difference would have no digits left; two terms of the series have enough.
  if (log < 1e-8) return root + (2 / 3) * log
  let x = log + root
  for (let step = 0; step < 20; step++) {
    const next = x - ((x - Math.log1p(x) - log) * (1 + x)) / x
    if (!(next < x * (1 - 1e-9))) return next
    x = next
  }
  return x
}

function bounded(ms: number, { minMs, maxMs }: BudgetRules): number {
  // Never 0, which would be infinitely many visits.
  return Math.min(maxMs, Math.max(minMs, ms, 1))
}

function classOf(log: number): number {
  return Math.round(log / CLASS_WIDTH)
}

/** Undefined where there is no page. */
function logOf(changeMs: number | undefined): number | undefined {
  if (changeMs === undefined || Number.isNaN(changeMs)) return undefined
  return Math.log(Math.min(LONGEST_MS, Math.max(1, changeMs)))
}
