/**
 * How often a feed posts. Three gamma distributions of its rate are kept, which forget with half-lives of 6, 20 and 90 days,
 * and each is weighed by how well it foretold this feed: a steady feed is known well, a changing one is followed. A
 * poll whose window has nothing in common with the last one says only that at least so many articles appeared (a censored
 * observation).
 *
 * The state is nine numbers: articles and days, faded, and scores, for each half-life.
 */

import { type Irregularity, logChance, type Posting, shapeOf, type Tail, tailAt } from './counts.js'

const STATE_NUMBERS = 9
const HALF_LIFE_DAYS = [6, 20, 90]
const DAYS = 3
const SCORES = 6
/** Before any poll: 0.1 articles a day, and no idea whether it is 0.001 or 1. */
const PRIOR_ARTICLES = 0.3
const PRIOR_DAYS = 3
/** Scores fade too: what foretold well long ago need not do so now. */
const SCORE_HALF_LIFE_DAYS = 60
/** A score further behind counts for nothing, and could never catch up. */
const FURTHEST_BEHIND = 12
/** More articles are not counted: 1,500 a day for 90 days. So four digits after the point fit in 32 bits. */
const MOST_ARTICLES = 200_000
/** Beyond this count, how many more there were hardly matters, and takes long to compute. */
export const MOST_CENSORED = 1000
/** Longer intervals say nothing more about now. */
const LONGEST_DAYS = 400

/** Far below its window, a feed loses nothing worth counting. */
const LEAST_EXPECTED = 0.02

type State = number[] | Float32Array

const tail: Tail = { empty: 0, full: 0, lost: 0 }

/** What a poll showed, in days and articles. */
export interface Count {
  /** Time in which the articles appeared. */
  readonly days: number
  readonly articles: number
  /** There may have been more. */
  readonly censored: boolean
}

/** What is known before the first poll. */
export function unknownPosting(): number[] {
  return Array.from({ length: STATE_NUMBERS }, () => 0)
}

/** For how long a feed was watched, faded with the longest half-life. */
export function knownDays(state: readonly number[]): number {
  return state[DAYS + HALF_LIFE_DAYS.length - 1] ?? 0
}

/** The rate and its uncertainty: mean and variance of the three distributions, weighed, as one. */
export function postingOf(state: readonly number[] | Float32Array, from: number, into: Posting): Posting {
  let total = 0
  let mean = 0
  let square = 0
  for (let k = 0; k < HALF_LIFE_DAYS.length; k++) {
    const weight = Math.exp(state[from + SCORES + k]!)
    const shape = PRIOR_ARTICLES + state[from + k]!
    const rate = shape / (PRIOR_DAYS + state[from + DAYS + k]!)
    total += weight
    mean += weight * rate
    square += weight * rate * rate * (1 + 1 / shape)
  }
  mean /= total
  into.rate = mean
  into.shape = (mean * mean) / Math.max(square / total - mean * mean, 1e-12 * mean * mean)
  return into
}

/** Learns from a count. Numbers that cannot be true teach nothing. */
export function learn(state: State, from: number, count: Count, irregularity: Irregularity): void {
  const { articles } = count
  const censored = count.censored && articles <= MOST_CENSORED
  if (!(count.days > 0 && articles >= 0 && articles < 1e9)) return
  const days = Math.min(count.days, LONGEST_DAYS)
  const fadedScore = 0.5 ** (days / SCORE_HALF_LIFE_DAYS)
  let best = Number.NEGATIVE_INFINITY
  for (let k = 0; k < HALF_LIFE_DAYS.length; k++) {
    const shape = PRIOR_ARTICLES + state[from + k]!
    const mean = (shape / (PRIOR_DAYS + state[from + DAYS + k]!)) * days
    let appeared = articles
    let score: number
    if (censored) {
      tailAt(mean, shapeOf(mean, shape, irregularity), articles, tail)
      score = Math.log(Math.max(tail.full, 1e-12))
      appeared += tail.full > 1e-12 ? tail.lost / tail.full : 0
    } else score = logChance(mean, shapeOf(mean, shape, irregularity), articles)
    fade(state, from + k, days, appeared, HALF_LIFE_DAYS[k]!)
    const sum = state[from + SCORES + k]! * fadedScore + Math.max(score, -100)
    state[from + SCORES + k] = sum
    best = Math.max(best, sum)
  }
  for (let k = 0; k < HALF_LIFE_DAYS.length; k++) {
    const at = from + SCORES + k
    state[at] = Math.max(state[at]! - best, -FURTHEST_BEHIND)
  }
}

/** Articles that appeared evenly over some days: the oldest have faded already. */
function fade(state: State, at: number, days: number, articles: number, halfLife: number): void {
  const kept = 0.5 ** (days / halfLife)
  const fadedDays = ((1 - kept) * halfLife) / Math.LN2
  state[at] = Math.min(MOST_ARTICLES, state[at]! * kept + (articles * fadedDays) / days)
  state[at + DAYS] = state[at + DAYS]! * kept + fadedDays
}

/** The first poll of a feed with dates: each article counts by its age, and scores stay equal. */
export function learnAges(state: State, from: number, agesInDays: readonly number[]): void {
  const ages = agesInDays.filter((age) => age >= 0 && age < Number.POSITIVE_INFINITY)
  if (ages.length < 2) return
  const oldest = Math.max(1e-4, Math.min(LONGEST_DAYS, Math.max(...ages)))
  for (let k = 0; k < HALF_LIFE_DAYS.length; k++) {
    const halfLife = HALF_LIFE_DAYS[k]!
    let articles = 0
    for (const age of ages) if (age < LONGEST_DAYS) articles += 0.5 ** (age / halfLife)
    // The oldest marks the start of the time; it was not found in it.
    articles = Math.max(0, articles - 0.5 ** (oldest / halfLife))
    state[from + k] = Math.min(MOST_ARTICLES, articles)
    state[from + DAYS + k] = ((1 - 0.5 ** (oldest / halfLife)) * halfLife) / Math.LN2
  }
}

/** P(N = 0): the chance that a poll brings nothing. */
export function emptyChance({ rate, shape }: Posting, days: number, irregularity: Irregularity): number {
  const mean = rate * Math.min(days, LONGEST_DAYS)
  return Math.exp(logChance(mean, shapeOf(mean, shape, irregularity), 0))
}

/** E[(N − w)⁺]: articles that are expected to be lost. */
export function expectedLoss(
  posting: Posting,
  days: number,
  window: number,
  irregularity: Irregularity,
): number {
  const mean = posting.rate * Math.min(days, LONGEST_DAYS)
  if (!(mean > LEAST_EXPECTED * window)) return 0
  if (window > MOST_CENSORED) return Math.max(0, mean - window)
  return tailAt(mean, shapeOf(mean, posting.shape, irregularity), window, tail).lost
}

/** E[N − w | N ≥ w]: articles that were lost when the window has nothing in common with the last one. */
export function lostBeyond(
  posting: Posting,
  days: number,
  window: number,
  irregularity: Irregularity,
): number {
  const mean = posting.rate * Math.min(days, LONGEST_DAYS)
  if (!(mean > 0)) return 0
  if (window > MOST_CENSORED) return Math.max(0, mean - window)
  tailAt(mean, shapeOf(mean, posting.shape, irregularity), window, tail)
  return tail.full > 1e-12 ? tail.lost / tail.full : 0
}
