/** Rules for how often a page is visited: ours, and those that it is compared with. */

import { archiveIntervalMs } from '../../src/refresh/aims.js'
import { changeIntervalMs } from '../../src/refresh/estimator.js'
import { FreshnessBudget } from '../../src/refresh/freshness-budget.js'
import { observed } from '../../src/refresh/history.js'
import { DAY_MS } from './world.js'

/**
 * `fresh` and `archive`: ours, with their two aims. `step`: what Apache Nutch's AdaptiveFetchSchedule does, an interval that
 * grows by a fixed step if a page has not changed and shrinks by another if it has. `fixed`: all pages alike. `oracle`: the
 * best division there is, by somebody who knows how often each page changes (Cho & Garcia-Molina 2003).
 */
export type PageRule = 'fresh' | 'archive' | 'step' | 'fixed' | 'oracle'

/** Nutch's own defaults. */
const GROW = 1.4
const SHRINK = 0.8
/** Between these bounds intervals are wished, by all rules but the oracle. */
const MIN_MS = DAY_MS / 24
const MAX_MS = 365 * DAY_MS
/** The bounds of somebody who knows. */
const UNBOUNDED = { minMs: 1, maxMs: 1e15 }
/** As in the crawler: what the other pages of a server say about a page, in observations. */
const WEIGHT_OF_NEIGHBOURS = 1
/** As in the crawler: between two visits a wish grows by no more than this. */
const MOST_GROWTH = 4
/** The share of changes to catch is chosen anew after so many visits to each page. */
const VISITS_A_TARGET = 0.2

/** The intervals of all pages under one rule. Wishes are scaled by one factor, so that they cost what is allowed. */
export class PageSchedule {
  readonly #rule: PageRule
  readonly #pages: number
  /** Visits a ms that may be made, to all pages together. */
  readonly #allowed: number
  /** What each page wishes, and what that costs: Σ 1 / wish. */
  readonly #wishMs: Float64Array
  #load = 0
  /** What each page is believed to change at, and Σ 1 / that. Of the rules that estimate. */
  readonly #beliefMs: Float64Array
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
    this.#wishMs = new Float64Array(this.#pages).fill(1 / visitsPerMs)
    this.#load = this.#allowed
    this.#beliefMs =
      rule === 'oracle' ? changeMs.slice() : new Float64Array(this.#pages).fill(1 / visitsPerMs)
    this.#histories = new Array<string>(this.#pages).fill('')
    // Steps that are taken from a scaled interval end nowhere: the scale grows as the wishes shrink. So this rule learns
    // with as many visits as it likes, and is held to the budget when it is scored.
    this.#isScaled = rule !== 'step'
    for (const ms of this.#beliefMs) {
      this.#budget.replace(undefined, ms)
      this.#changes += 1 / ms
      this.#logs += Math.log(ms)
    }
    this.#retarget()
    if (rule === 'oracle') {
      const rules = { ...UNBOUNDED, target: this.#target }
      for (let page = 0; page < this.#pages; page++) {
        this.#wish(page, this.#budget.intervalMs(changeMs[page]!, rules))
      }
    }
  }

  /** From a visit to the next. */
  everyMs(page: number): number {
    return this.#wishMs[page]! * (this.#isScaled ? this.#load / this.#allowed : 1)
  }

  /** From now on the budget holds. Answers whether it did not before. */
  scale(): boolean {
    if (this.#isScaled) return false
    this.#isScaled = true
    return true
  }

  /** What a visit saw. */
  visited(page: number, elapsedMs: number, changed: boolean): void {
    if (this.#rule === 'fixed' || this.#rule === 'oracle') return
    if (this.#rule === 'step') {
      if (!this.#isScaled) this.#wish(page, bounded(this.#wishMs[page]! * (changed ? SHRINK : GROW)))
      return
    }
    const history = observed(this.#histories[page]!, { elapsedMs, changed })
    this.#histories[page] = history
    const habitMs = Math.exp(this.#logs / this.#pages)
    this.#believe(page, changeIntervalMs(history, { intervalMs: habitMs, weight: WEIGHT_OF_NEIGHBOURS }))
    if (++this.#visits % Math.ceil(VISITS_A_TARGET * this.#pages) === 0) this.#retarget()
    const belief = this.#beliefMs[page]!
    const wish =
      this.#rule === 'fresh'
        ? this.#budget.intervalMs(belief, { minMs: MIN_MS, maxMs: MAX_MS, target: this.#target })
        : archiveIntervalMs(belief, this.#target)
    this.#wish(page, bounded(Math.min(wish, MOST_GROWTH * this.#wishMs[page]!)))
  }

  /** The share of changes that as many visits as are allowed would catch, if they were made in proportion to changes. */
  #retarget(): void {
    const between = this.#changes / this.#allowed
    this.#target = -Math.expm1(-between) / between
  }

  #believe(page: number, ms: number): void {
    const before = this.#beliefMs[page]!
    this.#budget.replace(before, ms)
    this.#changes += 1 / ms - 1 / before
    this.#logs += Math.log(ms) - Math.log(before)
    this.#beliefMs[page] = ms
  }

  #wish(page: number, ms: number): void {
    this.#load += 1 / ms - 1 / this.#wishMs[page]!
    this.#wishMs[page] = ms
  }
}

function bounded(ms: number): number {
  return Math.min(MAX_MS, Math.max(MIN_MS, ms))
}
