import type { Workbench } from '../../frontier/workbench.js'
import type { ColdEntry, ColdHosts } from './cold-hosts.js'
import type { Database } from './database.js'
import type { Heads } from './heads.js'
import type { Journal } from './journal.js'
import type { LevelHost } from './level-host.js'
import { readHost } from './records.js'
import type { TimeScale } from './time-scale.js'

/** Hosts that are brought in at once. */
const LOAD = 1000
/** With fewer ready than this, more are brought in: what a crawl visits while the disk is read. */
const LOW = 2000
/** From this share of the window on, there is not room for all. */
const CROWDED = 0.9
/** To make room, hosts go that wait for longer than this; if none is ready, all that wait. */
const LONG_WAIT_MS = 1000

export interface WindowParts {
  readonly database: Database
  readonly journal: Journal
  readonly workbench: Workbench<LevelHost>
  readonly cold: ColdHosts
  readonly heads: Heads
  readonly scale: TimeScale
  /** Hosts in memory. */
  readonly most: number
  /** Whether the connections to a host depend on its requests. */
  readonly mayGrow: boolean
  /** Requests that are handed out. */
  leased(): number
  partitionOf(host: string): number
  /** Whether a partition is about to go to another thread. */
  isLeaving(partition: number): boolean
  /** Hosts were brought in, or none were found: when the next are due has changed. */
  loaded(): void
  failed(error: unknown): void
}

/**
 * The working window: the hosts that are in memory. Others wait on disk, in the order in which they may be visited, and
 * are brought in before the window runs out of hosts that are ready. A host goes back to disk when what memory holds of
 * it is used up and others have waited longer, or when it has to wait for long and its place is needed.
 */
export class HostWindow {
  readonly #parts: WindowParts
  #loading: Promise<void> | undefined = undefined
  /** By partition, when it was opened after a crash; absent if it had been closed. */
  readonly cautiousSince = new Map<number, number>()

  constructor(parts: WindowParts) {
    this.#parts = parts
  }

  get isLoading(): boolean {
    return this.#loading !== undefined
  }

  /** Resolves once nothing is being brought in that was begun before. */
  async settled(): Promise<void> {
    await this.#loading
  }

  get isFull(): boolean {
    return this.#room <= 0
  }

  /** Hosts that are being visited do not count: the crawl's concurrency bounds them. */
  get #room(): number {
    const { workbench, most } = this.#parts
    return most - workbench.activeHosts + this.#parts.leased()
  }

  /** When there may be something on disk to bring in; Infinity while that is being done: whoever waits is roused. */
  get nextDue(): number {
    if (this.isLoading || (this.isFull && this.#parts.heads.isReading)) return Number.POSITIVE_INFINITY
    return this.#parts.scale.fromStore(this.#parts.cold.earliestDue)
  }

  /** Whether a host should make room for others, which have waited longer. */
  isWantedByOthers(now: number): boolean {
    return this.#isDue(now) && this.#room <= this.#parts.most * (1 - CROWDED)
  }

  /** Brings hosts in, if it is time to. */
  look(now: number): void {
    const { workbench, most } = this.#parts
    if (this.isLoading || !this.#isDue(now)) return
    if (workbench.readyHosts >= Math.min(LOW, most / 2)) return
    if (this.#room < LOAD) this.#makeRoom(now)
    const room = Math.min(LOAD, this.#room)
    if (room > 0) void this.load(now, room)
  }

  /** Brings in up to so many hosts that may be visited at `now`. */
  load(now: number, most: number): Promise<void> {
    this.#loading = this.#load(now, most).then(() => {
      this.#loading = undefined
      this.#parts.loaded()
    })
    return this.#loading
  }

  async #load(now: number, most: number): Promise<void> {
    const { database, cold, scale } = this.#parts
    try {
      const entries = await cold.take(database, scale.toStore(now), most)
      for (const entry of entries) this.#enter(entry)
    } catch (error) {
      this.#parts.failed(error)
    }
  }

  /** Sends a host to disk, for it is not due before that. Its requests are there already, or on their way. */
  leave(host: LevelHost, due: number): void {
    const { workbench, cold, journal, scale, mayGrow } = this.#parts
    // With more requests a host may be allowed more connections.
    const sleeps = mayGrow || due > workbench.restedAt(host)
    workbench.remove(host)
    if (host.key !== undefined) journal.remove(host.key)
    cold.add(host.host, host.partitionNumber, scale.toStore(due), host.write(), sleeps)
  }

  /** A host may have been visited just before a crash: if it asked for a pause of its own, that begins when we open. */
  #beCautious(host: LevelHost): void {
    const since = this.cautiousSince.get(host.partitionNumber)
    if (since !== undefined) host.notBefore = Math.max(host.notBefore, since + host.delayMs)
  }

  /** An idle host that rested when it was written, and may rest still. */
  remember(key: string, record: string, now: number): void {
    const { workbench, database } = this.#parts
    const known = database.decode(key, readHost, record)
    const host = workbench.host(key.slice(5))
    host.restore(known)
    host.key = key
    this.#beCautious(host)
    workbench.place(host, now)
  }

  mayLeave(host: LevelHost): boolean {
    return host.acquired === 0 && !host.isLoading && host.pending > 0
  }

  #isDue(now: number): boolean {
    return this.#parts.cold.earliestDue <= this.#parts.scale.toStore(now)
  }

  #enter(entry: ColdEntry): void {
    const { workbench, cold, heads, partitionOf, database } = this.#parts
    const partition = partitionOf(entry.host)
    // Two entries of one host were found at once, or it goes elsewhere.
    if (!cold.has(entry.host, partition) || this.#parts.isLeaving(partition)) return
    cold.delete(entry, partition)
    const known = database.decode(entry.key, readHost, entry.record)
    const host = workbench.host(entry.host)
    host.restore(known)
    this.#beCautious(host)
    host.key = entry.key
    workbench.enliven(host)
    heads.enter(host, known.hasLater)
  }

  #makeRoom(now: number): void {
    const { workbench } = this.#parts
    const wait = workbench.readyHosts === 0 ? 0 : LONG_WAIT_MS
    for (const host of workbench.waitingBeyond(now + wait, LOAD)) {
      if (this.mayLeave(host)) this.leave(host, host.readyAt)
    }
  }
}
