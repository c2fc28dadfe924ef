/**
 * Crawler sets, as the paper has them: five crawlers with an interval each; a crawler of interval d holds d / Σd of the
 * sites, the busiest sites go to the shortest interval, and all crawlers visit the same number of sites a day.
 */

import type { FeedWorld } from '../../src/sim/feeds/contract.js'

export const INTERVALS = [1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100]
const CRAWLERS = 5

export interface Score {
  readonly polls: number
  /** LA and FA. */
  readonly lost: number
  readonly futile: number
}

/** Articles of every site up to the end of every day. */
export class DailyCounts {
  readonly sites: number
  readonly days: number
  readonly #sums: Uint16Array

  constructor({ feeds, days }: FeedWorld) {
    this.sites = feeds.length
    this.days = days
    this.#sums = new Uint16Array(feeds.length * (days + 1))
    feeds.forEach(({ posts }, site) => {
      let count = 0
      for (let day = 0; day <= days; day++) {
        while (count < posts.length && posts[count]! <= day) count++
        this.#sums[site * (days + 1) + day] = count
      }
    })
  }

  until(site: number, day: number): number {
    return this.#sums[site * (this.days + 1) + day]!
  }

  between(site: number, from: number, to: number): number {
    return this.until(site, to) - this.until(site, from)
  }
}

/** Sites sorted by a number, the largest first; equal ones stay in the order of `before`. */
export function sortedBy(numbers: Float64Array, before: Int32Array): Int32Array {
  return before.slice().sort((one, other) => numbers[other]! - numbers[one]!)
}

export function identity(sites: number): Int32Array {
  return Int32Array.from({ length: sites }, (_, site) => site)
}

export function numbersOf(counts: DailyCounts, from: number, to: number): Float64Array {
  return Float64Array.from({ length: counts.sites }, (_, site) => counts.between(site, from, to))
}

/** The interval of each site: sorted sites are dealt out to the crawlers, the shortest interval first. */
function intervalsOf(set: readonly number[], sorted: Int32Array): Uint8Array {
  const total = set.reduce((sum, each) => sum + each, 0)
  const intervals = new Uint8Array(sorted.length)
  let place = 0
  let until = 0
  for (const interval of [...set].sort((one, other) => one - other)) {
    until += interval
    const end = Math.round((sorted.length * until) / total)
    for (; place < end; place++) intervals[sorted[place]!] = interval
  }
  return intervals
}

/** What a crawler set is told when sites are grouped again. */
export type Knowledge =
  /** All articles, as in the paper. */
  | 'all'
  /** What its own polls showed. */
  | 'polls'
  /** All articles of the scored time, in advance: the paper's provisional optimum. */
  | 'future'

export interface Regrouping {
  /** Days that form the first groups; they are not scored, and all sites are polled daily. */
  readonly first: number
  /** Infinity: never again. */
  readonly every: number
  readonly knows: Knowledge
}

/** Polls a world with a crawler set after `first` days. */
export function pollSet(
  counts: DailyCounts,
  set: readonly number[],
  window: number,
  { first, every, knows }: Regrouping,
): Score {
  const { sites, days } = counts
  const polledAt = new Int32Array(sites).fill(first)
  const shown = shownDaily(counts, window, first, Math.min(first, every), knows)
  let sorted = sortedBy(shown, identity(sites))
  let polls = 0
  let lost = 0
  let futile = 0
  const articles = new Float64Array(sites)
  const time = new Float64Array(sites)
  for (let from = first; from < days; from += every) {
    const to = Math.min(days, from + every)
    const intervals = intervalsOf(set, sorted)
    articles.fill(0)
    time.fill(0)
    for (let site = 0; site < sites; site++) {
      const interval = intervals[site]!
      // Sites of a crawler take turns.
      for (let day = from + 1 + ((site + from) % interval); day <= to; day += interval) {
        const posted = counts.between(site, polledAt[site]!, day)
        polls++
        if (posted === 0) futile++
        else if (posted > window) lost += posted - window
        articles[site]! += Math.min(posted, window)
        time[site]! += day - polledAt[site]!
        polledAt[site] = day
      }
    }
    if (to === days) break
    for (let site = 0; site < sites; site++) {
      if (knows === 'all') shown[site] = counts.between(site, Math.max(0, to - every), to)
      // A site that was not polled keeps its place.
      else if (time[site]! > 0) shown[site] = articles[site]! / time[site]!
    }
    sorted = sortedBy(shown, sorted)
  }
  for (let site = 0; site < sites; site++)
    lost += Math.max(0, counts.between(site, polledAt[site]!, days) - window)
  return { polls, lost, futile }
}

/** Articles per day of each site in the days before `first`, polled daily. */
function shownDaily(
  counts: DailyCounts,
  window: number,
  first: number,
  days: number,
  knows: Knowledge,
): Float64Array {
  return Float64Array.from({ length: counts.sites }, (_, site) => {
    if (knows === 'future') return counts.between(site, first, counts.days)
    if (knows === 'all') return counts.between(site, first - days, first)
    let sum = 0
    for (let day = first - days + 1; day <= first; day++)
      sum += Math.min(window, counts.between(site, day - 1, day))
    return sum / days
  })
}

/** Every set of five of the intervals: 3,003 of them. */
export function allSets(intervals: readonly number[], size = CRAWLERS): number[][] {
  if (size === 0) return [[]]
  return intervals.flatMap((first, at) =>
    allSets(intervals.slice(at), size - 1).map((rest) => [first, ...rest]),
  )
}
