import type { Feasibility, InfeasibleServer, RefreshPolicy, ServerRecord } from './contract.js'
import { POLICIES, resolvePolicy } from './policies.js'
import { Field, orZero, ServerTable } from './server-table.js'
import { explainOverload, explainShortage, LoadHistogram, ownStretch, roundUpSockets } from './stretch.js'

/** What scheduling at the level of servers needs to know. */
export interface ServersOptions {
  /** Downloads that may run at once. */
  readonly sockets: number
  /** I_min: the pause between two visits to a server that did not request a longer one. */
  readonly minIntervalMs: number
  /** Share of a server's visits that known pages may use. Default 1. */
  readonly share?: number | undefined
  readonly policy: RefreshPolicy
}

/** What can be read from the sums alone. */
export interface Pressure {
  readonly stretch: number
  readonly socketsNeeded: number
  readonly socketsScheduled: number
  readonly infeasibleServers: number
}

/**
 * The mean duration of a download is exponentially weighted over this many, so that it follows a server that becomes
 * slow.
 */
const DOWNLOADS_REMEMBERED = 6
/** The same for the time after a download. Most visits find nothing new, so hooks have nothing to do. */
const HOLDS_REMEMBERED = 32
/** The same for change intervals. Many pages contribute to these, and they describe years. */
const HABITS_REMEMBERED = 1024
/** A download that took no time, as in a simulation, still counts as known. */
const SHORTEST_DOWNLOAD_MS = 0.001
/** Assumed duration of a download before the first one: the mean that Tamura & Kitsuregawa measured. */
const USUAL_DOWNLOAD_MS = 1000
/** Servers that were never visited are computed again when the mean of the others has changed by this share. */
const MEAN_MOVED = 0.02
/** Makes sums of download times exact: see `LoadHistogram`. */
const DOWNLOAD_QUANTUM_MS = 2 ** -16
const MAX_WORST = 10
/**
 * With fewer sockets than the bound times this, visits wait for sockets although these suffice on average. In
 * simulations, mean lateness at 1.05 times the bound is 5 times that at 1.5 times, and does not fall further beyond.
 */
const AMPLE_FACTOR = 1.5

/**
 * The servers (Tamura & Kitsuregawa 2009): how often their pages want to be visited, what each server and
 * all sockets allow, and by how much intervals are stretched if that is less. Nothing is adjusted step by step: the
 * stretch is computed from the table, so it relaxes as soon as the load falls.
 */
export class Servers {
  readonly #sockets: number
  readonly #minIntervalMs: number
  readonly #share: number
  readonly #chosen: RefreshPolicy
  readonly #table = new ServerTable()
  readonly #classes = new LoadHistogram()
  /** The minimum stretch; NaN: must be computed again. */
  #stretch = 1
  /** Σ e_i over servers where it is known, and the number of these servers. */
  #downloadSum = 0
  #downloadsKnown = 0
  /** e_i for servers where it is not known, and the number of changes of the others since it was computed. */
  #assumed = USUAL_DOWNLOAD_MS
  #changesSince = 0

  constructor({ sockets, minIntervalMs, share = 1, policy }: ServersOptions) {
    this.#share = share
    this.#sockets = sockets
    this.#minIntervalMs = minIntervalMs
    this.#chosen = policy
  }

  /** Number of known servers. */
  get size(): number {
    return this.#table.size
  }

  /** The record of a server; undefined if it is not known. */
  get(host: string): ServerRecord | undefined {
    const row = this.#table.find(host)
    return row < 0 ? undefined : this.#table.record(row)
  }

  /** Restores the record of a server (after a restart, or when a partition arrives). Replaces the current one. */
  put(host: string, record: ServerRecord): void {
    const row = this.#rowOf(host)
    this.#subtractFromSums(row)
    this.#table.fill(row, record)
    if (record.download > 0) this.#table.write(row, Field.downloads, HOLDS_REMEMBERED)
    this.#addToSums(row)
  }

  /** Removes a server (its partition left) and returns its record. */
  remove(host: string): ServerRecord | undefined {
    const record = this.get(host)
    if (record === undefined) return undefined
    this.#subtractFromSums(this.#table.find(host))
    this.#table.delete(host)
    return record
  }

