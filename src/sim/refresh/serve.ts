/**
 * System E at the level of servers, event by event in virtual time: a server waits for one of C sockets, downloads, idles
 * until its next period, and waits again (Tamura eq. 5 and 6). No interval is corrected here: this shows what comes of
 * too few sockets when nothing is done about it.
 */

import { Heap } from '../../frontier/heap.js'
import { deadlineAt, idleAfter, type PlainPolicy, POLICIES, type PolicyKey } from '../../refresh/policies.js'
import { logNormalTable, mixed } from './chance.js'
import { DAY_MS, DOWNLOAD_SPREAD, isFeasible, type World } from './world.js'

/** What a simulation is asked for. */
export interface ServeRules {
  readonly sockets: number
  readonly policy: PlainPolicy
  readonly days: number
  /** I_min: the least pause between two downloads from a server. Default 1000. */
  readonly minIntervalMs?: number
  readonly seed: number
  /**
   * `together`: all servers wait when time begins, as after a start. `apart`: each idles until its next period, at an
   * instant when periods begin all over the place. Default `together`.
   */
  readonly start?: 'together' | 'apart'
  /** Is told of each download as it begins; for tests. */
  readonly onDownload?: (server: number, beganMs: number, endsMs: number) => void
}

/** What came of it. */
export interface Served {
  readonly downloads: number
  /** Rounds whose deadline fell into the simulated time. */
  readonly rounds: number
  /** Rounds without a download that began by their deadline. */
  readonly misses: number
  /** The same of servers whose longest download fits into their interval. */
  readonly feasibleMisses: number
  /** Servers with at least one miss. */
  readonly serversMissed: number
  /** misses / rounds. */
  readonly missRate: number
  readonly meanSockets: number
  readonly peakSockets: number
  readonly downloadsPerDay: number
  readonly bytes: number
  /** Ends of downloads and ends of pauses. */
  readonly events: number
}

const MEAN_BYTES = 22_000
const MOST_BYTES = 2_000_000
const BYTES_SPREAD = 1.3
const TABLE_SIZE = 65_536
/** Far from zero, so that periods of different lengths do not begin together. A multiple of nothing in particular. */
const APART_MS = 1_234_567_890_123

/** The same world, rules and seed give the same answer. A download takes as long whatever policy chose it. */
export function simulateServers(world: World, rules: ServeRules): Served {
  const run = new ServeRun(world, rules)
  return run.run()
}

class ServeRun {
  readonly #world: World
  readonly #rules: ServeRules
  readonly #minIntervalMs: number
  readonly #begin: number
  readonly #end: number
  readonly #factors = logNormalTable(1, DOWNLOAD_SPREAD, TABLE_SIZE)
  readonly #sizes = logNormalTable(MEAN_BYTES, BYTES_SPREAD, TABLE_SIZE)
  /** The number of the last period with a download that began in time. */
  readonly #lastRound: Float64Array
  readonly #missed: Uint32Array
  readonly #key: PolicyKey
  readonly #waiting = new Heap<number>()
  readonly #downloading = new Heap<number>()
  readonly #idle = new Heap<number>()
  #downloads = 0
  #busyMs = 0
  #peak = 0
  #bytes = 0
  #events = 0

  constructor(world: World, rules: ServeRules) {
    this.#world = world
    this.#rules = rules
    this.#minIntervalMs = rules.minIntervalMs ?? 1000
    this.#begin = rules.start === 'apart' ? APART_MS : 0
    this.#end = this.#begin + Math.round(rules.days * DAY_MS)
    this.#key = POLICIES[rules.policy]
    this.#missed = new Uint32Array(world.servers)
    this.#lastRound = new Float64Array(world.servers)
  }

  run(): Served {
    for (let server = 0; server < this.#world.servers; server++) this.#enter(server)
    this.#giveSockets(this.#begin)
    for (;;) {
      const now = Math.min(this.#downloading.topKey, this.#idle.topKey)
      if (now > this.#end) break
      // All that happens at one instant comes before anybody is chosen at that instant.
      while (this.#downloading.topKey === now) this.#finish(this.#downloading.pop()!, now)
      while (this.#idle.topKey === now) this.#wait(this.#idle.pop()!, now)
      this.#giveSockets(now)
    }
    return this.#result()
  }

  #enter(server: number): void {
    const interval = this.#world.intervalMs[server]!
    const first = Math.ceil(this.#begin / interval)
    this.#lastRound[server] = first - 1
    if (this.#rules.start === 'apart') this.#idle.push(server, first * interval)
    else this.#wait(server, this.#begin)
  }

  #wait(server: number, now: number): void {
    this.#events++
    const { intervalMs, downloadMs } = this.#world
    this.#waiting.push(server, this.#key(intervalMs[server]!, downloadMs[server]!, now))
  }

  #giveSockets(now: number): void {
    while (this.#waiting.size > 0 && this.#downloading.size < this.#rules.sockets) {
      this.#download(this.#waiting.pop()!, now)
    }
    if (this.#downloading.size > this.#peak) this.#peak = this.#downloading.size
  }

  #download(server: number, now: number): void {
    const { intervalMs, downloadMs, longestMs } = this.#world
    const interval = intervalMs[server]!
    const round = Math.floor(now / interval)
    // Nobody is told that a round was missed: the next download, or the end, counts what lies between.
    if (now <= deadlineAt(interval, downloadMs[server]!, now)) {
      this.#missed[server]! += round - this.#lastRound[server]! - 1
      this.#lastRound[server] = round
    }
    const chance = mixed(this.#rules.seed, server, round)
    const drawn = Math.round(downloadMs[server]! * this.#factors[chance & (TABLE_SIZE - 1)]!)
    const takes = Math.max(1, Math.min(drawn, longestMs[server]!))
    this.#downloads++
    this.#bytes += Math.min(this.#sizes[chance >>> 16]!, MOST_BYTES)
    this.#busyMs += Math.min(takes, this.#end - now)
    this.#downloading.push(server, now + takes)
    this.#rules.onDownload?.(server, now, now + takes)
  }

  #finish(server: number, now: number): void {
    this.#events++
    const pause = idleAfter(this.#world.intervalMs[server]!, this.#minIntervalMs, now)
    this.#idle.push(server, now + pause)
  }

  #result(): Served {
    let rounds = 0
    let misses = 0
    let feasibleMisses = 0
    let serversMissed = 0
    for (let server = 0; server < this.#world.servers; server++) {
      const interval = this.#world.intervalMs[server]!
      const first = Math.ceil(this.#begin / interval)
      // The first round whose deadline lies beyond the end.
      const open = Math.max(first, Math.floor((this.#end + this.#world.downloadMs[server]!) / interval))
      rounds += open - first
      const missed = this.#missed[server]! + Math.max(0, open - 1 - this.#lastRound[server]!)
      misses += missed
      if (missed > 0) serversMissed++
      if (isFeasible(this.#world, server)) feasibleMisses += missed
    }
    const { days } = this.#rules
    return {
      downloads: this.#downloads,
      rounds,
      misses,
      feasibleMisses,
      serversMissed,
      missRate: rounds === 0 ? 0 : misses / rounds,
      meanSockets: this.#busyMs / (this.#end - this.#begin),
      peakSockets: this.#peak,
      downloadsPerDay: this.#downloads / days,
      bytes: Math.round(this.#bytes),
      events: this.#events,
    }
  }
}
