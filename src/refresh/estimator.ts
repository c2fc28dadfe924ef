/**
 * Estimates how often a page changes. Changes are modelled as a Poisson process of rate λ that is observed at irregular
 * times. The estimate is the most likely λ (Cho & Garcia-Molina 2003, "Estimating frequency of change"), with three
 * additions:
 * - A prior, in the form of virtual visits, so that there is an estimate before the first visit, and none goes to
 *   infinity if every visit or no visit has seen a change.
 * - If the server reports the age of the content, the change has a date, which says more than the fact that there was
 *   one.
 * - A page may change its habit. Old observations weigh less, and if the observations before and after some visit
 *   indicate rates that differ too much for chance, those before it hardly count any more.
 *
 * All computations use u = log λ, where the log likelihood has a single peak for any observations, because each of its
 * terms is concave.
 */

import type { Observation, Prior } from './contract.js'
import { observations } from './history.js'

/**
 * After this many visits an observation has half its weight. A shorter half-life adapts to a new habit slightly sooner,
 * but costs accuracy on every page that keeps its habit; detecting the new habit works better.
 */
const HALF_LIFE = 30
const FADING = 0.5 ** (1 / HALF_LIFE)

/**
 * How much better two habits must explain the visits than one (in log likelihood) to be accepted. A page that seems to
 * change faster needs less: its visits come too late to say more, because each sees a change but not how many, whereas
 * one long time without a change says a lot.
 */
const FASTER = 4
const SLOWER = 5
/** The weight of visits before a change of habit. Not zero, because the change may have been chance. */
const OUTDATED_WEIGHT = 0.02
/** A habit needs at least this many visits. */
const MIN_VISITS = 2

/** Intervals from a millisecond to 30,000 years: far beyond anything plausible, and numerically safe. */
const LOWEST = -Math.log(1e15)
const HIGHEST = 0
/** When a step of Newton's method is this short, the result is within a ten-thousandth of the peak. */
const PRECISION = 0.01
const MOST_STEPS = 60

/** The interval between changes (1 / λ, in ms) that best explains the observations. Never 0 and never infinite. */
export function changeIntervalMs(history: string, prior: Prior): number {
  const belief = sound(prior)
  const seen = observations(history)
  if (seen.length === 0) return belief.intervalMs
  const alike = new LogLikelihood(seen, new Float64Array(seen.length).fill(1), belief)
  const overall = alike.peak(0, seen.length, guess(seen, belief))
  const began = habitBegan(seen, alike, overall)
  const weights = new Float64Array(seen.length)
  let weight = 1
  for (let i = seen.length - 1; i >= 0; i--) {
    weights[i] = i < began ? weight * OUTDATED_WEIGHT : weight
    weight *= FADING
  }
  return Math.exp(-new LogLikelihood(seen, weights, belief).peak(0, seen.length, overall))
}

/**
 * The index of the first observation of the current habit; 0 if there is no sign of an earlier one. A new habit would
 * have begun where the observations after it disagree most with the overall rate, measured by the sum of scores (the
 * derivatives of the log likelihood, 0 on average while the habit lasts). The likelihoods of one and of two habits are
 * compared only there.
 */
function habitBegan(seen: readonly Observation[], evidence: LogLikelihood, overall: number): number {
  const count = seen.length
  if (count < 2 * MIN_VISITS) return 0
  const rate = Math.exp(overall)
  let all = 0
  for (const one of seen) all += information(one, rate)
  let place = 0
  let most = 0
  let sum = 0
  let told = 0
  for (let i = count - 1; i >= MIN_VISITS; i--) {
    const one = seen[i]!
    sum += score(one, rate)
    told += information(one, rate)
    if (i > count - MIN_VISITS) continue
    // The variance of such a sum, given that all scores add up to zero, plus a little, so that two visits do not
    // outweigh ten.
    const surprise = (sum * sum) / (told * (1 - told / all) + 0.3)
    if (surprise > most) {
      most = surprise
      place = i
    }
  }
  // Two habits can gain about half of the surprise, so usually there is nothing to compare.
  if (most < FASTER) return 0
  const before = evidence.peak(0, place, overall)
  const since = evidence.peak(place, count, overall)
  const gain =
    evidence.at(0, place, before) + evidence.at(place, count, since) - evidence.at(0, count, overall)
  return gain > (since > before ? FASTER : SLOWER) ? place : 0
}

