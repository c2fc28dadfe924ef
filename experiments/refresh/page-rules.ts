/** Rules for how often a page is visited: ours, and those that they are compared with. */

import { archiveIntervalMs } from '../../src/refresh/aims.js'
import { changeIntervalMs } from '../../src/refresh/estimator.js'
import { FreshnessBudget } from '../../src/refresh/freshness-budget.js'
import { observed } from '../../src/refresh/history.js'
import { DAY_MS } from './world.js'

/**
 * `fresh` and `archive`: ours, with their two aims. `step`: Apache Nutch's AdaptiveFetchSchedule, an interval that
 * grows by a fixed factor if a page has not changed and shrinks by another if it has. `fixed`: the same interval for
 * all pages. `oracle`: the best possible distribution, given how often each page changes (Cho & Garcia-Molina 2003).
 */
export type PageRule = 'fresh' | 'archive' | 'step' | 'fixed' | 'oracle'

/** Nutch's own defaults. */
const GROW = 1.4
const SHRINK = 0.8
/** The bounds of wanted intervals, for all rules except the oracle. */
const MIN_MS = DAY_MS / 24
const MAX_MS = 365 * DAY_MS
/** The bounds of the oracle. */
const UNBOUNDED = { minMs: 1, maxMs: 1e15 }
/** As in the crawler: weight of the changes of a server's other pages, in observations. */
const WEIGHT_OF_OTHER_PAGES = 1
/** As in the crawler: the maximum growth of a wanted interval per visit. */
const MAX_GROWTH = 4
/** The share of changes to catch is chosen again after this many visits per page. */
const VISITS_A_TARGET = 0.2

/** The intervals of all pages under one rule. They are scaled by a common factor to meet the budget. */
export class PageSchedule {
  readonly #rule: PageRule
  readonly #pages: number
  /** Allowed visits per ms, for all pages together. */
  readonly #allowed: number
  /** The wanted interval of each page, and the cost of all: Σ 1 / wanted. */
  readonly #wantedMs: Float64Array
  #load = 0
  /** The estimated change interval of each page, and Σ 1 / estimate. For the rules that estimate. */
  readonly #estimateMs: Float64Array
  #changes = 0
  #logs = 0
  readonly #histories: string[]
  readonly #budget = new FreshnessBudget()
  #target = 0.5
  #visits = 0
  #isScaled: boolean

  constructor(changeMs: Float64Array, rule: PageRule, visitsPerMs: number) {
    this.#rule = rule
    this.#pages = changeMs.length
    this.#allowed = visitsPerMs * this.#pages
    this.#wantedMs = new Float64Array(this.#pages).fill(1 / visitsPerMs)
    this.#load = this.#allowed
    this.#estimateMs =
      rule === 'oracle' ? changeMs.slice() : new Float64Array(this.#pages).fill(1 / visitsPerMs)
    this.#histories = new Array<string>(this.#pages).fill('')
    // With scaled intervals, steps would not converge: the scale grows as the wanted intervals shrink. So this rule
    // learns with as many visits as it likes, and has to meet the budget when it is scored.
    this.#isScaled = rule !== 'step'
    for (const ms of this.#estimateMs) {
      this.#budget.replace(undefined, ms)
      this.#changes += 1 / ms
      this.#logs += Math.log(ms)
    }
    this.#retarget()
    if (rule === 'oracle') {
      const rules = { ...UNBOUNDED, target: this.#target }
      for (let page = 0; page < this.#pages; page++) {
        this.#setWanted(page, this.#budget.intervalMs(changeMs[page]!, rules))
      }
    }
  }

  /** The interval until the next visit. */
  everyMs(page: number): number {
    return this.#wantedMs[page]! * (this.#isScaled ? this.#load / this.#allowed : 1)
  }

  /** Applies the budget from now on. Returns whether it was not applied before. */
  scale(): boolean {
    if (this.#isScaled) return false
    this.#isScaled = true
    return true
  }

  /** What a visit observed. */
  visited(page: number, elapsedMs: number, changed: boolean): void {
    if (this.#rule === 'fixed' || this.#rule === 'oracle') return
    if (this.#rule === 'step') {
      if (!this.#isScaled) this.#setWanted(page, bounded(this.#wantedMs[page]! * (changed ? SHRINK : GROW)))
      return
    }
    const history = observed(this.#histories[page]!, { elapsedMs, changed })
    this.#histories[page] = history
    const habitMs = Math.exp(this.#logs / this.#pages)
    this.#believe(page, changeIntervalMs(history, { intervalMs: habitMs, weight: WEIGHT_OF_OTHER_PAGES }))
    if (++this.#visits % Math.ceil(VISITS_A_TARGET * this.#pages) === 0) this.#retarget()
    const belief = this.#estimateMs[page]!
    const wanted =
      this.#rule === 'fresh'
        ? this.#budget.intervalMs(belief, { minMs: MIN_MS, maxMs: MAX_MS, target: this.#target })
        : archiveIntervalMs(belief, this.#target)
    this.#setWanted(page, bounded(Math.min(wanted, MAX_GROWTH * this.#wantedMs[page]!)))
  }

  /** The share of changes that the allowed number of visits would catch, if they were made in proportion to changes. */
  #retarget(): void {
    const between = this.#changes / this.#allowed
    this.#target = -Math.expm1(-between) / between
  }

  #believe(page: number, ms: number): void {
    const before = this.#estimateMs[page]!
    this.#budget.replace(before, ms)
    this.#changes += 1 / ms - 1 / before
    this.#logs += Math.log(ms) - Math.log(before)
    this.#estimateMs[page] = ms
  }

  #setWanted(page: number, ms: number): void {
    this.#load += 1 / ms - 1 / this.#wantedMs[page]!
    this.#wantedMs[page] = ms
  }
}

function bounded(ms: number): number {
  return Math.min(MAX_MS, Math.max(MIN_MS, ms))
}
