/**
 * How often a page changes. Changes are taken for a Poisson process of rate λ that is looked at at irregular times,
 * and the answer is the most likely λ (Cho & Garcia-Molina 2003, "Estimating frequency of change"), with three
 * additions:
 *
 * - A prior, as visits that nobody made, so that there is an answer before the first visit, and none runs to infinity
 *   when every visit has seen a change, or none has.
 * - When the server tells how old the content is, the change is dated, which says more than that there was one.
 * - A page may change its habit. Old observations count less, and if those before some visit and those after it speak
 *   of rates that differ too much for chance, the ones before it hardly count any more.
 *
 * All is reckoned in u = log λ. There the logarithm of the likelihood has one peak, whatever has been observed, since
 * each of its terms is concave.
 */

import type { Observation, Prior } from './contract.js'
import { observations } from './history.js'

/**
 * After so many visits an observation counts half. Short half-lives follow a new habit a little sooner and cost
 * accuracy on every page that keeps its habit; noticing the new habit is the better way.
 */
const HALF_LIFE = 30
const FADING = 0.5 ** (1 / HALF_LIFE)

/**
 * By how much two habits must explain the visits better than one (in logarithms of the likelihood) to be believed.
 * Less is asked of a page that seems to change faster: its visits come too late to say more, for each sees a change
 * and does not see how many, whereas one long time without a change is telling.
 */
const FASTER = 4
const SLOWER = 5
/** What visits before a change of habit still count. Not nothing, for it may have been chance. */
const OUTLIVED = 0.02
/** A habit shows in two visits at the least. */
const FEWEST = 2

/** Intervals between a millisecond and 30,000 years: far beyond anything believable, and safe to reckon with. */
const LOWEST = -Math.log(1e15)
const HIGHEST = 0
/** A step of Newton's method as short as this ends within a ten-thousandth of the peak. */
const PRECISE = 0.01
const MOST_STEPS = 60

/**
 * The interval between changes (1 / λ, in ms) that explains best what visits have told. Never 0 and never infinite.
 */
export function changeIntervalMs(history: string, prior: Prior): number {
  const belief = sound(prior)
  const seen = observations(history)
  if (seen.length === 0) return belief.intervalMs
  const alike = new Evidence(seen, new Float64Array(seen.length).fill(1), belief)
  const overall = alike.peak(0, seen.length, guess(seen, belief))
  const began = habitBegan(seen, alike, overall)
  const weights = new Float64Array(seen.length)
  let weight = 1
  for (let i = seen.length - 1; i >= 0; i--) {
    weights[i] = i < began ? weight * OUTLIVED : weight
    weight *= FADING
  }
  return Math.exp(-new Evidence(seen, weights, belief).peak(0, seen.length, overall))
}

/**
 * The first observation of the present habit; 0 if there is no sign of another one. The place where a new habit would
 * have begun is where what follows disagrees most with the rate over all, by the sum of scores (the derivatives of
 * the log likelihood, 0 on average while the habit lasts). Only there the likelihoods of one and of two habits are
 * compared.
 */
function habitBegan(seen: readonly Observation[], evidence: Evidence, overall: number): number {
  const count = seen.length
  if (count < 2 * FEWEST) return 0
  const rate = Math.exp(overall)
  let all = 0
  for (const one of seen) all += information(one, rate)
  let place = 0
  let most = 0
  let sum = 0
  let told = 0
  for (let i = count - 1; i >= FEWEST; i--) {
    const one = seen[i]!
    sum += score(one, rate)
    told += information(one, rate)
    if (i > count - FEWEST) continue
    // The variance of such a sum, given that all scores add up to nothing. Some more, lest two visits outweigh ten.
    const surprise = (sum * sum) / (told * (1 - told / all) + 0.3)
    if (surprise > most) {
      most = surprise
      place = i
    }
  }
  // Twice what two habits could gain is about the surprise: mostly there is nothing to compare.
  if (most < FASTER) return 0
  const before = evidence.peak(0, place, overall)
  const since = evidence.peak(place, count, overall)
  const gain =
    evidence.height(0, place, before) +
    evidence.height(place, count, since) -
    evidence.height(0, count, overall)
  return gain > (since > before ? FASTER : SLOWER) ? place : 0
}

/** Observations with their weights and the prior: a function of u = log λ. */
class Evidence {
  readonly #seen: readonly Observation[]
  readonly #weights: Float64Array
  readonly #prior: Prior

  constructor(seen: readonly Observation[], weights: Float64Array, prior: Prior) {
    this.#seen = seen
    this.#weights = weights
    this.#prior = prior
  }

  /**
   * The u at which the observations from…to are most likely: Newton's method, kept between what is known to be too
   * low and too high.
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
      // rates impossible (e^-λτ); this leaves a tail on either side that a few visits overcome.
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
      if (Math.abs(next - u) < PRECISE) return next
      u = next
    }
    return u
  }

  /** The logarithm of the likelihood at u, and of the prior; this is 0 where it is largest. */
  height(from: number, to: number, u: number): number {
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

/** How an observation pulls at u: the derivative of the logarithm of its likelihood. */
function score({ elapsedMs, changed, ageMs }: Observation, rate: number): number {
  if (!changed) return -rate * elapsedMs
  return ageMs === undefined ? dampened(rate * elapsedMs) : 1 - rate * ageMs
}

/** What a visit after this time tells of u on average (Fisher's information): the variance of its score. */
function information({ elapsedMs, ageMs }: Observation, rate: number): number {
  const x = rate * elapsedMs
  return ageMs === undefined ? x * dampened(x) : -Math.expm1(-x)
}

/** x / (e^x - 1) */
function dampened(x: number): number {
  return x < 1e-9 ? 1 : x / Math.expm1(x)
}

/** Where to begin: changes by the time in which they happened, the prior's included. */
function guess(seen: readonly Observation[], { intervalMs, weight }: Prior): number {
  let changes = weight / 2
  let time = changes * intervalMs
  for (const one of seen) {
    if (one.changed) changes++
    time += one.ageMs ?? one.elapsedMs
  }
  return Math.log(changes / time)
}

/** A prior that says something, so that there is always a peak. */
function sound({ intervalMs, weight }: Prior): Prior {
  return {
    intervalMs: intervalMs > 0 ? Math.min(1e14, Math.max(1, intervalMs)) : 1e8,
    weight: weight > 0.01 ? Math.min(1e6, weight) : 0.01,
  }
}
