import type { Workbench } from '../../../frontier/workbench.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import { entryOf, turnIn } from '../format/keys.js'
import { readHost } from '../format/records.js'
import type { TimeScale } from '../format/time-scale.js'
import type { HostEntry, HostsOnDisk, Place } from './hosts-on-disk.js'
import type { LevelHost } from './level-host.js'
import type { RequestBuffers } from './request-buffers.js'

/** Hosts loaded at a time, unless that is more than this share of the window. */
const LOAD = 1000
const LOAD_SHARE = 0.25
/** Hosts that are queued together: the first need not wait until the last is read. */
const SLICE = 250
/** With fewer hosts than this ahead of those on disk, more are loaded: enough for the time a read takes. */
const LOW = 2000
const LOW_SHARE = 0.5
/** From this share on, the window counts as crowded. */
const CROWDED = 0.9

export interface WindowParts {
  readonly database: Database
  readonly journal: Journal
  readonly workbench: Workbench<LevelHost>
  readonly onDisk: HostsOnDisk
  readonly buffers: RequestBuffers
  readonly scale: TimeScale
  /** The most hosts in memory. */
  readonly hostsInMemory: number
  /** Whether the number of connections to a host depends on its requests. */
  readonly mayGrow: boolean
  /** Number of leased requests. */
  leased(): number
  partitionOf(host: string): number
  /** Whether a partition is about to move to another thread. */
  isLeaving(partition: number): boolean
  /** A host has been loaded that could have been visited since that instant. */
  entered(host: LevelHost, since: number): void
  /** Loading is finished: the time when the next hosts are due has changed. */
  loaded(): void
  failed(error: unknown): void
}

/**
 * The working window: the hosts in memory. The others wait on disk. Both form one queue, ordered by the time from which
 * they may be visited and then first come, first served, as if all were in memory: hosts are loaded before those ahead
 * of them are used up, and in the meantime no host behind them is visited. To make room, the last in the queue go to
 * disk. A host also goes to disk when its requests in memory are used up and others have waited longer.
 */
export class HostWindow {
  readonly #parts: WindowParts
  readonly #load: number
  readonly #low: number
  #loading: Promise<void> | undefined = undefined
  /** While hosts are being loaded: the first position of those that have not arrived yet. */
  #arriving: Place = NEVER
  /** A lower bound of the hosts ahead of those on disk: their number when last counted, less those leased since. */
  #ahead = 0
  /** By partition, when it was opened after a crash; absent if it had been closed properly. */
  readonly cautiousSince = new Map<number, number>()

  constructor(parts: WindowParts) {
    this.#parts = parts
    this.#load = Math.min(LOAD, Math.ceil(parts.hostsInMemory * LOAD_SHARE))
    this.#low = Math.min(LOW, parts.hostsInMemory * LOW_SHARE)
  }

  get isLoading(): boolean {
    return this.#loading !== undefined
  }

  /** Resolves once loading that has started is finished. */
  async settled(): Promise<void> {
    await this.#loading
  }

  get isFull(): boolean {
    return this.#room <= 0
  }

