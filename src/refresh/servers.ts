import type { Feasibility, InfeasibleServer, RefreshPolicy, ServerRecord } from './contract.js'
import { POLICIES, plainPolicy } from './policies.js'
import { Field, orZero, ServerTable } from './server-table.js'
import { LoadClasses, ownStretch, wholeSockets, whyOverloaded, whyShort } from './stretch.js'

/** What the server level of refreshing needs to know. */
export interface ServersOptions {
  /** Downloads that may run at once. */
  readonly sockets: number
  /** I_min: the pause between two visits to a server that did not ask for a longer one. */
  readonly minIntervalMs: number
  /** Of a server's visits, those that known pages may take. Default 1. */
  readonly share?: number | undefined
  readonly policy: RefreshPolicy
}

/** What the sums tell at once. */
export interface Pressure {
  readonly stretch: number
  readonly socketsNeeded: number
  readonly socketsScheduled: number
  readonly infeasibleServers: number
}

/** The mean time of a download is one over so many, once there were as many: it follows a server that becomes slow. */
const DOWNLOADS_REMEMBERED = 6
/** The same for what comes after a download. Most visits bring no news, so that hooks have nothing to do. */
const HOLDS_REMEMBERED = 32
/** The same for change intervals. Many pages have a say in these, and they tell of years. */
const HABITS_REMEMBERED = 1024
/** A download that took no time at all, as in a simulation, is still one that is known. */
const SHORTEST_DOWNLOAD_MS = 0.001
/** What a download takes as long as there was none anywhere: the mean that Tamura & Kitsuregawa measured. */
const USUAL_DOWNLOAD_MS = 1000
/** Servers that were never visited are reckoned anew when the mean of the others has moved by this share. */
const MEAN_MOVED = 0.02
/** So that a sum of download times is exact: see `LoadClasses`. */
const DOWNLOAD_GRAIN_MS = 2 ** -16
const WORST_TOLD = 10
/**
 * With fewer sockets than so many times the bound, visits wait for sockets although these suffice on average: by
 * simulation, mean lateness at 1.05 times the bound is 5 times that at 1.5 times, and does not fall further beyond.
 */
const AMPLE = 1.5

/**
 * The servers of system E (Tamura & Kitsuregawa 2009): what their pages wish, what each server and all sockets allow, and
 * by how much wishes are lengthened where that is less. Nothing is corrected step by step: the stretch follows from what
 * the table holds, so it relaxes by itself when the load falls.
 */
export class Servers {
  readonly #sockets: number
  readonly #minIntervalMs: number
  readonly #share: number
  readonly #chosen: RefreshPolicy
  readonly #table = new ServerTable()
  readonly #classes = new LoadClasses()
  /** The least stretch; NaN: to be found anew. */
  #stretch = 1
  /** Σ e_i over servers where it is known, and how many these are. */
  #downloadSum = 0
  #downloadsKnown = 0
  /** e_i where it is not known, and how often the others have changed since it was reckoned. */
  #assumed = USUAL_DOWNLOAD_MS
  #changesSince = 0

  constructor({ sockets, minIntervalMs, share = 1, policy }: ServersOptions) {
    this.#share = share
    this.#sockets = sockets
    this.#minIntervalMs = minIntervalMs
    this.#chosen = policy
  }

  /** Servers of which anything is known. */
  get size(): number {
    return this.#table.size
  }

  /** What is known of a server; undefined if nothing is. */
  get(host: string): ServerRecord | undefined {
    const row = this.#table.find(host)
    return row < 0 ? undefined : this.#table.record(row)
  }

  /** Takes up what was remembered of a server (restart, a partition that arrived). Replaces what is there. */
  put(host: string, record: ServerRecord): void {
    const row = this.#rowOf(host)
    this.#takeOut(row)
    this.#table.fill(row, record)
    if (record.download > 0) this.#table.write(row, Field.downloads, HOLDS_REMEMBERED)
    this.#bringIn(row)
  }

  /** Forgets a server (its partition left), and answers with what was known of it. */
  remove(host: string): ServerRecord | undefined {
    const record = this.get(host)
    if (record === undefined) return undefined
    this.#takeOut(this.#table.find(host))
    this.#table.delete(host)
    return record
  }

  /** The servers of which anything is known. */
  hosts(): Iterable<string> {
    return this.#table.hosts()
  }

  /** A page's wish changed: its intervals in ms; undefined: it had none, or has none any more. */
  want(host: string, before: number | undefined, now: number | undefined): void {
    const isKnown = this.#table.find(host) >= 0
    if (before === now ? isKnown || now === undefined : now === undefined && !isKnown) return
    const row = this.#rowOf(host)
    this.#takeOut(row)
    const table = this.#table
    const had = table.read(row, Field.pages)
    const pages = had - (before !== undefined && had > 0 ? 1 : 0) + (now !== undefined ? 1 : 0)
    const load = Math.max(0, table.read(row, Field.load) - visitsPerMs(before)) + visitsPerMs(now)
    table.write(row, Field.pages, pages)
    // Without pages, what is left of the sum is rounding.
    table.write(row, Field.load, pages === 0 ? 0 : load)
    this.#bringIn(row)
  }

