/**
 * How irregular posting is: two numbers for all feeds, because no single feed shows enough. They are those under which the
 * counts of all polls were likeliest; the meter keeps trying the neighbours of the values in use.
 */

import { type Irregularity, logChance, type Posting, shapeOf, type Tail, tailAt } from './counts.js'
import { type Count, MOST_CENSORED } from './estimator.js'

/** Variance beyond that of independent articles, as a multiple of the mean: articles that come together. */
const BURSTS = [0, 0.15, 0.3, 0.5, 0.8, 1.2, 1.8, 2.7, 4, 6]
/** The same as a multiple of the squared mean: rates that change. */
const CHANGES = [0, 0.05, 0.1, 0.2, 0.35, 0.6, 1, 1.7, 3]
/** The values in use, and one step in each direction. */
const STEPS = [
  [0, 0],
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const
/** Polls after which an observation weighs a third. */
const MEMORY_POLLS = 50_000
/** Other values must be this much likelier (as a logarithm) before all tables are computed again. */
const CLEARLY_BETTER = 8
/** Polls of feeds that hardly ever post say nothing about bursts. */
const LEAST_MEAN = 0.05

const tail: Tail = { empty: 0, full: 0, lost: 0 }

export class BurstMeter {
  readonly #scores = new Float64Array(STEPS.length)
  #burst = 3
  #change = 3

  get irregularity(): Irregularity {
    return { burst: BURSTS[this.#burst]!, change: CHANGES[this.#change]! }
  }

  /** Returns whether the values are others now. */
  observed(posting: Posting, { days, articles, censored }: Count): boolean {
    const mean = posting.rate * days
    if (!(mean > LEAST_MEAN && mean < MOST_CENSORED && articles >= 0 && articles < MOST_CENSORED))
      return false
    let best = 0
    for (let step = 0; step < STEPS.length; step++) {
      const burst = BURSTS[this.#burst + STEPS[step]![0]]
      const change = CHANGES[this.#change + STEPS[step]![1]]
      if (burst === undefined || change === undefined) continue
      const shape = shapeOf(mean, posting.shape, { burst, change })
      const score = censored
        ? Math.log(Math.max(1e-12, tailAt(mean, shape, articles, tail).full))
        : logChance(mean, shape, articles)
      this.#scores[step] = this.#scores[step]! * (1 - 1 / MEMORY_POLLS) + Math.max(score, -30)
      if (this.#scores[step]! > this.#scores[best]!) best = step
    }
    if (best === 0 || this.#scores[best]! < this.#scores[0]! + CLEARLY_BETTER) return false
    this.#burst += STEPS[best]![0]
    this.#change += STEPS[best]![1]
    this.#scores.fill(0)
    return true
  }
}
