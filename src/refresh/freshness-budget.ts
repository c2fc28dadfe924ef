/**
 * Distributes visits among pages so that as many copies as possible are up to date (Cho & Garcia-Molina 2003,
 * "Effective page refresh policies"). In the best distribution, one more visit has the same return for every page: the
 * price μ. With x = λ·interval this means 1 - e^-x·(1 + x) = μλ. A page with μλ ≥ 1 is not worth its price no matter
 * how rarely it is visited: it changes so fast that its copy is outdated at once.
 *
 * The price is set so that all pages together cost as many visits as the aim `archive` would make. It depends only on
 * the number of pages per change interval, and is computed again when these numbers have changed enough.
 */

import { archiveIntervalMs } from './aims.js'

/** The bounds of intervals and what determines the budget: part of `RefreshRules`. */
export interface BudgetRules {
  readonly minMs: number
  readonly maxMs: number
  readonly target: number
}

/** Pages that change about equally often. */
interface PageClass {
  readonly at: number
  readonly count: number
  /** The geometric mean of their change intervals. */
  readonly changeMs: number
}

/** Pages whose change intervals differ by less than this are counted together, with their mean. */
const CLASS_WIDTH = Math.log(1.1)
/** From 1 ms to 30,000 years. */
const LONGEST_MS = 1e15
const CLASSES = Math.round(Math.log(LONGEST_MS) / CLASS_WIDTH) + 1
/** The price is computed again when this share of the pages has been added, removed or changed its habit. */
const MOVED = 0.01
/** Relative precision with which the budget is met. */
const PRECISION = 1e-4
const MOST_STEPS = 200

/** The intervals for the aim `fresh`. It is updated for every page but keeps only a few hundred numbers. */
export class FreshnessBudget {
  readonly #counts = new Float64Array(CLASSES)
  /** Sums of the logarithms of change intervals. */
  readonly #sums = new Float64Array(CLASSES)
  #pages = 0
  /** Since the price was computed: pages added or removed, and by how much others have changed. */
  #moved = 0
  #price: number | undefined
  /** At that price, the interval of each class with pages; 0 for the others. */
  readonly #intervals = new Float64Array(CLASSES)
  #rules: BudgetRules | undefined

  /** The change interval of a page is different now. `before` is undefined for a new page, `now` for a removed one. */
  replace(before: number | undefined, now: number | undefined): void {
    const old = logOf(before)
    const young = logOf(now)
    if (old !== undefined) this.#count(old, -1)
    if (young !== undefined) this.#count(young, 1)
    if (old !== undefined && young !== undefined) this.#moved += Math.min(1, Math.abs(young - old))
    else if (old !== young) this.#moved += 1
  }

  /** The interval at which a page with this change interval should be visited. */
  intervalMs(changeMs: number, rules: BudgetRules): number {
    if (this.#pages === 0) return bounded(archiveIntervalMs(changeMs, rules.target), rules)
    const price = this.#priceFor(rules)
    const log = logOf(changeMs) ?? 0
    // The interval of its class, because that is what the budget was computed with.
    return this.#intervals[classOf(log)]! || intervalAt(price, Math.exp(log), rules)
  }

  #count(log: number, by: 1 | -1): void {
    const at = classOf(log)
    // A page that was never added cannot be removed.
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
    // Pages that change much faster than they may be visited have the same return for the first visit as for the last,
    // so between two adjacent prices they get all visits or none. They get what is left.
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

/** Two prices, adjacent or equal: at the first one the budget is used up or exceeded, at the second one it suffices. */
function prices(classes: readonly PageClass[], budget: number, rules: BudgetRules): [number, number] {
  const overspent = (logPrice: number) => {
    const price = Math.exp(logPrice)
    let visits = 0
    for (const { count, changeMs } of classes) visits += count / intervalAt(price, changeMs, rules)
    return Math.log(visits / budget)
  }
  // At the lowest price every page is visited as often as allowed: for small x, μλ is x² / 2. At the highest none is
  // worth it.
  const longest = Math.log(classes.at(-1)!.changeMs)
  const shortest = Math.log(classes[0]!.changeMs)
  let low = Math.min(2 * Math.log(Math.max(rules.minMs, 1)) - longest - 2, shortest - 1)
  let high = longest
  let atLow = overspent(low)
  let atHigh = overspent(high)
  // The bounds leave no choice.
  if (atLow <= PRECISION) return [Math.exp(low), Math.exp(low)]
  if (atHigh >= -PRECISION) return [Math.exp(high), Math.exp(high)]
  for (let step = 0; step < MOST_STEPS && high - low > 1e-12; step++) {
    // Interpolating linearly between both ends is fast where the curve is smooth, bisecting where it has a step.
    const between = (low * atHigh - high * atLow) / (atHigh - atLow)
    const middle = step % 3 !== 2 && between > low && between < high ? between : (low + high) / 2
    const there = overspent(middle)
    if (Math.abs(there) < PRECISION) return [Math.exp(middle), Math.exp(middle)]
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
 * Solves 1 - e^-x·(1 + x) = worth for x, given -log(1 - worth), which equals x - log(1 + x). This is convex, so
 * Newton's method converges from above in three or four steps.
 */
function changesUnseen(log: number): number {
  const root = Math.sqrt(2 * log)
  // The difference would have no significant digits here; two terms of the series are precise enough.
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
  // Never 0, which would mean infinitely many visits.
  return Math.min(maxMs, Math.max(minMs, ms, 1))
}

function classOf(log: number): number {
  return Math.round(log / CLASS_WIDTH)
}

/** Undefined if there is no page. */
function logOf(changeMs: number | undefined): number | undefined {
  if (changeMs === undefined || Number.isNaN(changeMs)) return undefined
  return Math.log(Math.min(LONGEST_MS, Math.max(1, changeMs)))
}
