/** Hosts and requests of the level frontier: those of the memory frontier, plus what is on disk. */

import { type Due, PendingRequest } from '../../../frontier/host-queue.js'
import { Host } from '../../../frontier/workbench.js'
import type { CrawlRequest } from '../../../types.js'
import type { Writable, WriteOnce } from '../db/database.js'
import { duePrefix, laterPlaceOf, laterPrefix, partitionText, placeOf } from '../format/keys.js'
import { type HostRecord, writeHost, writeRequest } from '../format/records.js'
import type { TimeScale } from '../format/time-scale.js'

/** A request in memory that is also on disk, or about to be. */
export class StoredRequest extends PendingRequest implements WriteOnce {
  declare readonly owner: LevelHost
  /** Unique in this store; later requests have greater numbers. */
  readonly seq: number
  /** It was leased before, and goes ahead of its equals. */
  readonly again: boolean
  /** When it is due, if it was scheduled for later; it is then stored among its host's later requests. */
  readonly at: number | undefined
  /** 0 for a request read from disk. */
  commit = 0

  constructor(
    request: CrawlRequest,
    owner: LevelHost,
    attempt: number,
    seq: number,
    again = false,
    at: number | undefined = undefined,
    revisit = request.revisit,
  ) {
    super(request, owner, attempt, revisit || request.revisit)
    this.seq = seq
    this.again = again
    this.at = at
  }

  /** Its position among the requests of its host. */
  get place(): string {
    if (this.at === undefined) return placeOf(this.priority, this.again, this.seq)
    return laterPlaceOf(this.owner.scale.toStore(this.at), this.seq)
  }

  get key(): string {
    const { partition, host } = this.owner
    return (this.at === undefined ? duePrefix(partition, host) : laterPrefix(partition, host)) + this.place
  }

  write(): string {
    return writeRequest(this, this.at === undefined ? undefined : this.owner.scale.toStore(this.at))
  }
}

/** A request to be written, of a host that is on disk only. */
export class RequestOnDisk implements WriteOnce {
  readonly #request: CrawlRequest
  readonly #partition: string
  readonly #seq: number
  /** When it is due, if that is later, on the store's time scale. */
  readonly #at: number | undefined
  commit = 0

  constructor(request: CrawlRequest, partition: string, seq: number, at?: number) {
    this.#request = request
    this.#partition = partition
    this.#seq = seq
    this.#at = at
  }

  get key(): string {
    const { host, priority } = this.#request
    if (this.#at !== undefined) return laterPrefix(this.#partition, host) + laterPlaceOf(this.#at, this.#seq)
    return duePrefix(this.#partition, host) + placeOf(priority, false, this.#seq)
  }

  write(): string {
    return writeRequest(this.#request, this.#at)
  }
}

/**
 * The requests of a host that are on disk only: everything after `bound`. Filled by requests that do not fit into
 * memory, emptied by refilling.
 */
export class Tail {
  count = 0
  /** False for a host that came back from disk: `count` is then a lower bound. */
  isExact = true
  /** The position of the last request that is, or was, in memory. Only meaningful while `count` is not 0. */
  bound = ''
  /** The commit that writes the last of them. */
  commit = 0
  /** Requests are being read; until the new bound is known, new ones wait in `arrived`. */
  isLoading = false
  readonly arrived: StoredRequest[] = []

  get size(): number {
    return this.count + this.arrived.length
  }
}

export class LevelHost extends Host implements Writable {
  readonly partitionNumber: number
  /** The same, as written in keys. */
  readonly partition: string
  readonly scale: TimeScale
  /** Requests that are due, by position. */
  readonly due = new Tail()
  /** Requests scheduled for later, by time. */
  readonly later = new Tail()
  /** Leased requests. They stay on disk until they are settled, possibly beyond a bound. */
  readonly leased: StoredRequest[] = []
  /** Requests in the queue that are stored among the due ones. */
  dueHeld = 0
  /**
   * Requests in memory, including leased ones, that are stored among the later ones. Some are in the queue by now,
   * because they have become due.
   */
  laterHeld = 0
  /** It comes from disk, and waits for the others of its slice. */
  isEntering = false
  /** The key of its record, among the hosts with requests or the idle ones; undefined: it has none yet. */
  key: string | undefined = undefined

  constructor(host: string, workbench: object, delayMs: number, partition: number, scale: TimeScale) {
    super(host, workbench, delayMs)
    this.partitionNumber = partition
    this.partition = partitionText(partition)
    this.scale = scale
  }

  override get pending(): number {
    return this.queue.size + this.due.size + this.later.size
  }

  /** Whether it waits for the disk: memory has no requests of one kind, and the disk has some that might go first. */
  get isDry(): boolean {
    const { due, later } = this
    return (due.count > 0 && this.dueHeld === 0) || (later.count > 0 && this.queue.laterCount === 0)
  }

  override get dueAt(): number {
    return this.isDry || this.isEntering ? Number.POSITIVE_INFINITY : this.queue.dueAt
  }

  /** Later requests on disk come after those in memory: if all of those are due, the others may be too. */
  override dueBy(now: number): Due {
    const { count, next } = this.queue.dueBy(now)
    const unknown = next === Number.POSITIVE_INFINITY ? this.later.size : 0
    return { count: count + this.due.size + unknown, next }
  }

  get isLoading(): boolean {
    return this.due.isLoading || this.later.isLoading || this.isEntering
  }

  /** Restores the stored state. */
  restore({ resting, notBefore, delayMs, trouble }: HostRecord): void {
    const { scale } = this
    if (resting.length > 0) this.resting = resting.map((until) => scale.fromStore(until))
    this.notBefore = scale.fromStore(notBefore)
    this.delayMs = Math.max(this.delayMs, delayMs)
    this.trouble = trouble && { incidents: trouble.incidents, since: scale.fromStore(trouble.since) }
  }

  write(): string {
    const { scale, resting, notBefore, delayMs, trouble } = this
    return writeHost({
      resting: resting.filter((until) => until > 0).map((until) => scale.toStore(until)),
      notBefore: scale.toStore(notBefore),
      delayMs,
      trouble: trouble && { incidents: trouble.incidents, since: scale.toStore(trouble.since) },
      hasLater: this.laterHeld > 0 || this.later.size > 0,
    })
  }
}