/** The log likelihood of weighted observations and the prior, as a function of u = log λ. */
class LogLikelihood {
  readonly #seen: readonly Observation[]
  readonly #weights: Float64Array
  readonly #prior: Prior

  constructor(seen: readonly Observation[], weights: Float64Array, prior: Prior) {
    this.#seen = seen
    this.#weights = weights
    this.#prior = prior
  }

  /**
   * The u at which the observations from…to are most likely: Newton's method, kept between a lower and an upper bound.
   */
  peak(from: number, to: number, start: number): number {
    const { intervalMs, weight } = this.#prior
    let low = LOWEST
    let high = HIGHEST
    let u = Math.min(high, Math.max(low, start))
    for (let step = 0; step < MOST_STEPS; step++) {
      const rate = Math.exp(u)
      // The prior: half of its visits saw a change and half did not, after times that were exponentially distributed
      // around its interval, so that a change was seen with probability λm / (1 + λm). Fixed times would make high
      // rates impossible (e^-λτ); this leaves a tail on either side that a few visits can overcome.
      const odds = rate * intervalMs
      let slope = ((weight / 2) * (1 - odds)) / (1 + odds)
      let bend = (weight * odds) / ((1 + odds) * (1 + odds))
      for (let i = from; i < to; i++) {
        const one = this.#seen[i]!
        const x = rate * (one.ageMs ?? one.elapsedMs)
        const counts = this.#weights[i]!
        if (!one.changed) {
          slope -= counts * x
          bend += counts * x
        } else if (one.ageMs !== undefined) {
          slope += counts * (1 - x)
          bend += counts * x
        } else {
          const b = dampened(x)
          slope += counts * b
          bend += counts * b * (b + x - 1)
        }
      }
      if (slope > 0) low = u
      else high = u
      const newton = u + Math.max(-2, Math.min(2, slope / bend))
      const next = newton > low && newton < high ? newton : (low + high) / 2
      if (Math.abs(next - u) < PRECISION) return next
      u = next
    }
    return u
  }

  /** The log likelihood at u plus the log prior, which is 0 at its maximum. */
  at(from: number, to: number, u: number): number {
    const rate = Math.exp(u)
    const odds = rate * this.#prior.intervalMs
    let sum = (this.#prior.weight / 2) * Math.log((4 * odds) / ((1 + odds) * (1 + odds)))
    for (let i = from; i < to; i++) {
      const { elapsedMs, changed, ageMs } = this.#seen[i]!
      let term: number
      if (!changed) term = -rate * elapsedMs
      else if (ageMs !== undefined) term = u - rate * ageMs
      else term = Math.log(-Math.expm1(-rate * elapsedMs))
      sum += this.#weights[i]! * term
    }
    return sum
  }
}

/** The score of an observation: the derivative of its log likelihood with respect to u. */
function score({ elapsedMs, changed, ageMs }: Observation, rate: number): number {
  if (!changed) return -rate * elapsedMs
  return ageMs === undefined ? dampened(rate * elapsedMs) : 1 - rate * ageMs
}

/** The Fisher information of a visit after this time: the variance of its score. */
function information({ elapsedMs, ageMs }: Observation, rate: number): number {
  const x = rate * elapsedMs
  return ageMs === undefined ? x * dampened(x) : -Math.expm1(-x)
}

/** x / (e^x - 1) */
function dampened(x: number): number {
  return x < 1e-9 ? 1 : x / Math.expm1(x)
}

/** The starting point: changes divided by the time in which they happened, including those of the prior. */
function guess(seen: readonly Observation[], { intervalMs, weight }: Prior): number {
  let changes = weight / 2
  let time = changes * intervalMs
  for (const one of seen) {
    if (one.changed) changes++
    time += one.ageMs ?? one.elapsedMs
  }
  return Math.log(changes / time)
}

/** A prior with valid numbers, so that there is always a peak. */
function sound({ intervalMs, weight }: Prior): Prior {
  return {
    intervalMs: intervalMs > 0 ? Math.min(1e14, Math.max(1, intervalMs)) : 1e8,
    weight: weight > 0.01 ? Math.min(1e6, weight) : 0.01,
  }
}