  /** All known servers. */
  hosts(): Iterable<string> {
    return this.#table.hosts()
  }

  /** The wanted interval of a page changed, in ms; undefined: there was none, or there is none any more. */
  updateInterval(host: string, before: number | undefined, now: number | undefined): void {
    const isKnown = this.#table.find(host) >= 0
    if (before === now ? isKnown || now === undefined : now === undefined && !isKnown) return
    const row = this.#rowOf(host)
    this.#subtractFromSums(row)
    const table = this.#table
    const had = table.read(row, Field.pages)
    const pages = had - (before !== undefined && had > 0 ? 1 : 0) + (now !== undefined ? 1 : 0)
    const load = Math.max(0, table.read(row, Field.load) - visitsPerMs(before)) + visitsPerMs(now)
    table.write(row, Field.pages, pages)
    // Without pages, the rest of the sum is rounding error.
    table.write(row, Field.load, pages === 0 ? 0 : load)
    this.#addToSums(row)
  }

  /**
   * A download took this long. `delayMs` is the delay that the server requests; it counts if it is longer than the
   * crawl's. Absent: unchanged.
   */
  downloaded(host: string, ms: number, delayMs?: number): void {
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return
    const row = this.#rowOf(host)
    this.#subtractFromSums(row)
    const table = this.#table
    const count = Math.min(table.read(row, Field.downloads) + 1, HOLDS_REMEMBERED)
    const mean = table.read(row, Field.download)
    const weight = 1 / Math.min(count, DOWNLOADS_REMEMBERED)
    table.write(row, Field.downloads, count)
    table.write(row, Field.download, Math.max(SHORTEST_DOWNLOAD_MS, mean + (ms - mean) * weight))
    if (delayMs !== undefined)
      table.write(row, Field.delay, delayMs > this.#minIntervalMs ? orZero(delayMs) : 0)
    this.#addToSums(row)
  }

  /** After a download, the visit held its slot for this long. */
  held(host: string, ms: number): void {
    const row = this.#table.find(host)
    const count = row < 0 ? 0 : this.#table.read(row, Field.downloads)
    if (count === 0 || !(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return
    const mean = this.#table.read(row, Field.held)
    if (ms === mean) return
    this.#subtractFromSums(row)
    this.#table.write(row, Field.held, mean + (ms - mean) / count)
    this.#addToSums(row)
  }

  /** The change interval of one of its pages was estimated: adds it to the server's mean. */
  addChangeInterval(host: string, changeMs: number): void {
    if (!(changeMs > 0 && changeMs < Number.POSITIVE_INFINITY)) return
    const row = this.#rowOf(host)
    const count = Math.min(this.#table.read(row, Field.habits) + 1, HABITS_REMEMBERED)
    const mean = this.#table.read(row, Field.habit)
    this.#table.write(row, Field.habits, count)
    this.#table.write(row, Field.habit, mean + (Math.log(changeMs) - mean) / count)
  }

  /** The geometric mean of its pages' change intervals; undefined if there is none yet. */
  typicalChangeMs(host: string): number | undefined {
    const row = this.#table.find(host)
    if (row < 0 || this.#table.read(row, Field.habits) === 0) return undefined
    return Math.exp(this.#table.read(row, Field.habit))
  }

  /**
   * The factor by which the intervals of its pages are lengthened: the common stretch, or its own if that is larger.
   */
  stretchOf(host: string): number {
    const row = this.#table.find(host)
    const common = this.#commonStretch()
    if (row < 0) return common
    return Math.max(common, ownStretch(this.#needOf(row), this.#capacityOf(row)))
  }

  /** Orders waiting servers: the smallest goes first. Servers without pages to revisit come last. */
  readonly policy = ({ host, readyAt }: { readonly host: string; readonly readyAt: number }): number => {
    const row = this.#table.find(host)
    if (row < 0) return Number.POSITIVE_INFINITY
    const intervalMs = this.#intervalAt(row)
    if (intervalMs === Number.POSITIVE_INFINITY) return intervalMs
    const policy = resolvePolicy(this.#chosen, this.#classes.suffices(this.#sockets))
    return POLICIES[policy](intervalMs, this.#visitOf(row), readyAt)
  }

  /** What the sums tell, independent of the number of servers. */
  pressure(): Pressure {
    const stretch = this.#commonStretch()
    const socketsNeeded = roundUpSockets(this.#classes.needed)
    return {
      stretch,
      socketsNeeded,
      // The stretch is minimal, so it leaves no socket unused.
      socketsScheduled: stretch > 1 ? this.#sockets : socketsNeeded,
      infeasibleServers: this.#classes.overloaded,
    }
  }

  /** Whether the wanted visits can be made, and what is done about it if not. Iterates over all servers. */
  feasibility(): Feasibility {
    const { infeasibleServers, ...pressure } = this.pressure()
    let pages = 0
    let wanted = 0
    let scheduled = 0
    let visitMs = 0
    let heldMs = 0
    let fetching = 0
    let heldServers = 0
    const worst: InfeasibleServer[] = []
    for (const [host, row] of this.#table.entries()) {
      pages += this.#table.read(row, Field.pages)
      wanted += this.#table.read(row, Field.load)
      scheduled += 1 / this.#intervalAt(row)
      visitMs += this.#needOf(row)
      heldMs += this.#heldOf(row) * this.#table.read(row, Field.load)
      fetching += this.#fetchNeedOf(row)
      const own = ownStretch(this.#needOf(row), this.#capacityOf(row))
      if (own > 1 && this.#isHeld(row)) heldServers++
      if (own === 1 || (worst.length === MAX_WORST && own <= worst.at(-1)!.stretch)) continue
      if (worst.length === MAX_WORST) worst.pop()
      const place = worst.findIndex((other) => other.stretch < own)
      worst.splice(place < 0 ? worst.length : place, 0, this.#infeasible(host, row, own))
    }
    const isShort = pressure.stretch > 1
    const ofServers =
      infeasibleServers === 0 ? undefined : heldServers === infeasibleServers ? 'hooks' : 'politeness'
    const isHeld = isShort && roundUpSockets(fetching) <= this.#sockets
    const feasible = !isShort && infeasibleServers === 0
    // A server is visited one page at a time: with a socket for each server, none waits.
    const ample = Math.min(AMPLE_FACTOR * this.#classes.needed, this.size)
    return {
      feasible,
      tight: feasible && this.#sockets < roundUpSockets(ample),
      socketsAvailable: this.#sockets,
      ...pressure,
      servers: this.size,
      pages,
      wantedPerSecond: wanted * 1000,
      scheduledPerSecond: scheduled * 1000,
      infeasibleServers,
      worst: worst.map((server) => ({ ...server, stretch: Math.max(server.stretch, pressure.stretch) })),
      bottleneck: isShort ? (isHeld ? 'hooks' : 'sockets') : ofServers,
      why: isShort ? explainShortage(isHeld, visitMs / wanted, heldMs / wanted) : worst[0]?.why,
      policy: resolvePolicy(this.#chosen, this.#classes.suffices(this.#sockets)),
    }
  }

  /**
   * Wanted visits per second of each part of the servers: min(1/I_i, what the server allows), before any stretch,
   * because a stretch reflects the sockets of this shard and not the work to be done.
   */
  demandBy(partOf: (host: string) => number): Map<number, number> {
    const demand = new Map<number, number>()
    for (const [host, row] of this.#table.entries()) {
      const load = this.#table.read(row, Field.load)
      if (load === 0) continue
      const part = partOf(host)
      const perSecond = 1000 * Math.min(load, 1 / this.#shortestOf(row))
      demand.set(part, (demand.get(part) ?? 0) + perSecond)
    }
    return demand
  }

  #commonStretch(): number {
    if (Number.isNaN(this.#stretch)) {
      this.#updateAssumed()
      this.#stretch = this.#classes.minStretch(this.#sockets)
    }
    return this.#stretch
  }

  #intervalAt(row: number): number {
    const load = this.#table.read(row, Field.load)
    if (load === 0) return Number.POSITIVE_INFINITY
    return Math.max(this.#commonStretch() / load, this.#shortestOf(row))
  }

  #rowOf(host: string): number {
    const row = this.#table.find(host)
    return row < 0 ? this.#table.add(host) : row
  }

  /** e_i, as far as it is known: the time that a visit holds a slot. */
  #visitOf(row: number): number {
    const download = this.#table.read(row, Field.download)
    return download > 0 ? download + this.#table.read(row, Field.held) : this.#assumed
  }

  /** The part of e_i after the download. */
  #heldOf(row: number): number {
    return this.#table.read(row, Field.held)
  }

  /** Whether visits outlast the server's pause. */
  #isHeld(row: number): boolean {
    return this.#heldOf(row) > this.#minIntervalOf(row)
  }

  /** I_min of the server. */
  #minIntervalOf(row: number): number {
    return Math.max(this.#minIntervalMs, this.#table.read(row, Field.delay))
  }

  /** The shortest possible access interval: a download, and the longer of the pause and the rest of the visit. */
  #shortestOf(row: number): number {
    const held = this.#heldOf(row)
    return (this.#visitOf(row) - held + Math.max(this.#minIntervalOf(row), held)) / this.#share
  }

  /** u_i: the share of a socket that its pages need. */
  #needOf(row: number): number {
    return this.#visitOf(row) * this.#table.read(row, Field.load)
  }

  /** What its downloads alone would need, if slots were freed after them. */
  #fetchNeedOf(row: number): number {
    const download = this.#visitOf(row) - this.#heldOf(row)
    const shortest = (download + this.#minIntervalOf(row)) / this.#share
    return download * Math.min(this.#table.read(row, Field.load), 1 / shortest)
  }

  /** c_i: the largest share of a socket that it can use, because it is visited one page at a time. */
  #capacityOf(row: number): number {
    return this.#visitOf(row) / this.#shortestOf(row)
  }

  /** Subtracts a row from the sums. Must be called before a row changes, with `#addToSums` after it. */
  #subtractFromSums(row: number): void {
    if (this.#table.read(row, Field.download) > 0) {
      this.#downloadSum -= quantized(this.#visitOf(row))
      this.#downloadsKnown--
    }
    if (this.#table.read(row, Field.load) > 0) this.#classes.remove(this.#needOf(row), this.#capacityOf(row))
    this.#stretch = Number.NaN
    this.#changesSince++
  }

  #addToSums(row: number): void {
    if (this.#table.read(row, Field.download) > 0) {
      this.#downloadSum += quantized(this.#visitOf(row))
      this.#downloadsKnown++
    }
    if (this.#table.read(row, Field.load) > 0) this.#classes.add(this.#needOf(row), this.#capacityOf(row))
  }

  /**
   * Servers with unknown downloads count with the mean of the others. A new mean changes all of them at once, so it is
   * applied only if it has changed enough to matter, and no more often than the changes in between pay for.
   */
  #updateAssumed(): void {
    const unknown = this.size - this.#downloadsKnown
    const mean = this.#downloadsKnown > 0 ? this.#downloadSum / this.#downloadsKnown : USUAL_DOWNLOAD_MS
    if (Math.abs(mean - this.#assumed) <= MEAN_MOVED * this.#assumed || this.#changesSince < unknown / 4)
      return
    const rows: number[] = []
    if (unknown > 0) {
      for (const [, row] of this.#table.entries()) {
        if (this.#table.read(row, Field.download) === 0) rows.push(row)
      }
    }
    for (const row of rows) this.#subtractFromSums(row)
    this.#assumed = mean
    for (const row of rows) this.#addToSums(row)
    this.#changesSince = 0
  }

  #infeasible(host: string, row: number, stretch: number): InfeasibleServer {
    const pages = this.#table.read(row, Field.pages)
    const wantedMs = 1 / this.#table.read(row, Field.load)
    const possibleMs = this.#shortestOf(row)
    const why = explainOverload(pages, wantedMs, possibleMs, this.#isHeld(row))
    return { host, pages, wantedMs: wantedMs, possibleMs, stretch, why }
  }
}

/** The load that a page with this interval adds to its server. */
function visitsPerMs(every: number | undefined): number {
  return every !== undefined && every > 0 ? 1 / every : 0
}

function quantized(downloadMs: number): number {
  return Math.round(downloadMs / DOWNLOAD_QUANTUM_MS) * DOWNLOAD_QUANTUM_MS
}
