/**
 * The index of a feed, tabulated. With N articles in an interval T and a window of w, an interval costs
 * g(T) = E[(N − w)⁺] + μ·P(N = 0) + δ·λT²/2: articles lost, a poll in vain, delay. The best division of a budget has the same
 * T·g′ − g = ν for all feeds: the price. Without bursts that is w·P(N > w) − μ·P(N ≤ 1) + δ·λT²/2, and it grows with T, so
 * a feed is due when it reaches the price. N depends on its mean m = λT, on the shape and on how irregular posting is, so
 * a few hundred numbers per window serve all feeds.
 */

import { type Irregularity, type Posting, shapeOf, type Tail, tailAt } from '../posting/counts.js'
import type { Weights } from './rules.js'

const LEAST_SHAPE = 0.05
const MOST_SHAPE = 2000
export const SHAPES = 24
const SHAPE_STEP = Math.log(MOST_SHAPE / LEAST_SHAPE) / (SHAPES - 1)

const MEANS = 128
const LEAST_MEAN = 1e-3
/** For the numerical derivative by log m. */
const HALF_STEP = 0.004
/** Halving 11 times leaves a thousandth of the interval between the shortest and the longest. */
const HALVINGS = 14

/** Windows up to this are told apart; above, steps of 15 % are precise enough. */
const EXACT_WINDOWS = 32
const WINDOW_STEP = Math.log(1.15)
/** A feed that shows more entries can be treated as if it showed as many. */
export const MOST_WINDOW = 4096

/** Windows that are treated alike have the same class; it stands for the smallest of them. */
export function windowClass(window: number): number {
  if (!(window >= 1)) return 1
  if (window <= EXACT_WINDOWS) return Math.floor(window)
  const steps = Math.log(Math.min(window, MOST_WINDOW) / EXACT_WINDOWS) / WINDOW_STEP
  return EXACT_WINDOWS + Math.floor(steps + 1e-9)
}

function windowOf(ofClass: number): number {
  if (ofClass <= EXACT_WINDOWS) return ofClass
  return Math.round(EXACT_WINDOWS * Math.exp((ofClass - EXACT_WINDOWS) * WINDOW_STEP))
}

/** Where a shape lies between the rows of a table. */
export function shapePlace(shape: number): number {
  if (!(shape > LEAST_SHAPE)) return 0
  return Math.min(SHAPES - 1, Math.log(shape / LEAST_SHAPE) / SHAPE_STEP)
}

/** One shape: parts of the index, and what an interval costs, for each mean. */
interface Row {
  readonly lossIndex: Float32Array
  readonly futileIndex: Float32Array
  readonly lost: Float32Array
  readonly empty: Float32Array
}

/** What an interval brings on average. */
export interface Interval {
  days: number
  /** Articles lost. */
  lost: number
  /** Chance that nothing is new. */
  futile: number
}

/** All shapes of one window. Rows are computed when they are first needed. */
class WindowTable {
  readonly #window: number
  readonly #irregularity: Irregularity
  readonly #rows: (Row | undefined)[] = Array.from({ length: SHAPES })
  readonly #step: number
  readonly #low = Math.log(LEAST_MEAN)

  constructor(window: number, irregularity: Irregularity) {
    this.#window = window
    this.#irregularity = irregularity
    this.#step = (Math.log(20 * (window + 5)) - this.#low) / (MEANS - 1)
  }

  row(at: number): Row {
    const known = this.#rows[at]
    if (known !== undefined) return known
    const row = this.#computed(LEAST_SHAPE * Math.exp(at * SHAPE_STEP))
    this.#rows[at] = row
    return row
  }

