/**
 * What all feeds of a shard would cost and lose at every price. Feeds that post alike and show as much are counted
 * together, so a million of them are a few thousand classes.
 */

import type { Posting } from '../posting/counts.js'
import type { PriceCurve } from './contract.js'
import { type IndexTables, SHAPES, shapePlace } from './index-table.js'
import { PRICES, priceGrid } from './prices.js'

const LEAST_RATE = 1e-5
const RATE_STEP = Math.log(1.25)
/** Up to 10,000 articles a day. */
const RATES = Math.ceil(Math.log(1e9) / RATE_STEP) + 1

interface ClassCounts {
  readonly feeds: Float64Array
  /** Sums of their rates: the mean is what the class stands for. */
  readonly rates: Float64Array
}

export class Demand {
  readonly #windows = new Map<number, ClassCounts>()
  feeds = 0
  perDay = 0

  add(posting: Posting, ofWindow: number): void {
    this.#count(posting, ofWindow, 1)
  }

  remove(posting: Posting, ofWindow: number): void {
    this.#count(posting, ofWindow, -1)
  }

  #count({ rate, shape }: Posting, ofWindow: number, by: 1 | -1): void {
    let counts = this.#windows.get(ofWindow)
    if (counts === undefined) {
      const size = RATES * SHAPES
      counts = { feeds: new Float64Array(size), rates: new Float64Array(size) }
      this.#windows.set(ofWindow, counts)
    }
    const at = rateClass(rate) * SHAPES + Math.round(shapePlace(shape))
    const feeds = counts.feeds[at]! + by
    // A feed that was never added cannot be removed.
    if (feeds < 0) return
    counts.feeds[at] = feeds
    counts.rates[at] = feeds === 0 ? 0 : Math.max(0, counts.rates[at]! + by * rate)
    this.feeds += by
    this.perDay = this.feeds === 0 ? 0 : Math.max(0, this.perDay + by * rate)
  }

  /** Expected per day, at each price. */
  curve(tables: IndexTables, bounds: { readonly minDays: number; readonly maxDays: number }): PriceCurve {
    const polls = zeros()
    const lost = zeros()
    const futile = zeros()
    for (const [ofWindow, counts] of this.#windows) {
      for (let at = 0; at < counts.feeds.length; at++) {
        const feeds = counts.feeds[at]!
        if (feeds === 0) continue
        const rate = Math.max(LEAST_RATE, counts.rates[at]! / feeds)
        tables.sweep(rate, at % SHAPES, ofWindow, priceGrid, bounds, (price, interval) => {
          const visits = feeds / interval.days
          polls[price]! += visits
          lost[price]! += visits * interval.lost
          futile[price]! += visits * interval.futile
        })
      }
    }
    return { polls, lost, futile }
  }
}

function rateClass(rate: number): number {
  if (!(rate > LEAST_RATE)) return 0
  return Math.min(RATES - 1, Math.round(Math.log(rate / LEAST_RATE) / RATE_STEP))
}

function zeros(): number[] {
  return Array.from({ length: PRICES }, () => 0)
}