  /** Hosts that are being visited do not count: the crawl's concurrency limits them. */
  get #room(): number {
    const { workbench, hostsInMemory } = this.#parts
    return hostsInMemory - workbench.activeHosts + this.#parts.leased()
  }

  /**
   * When a host may be leased or loaded; Infinity while hosts are loaded that go first, since the engine is woken after
   * that.
   */
  get nextDue(): number {
    const { workbench, buffers, scale, onDisk } = this.#parts
    const here = workbench.nextDue()
    if (this.isLoading) return scale.toStore(here) >= this.#arriving.due + 1 ? Number.POSITIVE_INFINITY : here
    if (this.isFull && buffers.isReading) return here
    return Math.min(here, scale.fromStore(onDisk.earliestDue))
  }

  /** Whether hosts are being loaded that go before this one. */
  readonly isHeldBack = (host: LevelHost): boolean => {
    return this.#loading !== undefined && this.#isBehind(host, this.#arriving)
  }

  /** Whether a host should make room for others that have waited longer. */
  shouldYield(now: number): boolean {
    return this.#isDue(now) && this.#room <= this.#parts.hostsInMemory * (1 - CROWDED)
  }

  /** Hosts ahead of those on disk were leased. */
  handedOut(count: number): void {
    this.#ahead -= count
  }

  /** Loads hosts if few are ahead of them: fewer than are wanted now, or will be soon. */
  loadIfLow(now: number, wanted: number): void {
    const { workbench } = this.#parts
    if (this.isLoading || !this.#isDue(now)) return
    const enough = Math.max(this.#low, wanted)
    if (workbench.readyHosts >= enough) {
      if (this.#ahead < enough) this.#countAhead()
      if (this.#ahead >= enough) return
    }
    if (this.#room < this.#load / 2) this.#makeRoom()
    if (this.#room > 0) void this.load(now, wanted)
  }

  /** Loads hosts that may be visited at `now`, as many as there is room for; the first `wanted` together. */
  load(now: number, wanted = 0): Promise<void> {
    const room = Math.min(Math.max(this.#load, wanted), this.#room)
    this.#loading = this.#loadSlices(now, room, Math.max(SLICE, wanted)).then(() => {
      this.#loading = undefined
      this.#parts.loaded()
    })
    return this.#loading
  }

  async #loadSlices(now: number, most: number, slice: number): Promise<void> {
    const { database, onDisk, scale } = this.#parts
    this.#arriving = onDisk.first
    try {
      for await (const entries of onDisk.take(database, scale.toStore(now), most, slice)) {
        await this.#enter(entries)
        this.#arriving = onDisk.first
      }
    } catch (error) {
      this.#parts.failed(error)
    }
  }

  /** Moves a host to disk, since it is not due before then. Its requests are there already, or in the journal. */
  leave(host: LevelHost, due: number): void {
    const { workbench, onDisk, journal, scale, mayGrow } = this.#parts
    // With more requests, a host may be allowed more connections.
    const sleeps = mayGrow || due > workbench.connectionFreeAt(host)
    workbench.remove(host)
    if (host.key !== undefined) journal.remove(host.key)
    const { host: name, partitionNumber: partition, turn } = host
    onDisk.add({ host: name, partition, due: scale.toStore(due), turn, record: host.write(), sleeps })
  }

  /** A host may have been visited just before a crash: a delay that it asked for starts when the store is opened. */
  #beCautious(host: LevelHost): void {
    const since = this.cautiousSince.get(host.partitionNumber)
    if (since === undefined) return
    const delayMs = Math.max(host.delayMs, host.politeness?.delayMs ?? 0)
    host.notBefore = Math.max(host.notBefore, since + delayMs)
  }

  /** Loads an idle host whose delay may not be over. */
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
    return !host.isLeased && !host.isLoading && host.pending > 0
  }

  #isDue(now: number): boolean {
    return this.#parts.onDisk.earliestDue <= this.#parts.scale.toStore(now)
  }

  #isBehind({ readyAt, turn }: LevelHost, place: Place): boolean {
    const due = Math.floor(this.#parts.scale.toStore(readyAt))
    return due > place.due || (due === place.due && turn > place.turn)
  }

  /** They are queued in order, once all of them are read. */
  async #enter(entries: readonly HostEntry[]): Promise<void> {
    const { entered, scale } = this.#parts
    const entering: { host: LevelHost; since: number }[] = []
    const reading: Promise<void>[] = []
    for (const entry of entries) {
      const host = this.#enterHost(entry, reading)
      if (host === undefined) continue
      const { due } = entryOf(entry.wake ?? entry.key)
      entering.push({ host, since: scale.fromStore(due) })
    }
    await Promise.all(reading)
    for (const { host, since } of entering) {
      host.isEntering = false
      entered(host, since)
    }
    this.#ahead += entering.length
  }

  #enterHost(entry: HostEntry, reading: Promise<void>[]): LevelHost | undefined {
    const { workbench, onDisk, buffers, partitionOf, database } = this.#parts
    const partition = partitionOf(entry.host)
    // Both entries of a host were found at once, or its partition is leaving.
    if (!onDisk.has(entry.host, partition) || this.#parts.isLeaving(partition)) return undefined
    onDisk.delete(entry, partition)
    const known = database.decode(entry.key, readHost, entry.record)
    const host = workbench.host(entry.host)
    host.restore(known)
    this.#beCautious(host)
    host.key = entry.key
    host.turn = turnIn(entry.wake ?? entry.key)
    host.isEntering = true
    workbench.activate(host)
    const gotLater = onDisk.takeLater(entry.host, partition)
    reading.push(buffers.enter(host, known.hasLater || gotLater))
    if (gotLater) this.#parts.journal.put(entry.key, host)
    return host
  }

  #countAhead(): void {
    const { workbench, onDisk } = this.#parts
    const { first } = onDisk
    this.#ahead = 0
    for (const host of workbench.all()) {
      if (host.queuedIn !== undefined && host.pending > 0 && !this.#isBehind(host, first)) this.#ahead++
    }
  }

  /** The last hosts in the queue go to disk, if they are behind the first one there. */
  #makeRoom(): void {
    const { workbench, onDisk } = this.#parts
    const { first } = onDisk
    const behind: LevelHost[] = []
    for (const host of workbench.all()) {
      if (host.queuedIn !== undefined && this.mayLeave(host) && this.#isBehind(host, first)) behind.push(host)
    }
    behind.sort((a, b) => b.readyAt - a.readyAt || b.turn - a.turn)
    for (const host of behind.slice(0, this.#load - this.#room)) this.leave(host, host.readyAt)
  }
}

const NEVER: Place = { due: Number.POSITIVE_INFINITY, turn: 0 }