  #computed(shape: number): Row {
    const numbers = () => new Float32Array(MEANS)
    const row: Row = { lossIndex: numbers(), futileIndex: numbers(), lost: numbers(), empty: numbers() }
    const here: Tail = { empty: 0, full: 0, lost: 0 }
    const less: Tail = { empty: 0, full: 0, lost: 0 }
    const more: Tail = { empty: 0, full: 0, lost: 0 }
    const tail = (logMean: number, into: Tail) => {
      const mean = Math.exp(logMean)
      return tailAt(mean, shapeOf(mean, shape, this.#irregularity), this.#window, into)
    }
    for (let at = 0; at < MEANS; at++) {
      const log = this.#low + at * this.#step
      tail(log, here)
      tail(log - HALF_STEP, less)
      tail(log + HALF_STEP, more)
      row.lost[at] = here.lost
      row.empty[at] = here.empty
      // Both grow with the mean; rounding must not say otherwise.
      const loss = Math.max(0, (more.lost - less.lost) / (2 * HALF_STEP) - here.lost)
      const futile = (more.empty - less.empty) / (2 * HALF_STEP) - here.empty
      row.lossIndex[at] = Math.max(loss, at === 0 ? 0 : row.lossIndex[at - 1]!)
      row.futileIndex[at] = Math.max(futile, at === 0 ? -1 : row.futileIndex[at - 1]!)
    }
    return row
  }

  /** Where a mean lies between the columns; beyond the last, the last. */
  place(logMean: number): number {
    const place = (logMean - this.#low) / this.#step
    return place > 0 ? Math.min(MEANS - 1.0001, place) : 0
  }
}

function at(numbers: Float32Array, place: number): number {
  const cell = Math.floor(place)
  const from = numbers[cell]!
  return from + (numbers[cell + 1]! - from) * (place - cell)
}

/** Tables, one per window. */
export class IndexTables {
  readonly irregularity: Irregularity
  readonly #weights: Weights
  readonly #tables: (WindowTable | undefined)[] = []

  constructor(irregularity: Irregularity, weights: Weights) {
    this.irregularity = irregularity
    this.#weights = weights
  }

  #table(ofClass: number): WindowTable {
    const known = this.#tables[ofClass]
    if (known !== undefined) return known
    const table = new WindowTable(windowOf(ofClass), this.irregularity)
    this.#tables[ofClass] = table
    return table
  }

  /** The interval after which a feed's index reaches the price, within the bounds. */
  intervalAt(posting: Posting, ofWindow: number, price: number, minDays: number, maxDays: number): number {
    const { rate } = posting
    const { futile, delay } = this.#weights
    const table = this.#table(ofWindow)
    const row = shapePlace(posting.shape)
    const lower = Math.floor(row)
    const share = row - lower
    const one = table.row(lower)
    const other = share > 0 ? table.row(lower + 1) : one
    const logRate = Math.log(rate)
    const index = (logDays: number): number => {
      const place = table.place(logRate + logDays)
      let sum = at(one.lossIndex, place) * (1 - share) + at(other.lossIndex, place) * share
      if (futile > 0)
        sum += futile * (at(one.futileIndex, place) * (1 - share) + at(other.futileIndex, place) * share)
      if (delay > 0) sum += 0.5 * delay * rate * Math.exp(2 * logDays)
      return sum
    }
    let low = Math.log(minDays)
    let high = Math.log(maxDays)
    if (index(low) >= price) return minDays
    if (!(index(high) >= price)) return maxDays
    for (let step = 0; step < HALVINGS; step++) {
      const middle = (low + high) / 2
      if (index(middle) >= price) high = middle
      else low = middle
    }
    return Math.exp((low + high) / 2)
  }

  /**
   * The intervals of a class of feeds at every price, in one pass over intervals and prices, both rising. `into` is called
   * for each price.
   */
  sweep(
    rate: number,
    shapeRow: number,
    ofWindow: number,
    prices: readonly number[],
    { minDays, maxDays }: { readonly minDays: number; readonly maxDays: number },
    into: (price: number, interval: Interval) => void,
  ): void {
    const { futile, delay } = this.#weights
    const table = this.#table(ofWindow)
    const row = table.row(shapeRow)
    const logRate = Math.log(rate)
    const interval: Interval = { days: minDays, lost: 0, futile: 0 }
    const low = Math.log(minDays)
    const span = Math.log(maxDays) - low
    const index = (logDays: number): number => {
      const place = table.place(logRate + logDays)
      const loss = at(row.lossIndex, place) + (futile > 0 ? futile * at(row.futileIndex, place) : 0)
      return delay > 0 ? loss + 0.5 * delay * rate * Math.exp(2 * logDays) : loss
    }
    let step = 0
    let before = index(low)
    let here = before
    for (let k = 0; k < prices.length; k++) {
      const price = prices[k]!
      while (step < SWEEP_STEPS && here < price) {
        step++
        before = here
        here = index(low + (span * step) / SWEEP_STEPS)
      }
      const isMax = here < price
      const part = step === 0 || isMax ? step : step - 1 + (price - before) / (here - before)
      const logDays = low + (span * part) / SWEEP_STEPS
      const place = table.place(logRate + logDays)
      interval.days = Math.exp(logDays)
      interval.lost = at(row.lost, place)
      interval.futile = at(row.empty, place)
      into(k, interval)
    }
  }
}

/** Intervals that a sweep looks at. */
const SWEEP_STEPS = 40
