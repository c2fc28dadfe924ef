/**
 * Servers like those of system E (Tamura & Kitsuregawa 2009), generated from the statistics in the paper; its trace is
 * not public. Access intervals have a log-normal distribution, truncated at 100 days, with two parameters fitted to the
 * mean interval and to the share of servers under a minute. Download times are log-normal too: how much they vary, how
 * much faster busy servers answer and how often they were logged are fitted to the mean of the longest downloads, the
 * bound of all servers, the number of logged downloads and the number of servers with a download that is too long.
 *
 * One parameter cannot be fitted: how much the *mean* download times of servers differ. So it is an argument, and the
 * experiment shows its result for several values. The bound of the feasible servers, their downloads per day and the
 * number of servers whose mean download is too long were not used for fitting: they check the result.
 */

import { mixed, normalQuantile } from '../../src/sim/refresh/chance.js'

/** One entry per server. All times are whole ms, so that their sums are exact. */
export interface World {
  readonly servers: number
  /** I_i: the length of a period. */
  readonly intervalMs: Float64Array
  /** e_i: the mean of the logged download times. */
  readonly downloadMs: Float64Array
  /** The longest logged download. */
  readonly longestMs: Float64Array
  /** The duration of the server's n-th download. The log is replayed in order, and repeated when it ends. */
  takesMs(server: number, download: number): number
}

/** How a world is generated. */
export interface WorldDraw {
  readonly servers: number
  readonly seed: number
  /** How much servers differ in their mean download time: the standard deviation of the logarithms. */
  readonly serverSpread: number
}

/** Statistics of a world. */
export interface WorldStatistics {
  readonly servers: number
  readonly meanIntervalMs: number
  /** Share of the servers that are due more than once a minute. */
  readonly underMinute: number
  readonly meanDownloadMs: number
  /** The mean over servers of the longest download. */
  readonly meanLongestMs: number
  /** Servers whose longest download exceeds their interval. */
  readonly longestTooLong: number
  /** Servers whose mean download does. */
  readonly meanTooLong: number
  /** Σ min(e_i / I_i, 1), not rounded (eq. 4). */
  readonly bound: number
  /** The same without the servers whose longest download is too long. */
  readonly feasibleBound: number
  /** Downloads per day that the intervals of those servers require. */
  readonly feasiblePerDay: number
}

export const DAY_MS = 86_400_000

/** What the paper says about the servers of its node. */
export const PUBLISHED: WorldStatistics = {
  servers: 82_034,
  meanIntervalMs: 5.5 * DAY_MS,
  underMinute: 0.01,
  meanDownloadMs: 1000,
  meanLongestMs: 5800,
  longestTooLong: 380,
  meanTooLong: 10,
  bound: 62,
  feasibleBound: 28,
  feasiblePerDay: 4_330_000,
}

/** I_min of the simulation: no interval and no pause after a download is shorter. */
export const MIN_INTERVAL_MS = 1000
/** "At least three downloads in 300 days". */
const MAX_INTERVAL_MS = 100 * DAY_MS
/** Fitted to the mean interval and the share under a minute. */
const INTERVAL_SPREAD = 2.909
const INTERVAL_MEDIAN_MS = 0.6315 * DAY_MS
const MEAN_DOWNLOAD_MS = 1000
/** Fitted to the mean of the longest downloads. */
const DOWNLOAD_SPREAD = 1.2
/** Downloads of a server with an e-fold interval take longer by this share; fitted to the bound of all servers. */
const SLOWER_IF_RARE = 0.0525
/** The log has 28 days; fitted to the 15.7 M downloads in it, and the servers with a download that is too long. */
const LOGGED_MS = 28 * DAY_MS
const LOGGED_SHARE = 0.1459
const LOGGED_GAP_MS = 60_000
const TABLE_SIZE = 65_536

/** Log-normal factors with a mean of 1. */
const FACTORS = Float64Array.from({ length: TABLE_SIZE }, (_, i) =>
  Math.exp(DOWNLOAD_SPREAD * normalQuantile((i + 0.5) / TABLE_SIZE) - DOWNLOAD_SPREAD ** 2 / 2),
)

