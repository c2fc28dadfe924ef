/** Hosts and requests of the level frontier: those of the memory frontier, and what of them lies on disk. */

import { type Due, PendingRequest } from '../../../frontier/host-queue.js'
import { Host } from '../../../frontier/workbench.js'
import type { CrawlRequest } from '../../../types.js'
import type { Once, Writable } from '../db/database.js'
import { duePrefix, laterPlaceOf, laterPrefix, partitionText, placeOf } from '../format/keys.js'
import { type HostRecord, writeHost, writeRequest } from '../format/records.js'
import type { TimeScale } from '../format/time-scale.js'

/** A request in memory that is also on disk, or about to be. */
export class StoredRequest extends PendingRequest implements Once {
  declare readonly owner: LevelHost
  /** A number that no other request of this store has or had; later ones have larger ones. */
  readonly seq: number
  /** It was handed out before, and goes ahead of its equals. */
  readonly again: boolean
  /** A time of its own that had not come when it was written: then it lies among its host's later requests. */
  readonly at: number | undefined
  /** From disk, unless the journal says otherwise. */
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

  /** Its place among the requests of its host. */
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

/** A request on its way to disk, of a host that is there. */
export class RequestOnDisk implements Once {
  readonly #request: CrawlRequest
  readonly #partition: string
  readonly #seq: number
  commit = 0

  constructor(request: CrawlRequest, partition: string, seq: number) {
    this.#request = request
    this.#partition = partition
    this.#seq = seq
  }

  get key(): string {
    const { host, priority } = this.#request
    return duePrefix(this.#partition, host) + placeOf(priority, false, this.#seq)
  }

  write(): string {
    return writeRequest(this.#request)
  }
}

/**
 * The part of a host's requests that is on disk only: all that come after `bound`. Filled by requests that find the head
 * in memory full, emptied by refilling the head.
 */
export class Tail {
  count = 0
  /** False for a host that came back from disk: there are so many at least. */
  isExact = true
  /** The place of the last request that is, or was, in memory. It means something only while `count` is not 0. */
  bound = ''
  /** The commit that brings the last of them to disk. */
  commit = 0
  /** The head is being refilled; meanwhile arrivals wait in `arrived`, for nobody knows the new bound. */
  isLoading = false
  readonly arrived: StoredRequest[] = []

  get size(): number {
    return this.count + this.arrived.length
  }
}

export class LevelHost extends Host implements Writable {
  readonly partitionNumber: number
  /** The same, as it stands in keys. */
  readonly partition: string
  readonly scale: TimeScale
  /** Requests that are due, in the order of their places. */
  readonly due = new Tail()
  /** Requests that have a time of their own, in the order of their times. */
  readonly later = new Tail()
  /** Requests that are handed out. They lie on disk until they are settled, maybe beyond a bound. */
  readonly leased: StoredRequest[] = []
  /** Requests in the queue that lie on disk among the due ones. */
  dueHeld = 0
  /**
   * Requests in memory, leased ones included, that lie on disk among the later ones. Some of them stand in the queue by
   * now, for their time has come.
   */
  laterHeld = 0
  /** It comes from disk, and waits for those that come with it. */
  isEntering = false
  /** Where its record lies: among the hosts with requests or among the idle ones; undefined: it has none yet. */
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

  /** Whether it waits for the disk: nothing of one kind is in memory, and something is on disk that might go first. */
  get isDry(): boolean {
    const { due, later } = this
    return (due.count > 0 && this.dueHeld === 0) || (later.count > 0 && this.queue.laterCount === 0)
  }

  override get dueAt(): number {
    return this.isDry || this.isEntering ? Number.POSITIVE_INFINITY : this.queue.dueAt
  }

  /** What of its later requests is on disk only comes after what is in memory: if all of that is due, it may be too. */
  override dueBy(now: number): Due {
    const { count, next } = this.queue.dueBy(now)
    const unknown = next === Number.POSITIVE_INFINITY ? this.later.size : 0
    return { count: count + this.due.size + unknown, next }
  }

  get isLoading(): boolean {
    return this.due.isLoading || this.later.isLoading || this.isEntering
  }

  /** Goes on from what was written of it. */
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
