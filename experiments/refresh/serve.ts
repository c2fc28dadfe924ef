/**
 * System E at the level of servers, event by event in virtual time: a server waits for one of C sockets, downloads,
 * idles until its next period, and waits again (Tamura eq. 5 and 6). Intervals are not stretched here: this shows what
 * happens with too few sockets.
 */

import { Heap } from '../../src/frontier/heap.js'
import { POLICIES, type PolicyKey, type ResolvedPolicy } from '../../src/refresh/policies.js'
import { logNormalTable, mixed } from '../../src/sim/refresh/chance.js'
import { idleAfter } from './idle-time.js'
import { DAY_MS, MIN_INTERVAL_MS, type World } from './world.js'

/** The rules of a simulation. */
export interface ServeRules {
  readonly sockets: number
  readonly policy: ResolvedPolicy
  readonly days: number
  readonly seed: number
  /**
   * `together`: all servers wait at the start, as after a restart. `apart`: each idles until its next period, at a time
   * at which the starts of periods are spread out. Default `together`.
   */
  readonly start?: 'together' | 'apart'
  /** Called when a download begins; for tests. */
  readonly onDownload?: (server: number, beganMs: number, endsMs: number) => void
}

/** The result of a simulation. */
export interface Served {
  readonly downloads: number
  /** Complete periods within the simulated time, over all servers. */
  readonly rounds: number
  /** Complete periods without a download: the ideal number of downloads minus the actual one. */
  readonly misses: number
  /** Servers with at least one miss. */
  readonly serversMissed: number
  /** misses / rounds. */
  readonly missRate: number
  readonly meanSockets: number
  readonly peakSockets: number
  readonly downloadsPerDay: number
  readonly bytes: number
}

const MEAN_BYTES = 22_000
const MOST_BYTES = 2_000_000
const BYTES_SPREAD = 1.3
const TABLE_SIZE = 65_536
/** Far from zero, so that periods of different lengths do not begin together. Not a multiple of any interval. */
const APART_MS = 1_234_567_890_123

/** The same world, rules and seed give the same result, and the same downloads take equally long under each policy. */
export function simulateServers(world: World, rules: ServeRules): Served {
  return new ServeRun(world, rules).run()
}

class ServeRun {
  readonly #world: World
  readonly #rules: ServeRules
  readonly #begin: number
  readonly #end: number
  readonly #sizes = logNormalTable(MEAN_BYTES, BYTES_SPREAD, TABLE_SIZE)
  /** Downloads of each server, and how many of them were within a complete period. */
  readonly #done: Uint32Array
  readonly #counted: Uint32Array
  readonly #key: PolicyKey
  readonly #waiting = new Heap<number>()
  readonly #downloading = new Heap<number>()
  readonly #idle = new Heap<number>()
  #downloads = 0
  #busyMs = 0
  #peak = 0
  #bytes = 0

  constructor(world: World, rules: ServeRules) {
    this.#world = world
    this.#rules = rules
    this.#begin = rules.start === 'apart' ? APART_MS : 0
    this.#end = this.#begin + Math.round(rules.days * DAY_MS)
    this.#key = POLICIES[rules.policy]
    this.#done = new Uint32Array(world.servers)
    this.#counted = new Uint32Array(world.servers)
  }

  run(): Served {
    for (let server = 0; server < this.#world.servers; server++) this.#enter(server)
    this.#giveSockets(this.#begin)
    for (;;) {
      const now = Math.min(this.#downloading.topKey, this.#idle.topKey)
      if (now >= this.#end) break
      // All events at an instant are handled before the choice at that instant.
      while (this.#downloading.topKey === now) this.#finish(this.#downloading.pop()!, now)
      while (this.#idle.topKey === now) this.#wait(this.#idle.pop()!, now)
      this.#giveSockets(now)
    }
    return this.#result()
  }

  #enter(server: number): void {
    if (this.#rules.start === 'apart') this.#idle.push(server, this.#firstPeriod(server))
    else this.#wait(server, this.#begin)
  }

  #firstPeriod(server: number): number {
    const interval = this.#world.intervalMs[server]!
    return Math.ceil(this.#begin / interval) * interval
  }

  /** Complete periods of a server within the simulated time. */
  #roundsOf(server: number): number {
    const within = this.#end - this.#firstPeriod(server)
    return Math.max(0, Math.floor(within / this.#world.intervalMs[server]!))
  }

  #wait(server: number, now: number): void {
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
    const done = this.#done[server]!++
    const wholePeriodsEnd =
      this.#firstPeriod(server) + this.#roundsOf(server) * this.#world.intervalMs[server]!
    if (now < wholePeriodsEnd) this.#counted[server]!++
    const takes = this.#world.takesMs(server, done)
    this.#downloads++
    this.#bytes += Math.min(this.#sizes[mixed(this.#rules.seed, server, done) >>> 16]!, MOST_BYTES)
    this.#busyMs += Math.min(takes, this.#end - now)
    this.#downloading.push(server, now + takes)
    this.#rules.onDownload?.(server, now, now + takes)
  }

  #finish(server: number, now: number): void {
    this.#idle.push(server, now + idleAfter(this.#world.intervalMs[server]!, MIN_INTERVAL_MS, now))
  }

  #result(): Served {
    let rounds = 0
    let misses = 0
    let serversMissed = 0
    for (let server = 0; server < this.#world.servers; server++) {
      const ideal = this.#roundsOf(server)
      const missed = ideal - this.#counted[server]!
      rounds += ideal
      misses += missed
      if (missed > 0) serversMissed++
    }
    return {
      downloads: this.#downloads,
      rounds,
      misses,
      serversMissed,
      missRate: rounds === 0 ? 0 : misses / rounds,
      meanSockets: this.#busyMs / (this.#end - this.#begin),
      peakSockets: this.#peak,
      downloadsPerDay: this.#downloads / this.#rules.days,
      bytes: Math.round(this.#bytes),
    }
  }
}
