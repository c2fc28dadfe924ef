/**
 * Published estimators of a page's change interval, to measure ours by, and pages to measure them on. All of them
 * take the observations as they were made, with nothing forgotten.
 */

import type { Observation, Prior } from '../../src/refresh/contract.js'
import type { Random } from '../../src/time.js'

export type Estimate = (seen: readonly Observation[]) => number

const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** Changes that were seen, by the time in which they were: blind to all but one change between two visits. */
export const naive: Estimate = (seen) => total(seen) / changes(seen)

/**
 * Cho & Garcia-Molina 2003, for visits at regular intervals, with the bias taken out; here with the mean interval.
 */
const biasReduced: Estimate = (seen) => {
  const visits = seen.length
  return total(seen) / visits / -Math.log((visits - changes(seen) + 0.5) / (visits + 0.5))
}

/**
 * Cho & Garcia-Molina 2003, for visits at irregular intervals: Σ over changed τ / (e^λτ - 1) = Σ over unchanged τ.
 * Where that has no solution, the estimator for regular ones.
 */
const mostLikely: Estimate = (seen) => {
  const changed = changes(seen)
  if (changed === 0 || changed === seen.length) return biasReduced(seen)
  let low = -60
  let high = 0
  while (high - low > 1e-9) {
    const rate = Math.exp((low + high) / 2)
    let balance = 0
    for (const one of seen) {
      balance += one.changed ? one.elapsedMs / Math.expm1(rate * one.elapsedMs) : -one.elapsedMs
    }
    if (balance > 0) low = (low + high) / 2
    else high = (low + high) / 2
  }
  return Math.exp(-(low + high) / 2)
}

export const RIVALS: Readonly<Record<string, Estimate>> = { naive, biasReduced, mostLikely }

/** What is believed of a page when its server is not known yet. */
export const PRIOR: Prior = { intervalMs: DAY, weight: 1 }

export interface Course {
  readonly seen: readonly Observation[]
  /** The estimate after each visit. */
  readonly estimates: readonly number[]
}

export interface Page {
  /** The intervals at which it changes, one after the other, and how many visits it keeps to each. */
  readonly habits: readonly (readonly [changeMs: number, visits: number])[]
  /** Whether its server tells when it changed. */
  readonly tells?: boolean
}

/** The part of the system that is tried: what is remembered of observations, and what it says. */
export interface Tried {
  observed(history: string, observation: Observation): string
  changeIntervalMs(history: string, prior: Prior): number
  /** The interval of the next visit. */
  next(changeMs: number): number
}

/**
 * A page, visited as its own estimate wants it: the first time after a day, and at most four times as late as before.
 */
export function visited(page: Page, tried: Tried, random: Random): Course {
  const seen: Observation[] = []
  const estimates: number[] = []
  let history = ''
  let now = 0
  let every = DAY
  let change = 0
  for (const [changeMs, visits] of page.habits) {
    const wait = () => -Math.log(1 - random.next()) * changeMs
    let next = now + wait()
    for (let visit = 0; visit < visits; visit++) {
      now += every
      const changed = next <= now
      while (next <= now) {
        change = next
        next += wait()
      }
      const observation = page.tells
        ? { elapsedMs: every, changed, ageMs: now - change }
        : { elapsedMs: every, changed }
      seen.push(observation)
      history = tried.observed(history, observation)
      const estimate = tried.changeIntervalMs(history, PRIOR)
      estimates.push(estimate)
      every = Math.min(4 * every, 60 * DAY, Math.max(HOUR / 4, tried.next(estimate)))
    }
  }
  return { seen, estimates }
}

/** From an hour to 42 days, as many in each decade. */
export function anyChangeMs(random: Random): number {
  return HOUR * 1008 ** random.next()
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

function total(seen: readonly Observation[]): number {
  return seen.reduce((sum, one) => sum + one.elapsedMs, 0)
}

function changes(seen: readonly Observation[]): number {
  return seen.filter((one) => one.changed).length
}