  /**
   * A download took so long. `delayMs` is the pause that the server asks for: it counts if it is longer than the crawl's.
   * Absent: as before.
   */
  downloaded(host: string, ms: number, delayMs?: number): void {
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return
    const row = this.#rowOf(host)
    this.#takeOut(row)
    const table = this.#table
    const count = Math.min(table.read(row, Field.downloads) + 1, HOLDS_REMEMBERED)
    const mean = table.read(row, Field.download)
    const weight = 1 / Math.min(count, DOWNLOADS_REMEMBERED)
    table.write(row, Field.downloads, count)
    table.write(row, Field.download, Math.max(SHORTEST_DOWNLOAD_MS, mean + (ms - mean) * weight))
    if (delayMs !== undefined)
      table.write(row, Field.delay, delayMs > this.#minIntervalMs ? orZero(delayMs) : 0)
    this.#bringIn(row)
  }

  /** A visit whose download was told held its slot for so long after it. */
  held(host: string, ms: number): void {
    const row = this.#table.find(host)
    const count = row < 0 ? 0 : this.#table.read(row, Field.downloads)
    if (count === 0 || !(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return
    const mean = this.#table.read(row, Field.held)
    if (ms === mean) return
    this.#takeOut(row)
    this.#table.write(row, Field.held, mean + (ms - mean) / count)
    this.#bringIn(row)
  }

  /** The change interval of one of its pages was estimated: it becomes part of the server's habit. */
  learned(host: string, changeMs: number): void {
    if (!(changeMs > 0 && changeMs < Number.POSITIVE_INFINITY)) return
    const row = this.#rowOf(host)
    const count = Math.min(this.#table.read(row, Field.habits) + 1, HABITS_REMEMBERED)
    const mean = this.#table.read(row, Field.habit)
    this.#table.write(row, Field.habits, count)
    this.#table.write(row, Field.habit, mean + (Math.log(changeMs) - mean) / count)
  }

  /** The geometric mean of its pages' change intervals; undefined while nothing was learned. */
  habitMs(host: string): number | undefined {
    const row = this.#table.find(host)
    if (row < 0 || this.#table.read(row, Field.habits) === 0) return undefined
    return Math.exp(this.#table.read(row, Field.habit))
  }

  /** By how much the intervals of its pages are lengthened now: the common stretch, or its own if that is larger. */
  stretchOf(host: string): number {
    const row = this.#table.find(host)
    const common = this.#commonStretch()
    if (row < 0) return common
    return Math.max(common, ownStretch(this.#needOf(row), this.#mostOf(row)))
  }

  /** Chooses among waiting servers: the smallest goes first. Those without pages to visit again come last. */
  readonly policy = ({ host, readyAt }: { readonly host: string; readonly readyAt: number }): number => {
    const row = this.#table.find(host)
    if (row < 0) return Number.POSITIVE_INFINITY
    const intervalMs = this.#intervalAt(row)
    if (intervalMs === Number.POSITIVE_INFINITY) return intervalMs
    const policy = plainPolicy(this.#chosen, this.#classes.suffice(this.#sockets))
    return POLICIES[policy](intervalMs, this.#visitOf(row), readyAt)
  }

  /** What the sums tell at once, whatever the number of servers. */
  pressure(): Pressure {
    const stretch = this.#commonStretch()
    const socketsNeeded = wholeSockets(this.#classes.needed)
    return {
      stretch,
      socketsNeeded,
      // A stretch is the least that will do: it leaves no socket over.
      socketsScheduled: stretch > 1 ? this.#sockets : socketsNeeded,
      infeasibleServers: this.#classes.overloaded,
    }
  }

  /** Whether what is wished can be done, and what is done about it if not. Looks at every server. */
  feasibility(): Feasibility {
    const { infeasibleServers, ...pressure } = this.pressure()
    let pages = 0
    let wished = 0
    let scheduled = 0
    let visitMs = 0
    let heldMs = 0
    let fetching = 0
    let heldServers = 0
    const worst: InfeasibleServer[] = []
    for (const [host, row] of this.#table.entries()) {
      pages += this.#table.read(row, Field.pages)
      wished += this.#table.read(row, Field.load)
      scheduled += 1 / this.#intervalAt(row)
      visitMs += this.#needOf(row)
      heldMs += this.#heldOf(row) * this.#table.read(row, Field.load)
      fetching += this.#fetchNeedOf(row)
      const own = ownStretch(this.#needOf(row), this.#mostOf(row))
      if (own > 1 && this.#isHeld(row)) heldServers++
      if (own === 1 || (worst.length === WORST_TOLD && own <= worst.at(-1)!.stretch)) continue
      if (worst.length === WORST_TOLD) worst.pop()
      const place = worst.findIndex((other) => other.stretch < own)
      worst.splice(place < 0 ? worst.length : place, 0, this.#infeasible(host, row, own))
    }
    const isShort = pressure.stretch > 1
    const ofServers =
      infeasibleServers === 0 ? undefined : heldServers === infeasibleServers ? 'hooks' : 'politeness'
    const isHeld = isShort && wholeSockets(fetching) <= this.#sockets
    const feasible = !isShort && infeasibleServers === 0
    // A server is visited one page at a time: with a socket for each, none waits.
    const ample = Math.min(AMPLE * this.#classes.needed, this.size)
    return {
      feasible,
      tight: feasible && this.#sockets < wholeSockets(ample),
      socketsAvailable: this.#sockets,
      ...pressure,
      servers: this.size,
      pages,
      wantedPerSecond: wished * 1000,
      scheduledPerSecond: scheduled * 1000,
      infeasibleServers,
      worst: worst.map((server) => ({ ...server, stretch: Math.max(server.stretch, pressure.stretch) })),
      bottleneck: isShort ? (isHeld ? 'hooks' : 'sockets') : ofServers,
      why: isShort ? whyShort(isHeld, visitMs / wished, heldMs / wished) : worst[0]?.why,
      policy: plainPolicy(this.#chosen, this.#classes.suffice(this.#sockets)),
    }
  }

  /**
   * Visits a second that are wished of each part of the servers: min(1/I_i, what the server can take), before any stretch,
   * which tells what the sockets here allow and not what is to be done.
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
      this.#assumeAnew()
      this.#stretch = this.#classes.least(this.#sockets)
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

  /** e_i, as far as is known: the time that a visit holds a slot. */
  #visitOf(row: number): number {
    const download = this.#table.read(row, Field.download)
    return download > 0 ? download + this.#table.read(row, Field.held) : this.#assumed
  }

  /** How much of e_i comes after the download. */
  #heldOf(row: number): number {
    return this.#table.read(row, Field.held)
  }

  /** Whether its pause would be over before a visit is. */
  #isHeld(row: number): boolean {
    return this.#heldOf(row) > this.#minIntervalOf(row)
  }

  /** I_min of the server. */
  #minIntervalOf(row: number): number {
    return Math.max(this.#minIntervalMs, this.#table.read(row, Field.delay))
  }

  /** The shortest access interval that is possible: a download, and what is longer of the pause and the rest of the visit. */
  #shortestOf(row: number): number {
    const held = this.#heldOf(row)
    return (this.#visitOf(row) - held + Math.max(this.#minIntervalOf(row), held)) / this.#share
  }

  /** u_i: the part of a socket that its pages wish. */
  #needOf(row: number): number {
    return this.#visitOf(row) * this.#table.read(row, Field.load)
  }

  /** What its downloads alone would need, if slots were free after them. */
  #fetchNeedOf(row: number): number {
    const download = this.#visitOf(row) - this.#heldOf(row)
    const shortest = (download + this.#minIntervalOf(row)) / this.#share
    return download * Math.min(this.#table.read(row, Field.load), 1 / shortest)
  }

  /** c_i: the part of a socket that it can use at most, for it is visited one page at a time. */
  #mostOf(row: number): number {
    return this.#visitOf(row) / this.#shortestOf(row)
  }

  /** To be called before a row is changed, with `bringIn` after: what it adds to the sums. */
  #takeOut(row: number): void {
    if (this.#table.read(row, Field.download) > 0) {
      this.#downloadSum -= grains(this.#visitOf(row))
      this.#downloadsKnown--
    }
    if (this.#table.read(row, Field.load) > 0) this.#classes.remove(this.#needOf(row), this.#mostOf(row))
    this.#stretch = Number.NaN
    this.#changesSince++
  }

  #bringIn(row: number): void {
    if (this.#table.read(row, Field.download) > 0) {
      this.#downloadSum += grains(this.#visitOf(row))
      this.#downloadsKnown++
    }
    if (this.#table.read(row, Field.load) > 0) this.#classes.add(this.#needOf(row), this.#mostOf(row))
  }

  /**
   * Servers whose downloads are not known count with the mean of the others. That changes all of them at once: so only
   * when it has moved enough to matter, and not more often than is paid for by the changes in between.
   */
  #assumeAnew(): void {
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
    for (const row of rows) this.#takeOut(row)
    this.#assumed = mean
    for (const row of rows) this.#bringIn(row)
    this.#changesSince = 0
  }

  #infeasible(host: string, row: number, stretch: number): InfeasibleServer {
    const pages = this.#table.read(row, Field.pages)
    const wantedMs = 1 / this.#table.read(row, Field.load)
    const possibleMs = this.#shortestOf(row)
    const why = whyOverloaded(pages, wantedMs, possibleMs, this.#isHeld(row))
    return { host, pages, wantedMs: wantedMs, possibleMs, stretch, why }
  }
}

/** What a page with such an interval adds to its server's load. */
function visitsPerMs(every: number | undefined): number {
  return every !== undefined && every > 0 ? 1 / every : 0
}

function grains(downloadMs: number): number {
  return Math.round(downloadMs / DOWNLOAD_GRAIN_MS) * DOWNLOAD_GRAIN_MS
}