/** All parts of the distributions are drawn equally often, so that small worlds are typical too. */
export function drawWorld({ servers, seed, serverSpread }: WorldDraw): World {
  const uncut = Float64Array.from({ length: servers }, (_, i) => quantileOfInterval((i + 0.5) / servers))
  const intervalMs = uncut.map((ms) => Math.max(Math.round(ms), MIN_INTERVAL_MS))
  const logged = intervalMs.map((ms) =>
    Math.max(1, Math.round((LOGGED_SHARE * LOGGED_MS) / Math.max(ms, LOGGED_GAP_MS))),
  )
  const base = meanDownloads(uncut, serverSpread, seed)
  const takesMs = (server: number, download: number): number => {
    const entry = mixed(seed, server, download % logged[server]!)
    return Math.max(1, Math.round(base[server]! * FACTORS[entry & (TABLE_SIZE - 1)]!))
  }
  const downloadMs = new Float64Array(servers)
  const longestMs = new Float64Array(servers)
  for (let server = 0; server < servers; server++) {
    let sum = 0
    let longest = 0
    for (let download = 0; download < logged[server]!; download++) {
      const ms = takesMs(server, download)
      sum += ms
      if (ms > longest) longest = ms
    }
    downloadMs[server] = Math.round(sum / logged[server]!)
    longestMs[server] = longest
  }
  return { servers, intervalMs, downloadMs, longestMs, takesMs }
}

/** The quantile of intervals, truncated at the longest. */
function quantileOfInterval(share: number): number {
  const deviations = normalQuantile(share * SHARE_BELOW_CUT)
  return INTERVAL_MEDIAN_MS * Math.exp(INTERVAL_SPREAD * deviations)
}

/** The share of the distribution below the longest interval, found by bisection. */
const SHARE_BELOW_CUT = (() => {
  const deviations = Math.log(MAX_INTERVAL_MS / INTERVAL_MEDIAN_MS) / INTERVAL_SPREAD
  let low = 0.5
  let high = 1
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2
    if (normalQuantile(middle) < deviations) low = middle
    else high = middle
  }
  return low
})()

/** The mean download time of each server, scaled to the published mean over servers. */
function meanDownloads(intervals: Float64Array, serverSpread: number, seed: number): Float64Array {
  const servers = intervals.length
  const places = shuffledPlaces(servers, seed)
  const raw = intervals.map(
    (interval, i) =>
      Math.exp(serverSpread * normalQuantile((places[i]! + 0.5) / servers)) * interval ** SLOWER_IF_RARE,
  )
  const scale = MEAN_DOWNLOAD_MS / mean(raw)
  return raw.map((value) => value * scale)
}

function shuffledPlaces(count: number, seed: number): Int32Array {
  const places = Int32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const other = mixed(seed, i, count) % (i + 1)
    const place = places[i]!
    places[i] = places[other]!
    places[other] = place
  }
  return places
}

/** The world without the servers that cannot be kept up to date no matter how many sockets there are. */
export function feasibleOf(world: World): World {
  const kept: number[] = []
  for (let i = 0; i < world.servers; i++) if (isFeasible(world, i)) kept.push(i)
  const only = (values: Float64Array) => Float64Array.from(kept, (i) => values[i]!)
  return {
    servers: kept.length,
    intervalMs: only(world.intervalMs),
    downloadMs: only(world.downloadMs),
    longestMs: only(world.longestMs),
    takesMs: (server, download) => world.takesMs(kept[server]!, download),
  }
}

/**
 * Whether the longest download of a server and the pause after it fit into its interval. The paper considers the
 * download only, which leaves some servers that miss rounds no matter how many sockets there are.
 */
function isFeasible(world: World, server: number): boolean {
  return world.longestMs[server]! + MIN_INTERVAL_MS <= world.intervalMs[server]!
}

export function statisticsOf(world: World): WorldStatistics {
  let longestTooLong = 0
  let meanTooLong = 0
  let bound = 0
  let feasibleBound = 0
  let feasiblePerMs = 0
  let underMinute = 0
  for (let i = 0; i < world.servers; i++) {
    const interval = world.intervalMs[i]!
    const sockets = Math.min(world.downloadMs[i]! / interval, 1)
    bound += sockets
    if (interval < 60_000) underMinute++
    if (world.downloadMs[i]! > interval) meanTooLong++
    if (world.longestMs[i]! > interval) longestTooLong++
    else {
      feasibleBound += sockets
      feasiblePerMs += 1 / interval
    }
  }
  return {
    servers: world.servers,
    meanIntervalMs: mean(world.intervalMs),
    underMinute: underMinute / world.servers,
    meanDownloadMs: mean(world.downloadMs),
    meanLongestMs: mean(world.longestMs),
    longestTooLong,
    meanTooLong,
    bound,
    feasibleBound,
    feasiblePerDay: feasiblePerMs * DAY_MS,
  }
}

function mean(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}
