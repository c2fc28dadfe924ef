import type { Workbench } from '../../../frontier/workbench.js'
import type { PartitionLoad } from '../../contract.js'
import type { Counts } from '../format/counts.js'
import type { HostsOnDisk } from '../frontier/hosts-on-disk.js'
import type { LevelHost } from '../frontier/level-host.js'
import type { HostWindow } from '../frontier/window.js'
import { Departure } from './departure.js'

export interface MovesParts {
  readonly workbench: Workbench<LevelHost>
  readonly onDisk: HostsOnDisk
  readonly window: HostWindow
  readonly counts: Counts
  /** Whether the number of connections to a host depends on its requests. */
  readonly mayGrow: boolean
  partitionOf(host: string): number
  /** The latest known time. */
  now(): number
}

/** State of moving hosts that is not on disk. */
export interface MovedState {
  /** Delays requested by hosts that are no longer in memory. */
  readonly asked: readonly (readonly [host: string, delayMs: number])[]
  /** By partition, when it was opened after a crash: hosts may have been visited just before. */
  readonly cautiousSince: readonly (readonly [partition: number, at: number])[]
  /** By partition, how many requests were due, and how many of those belonged to one host. */
  readonly waiting: readonly (readonly [partition: number, known: Waiting])[]
}

/** Everything that the receiver needs besides what is on disk. */
export interface MovedFrontier extends MovedState {
  /** Greater than the number of any of their requests. */
  readonly seq: number
  /** Nothing may be leased before this. */
  readonly restUntil: number
}

/** Moves hosts out of a frontier, and into it, with their partitions. Their records and requests are on disk. */
export class LevelMoves {
  readonly #parts: MovesParts
  #departure: Departure | undefined = undefined
  /** The load of a partition when it arrived, or when its departure began. */
  readonly #waiting = new Map<number, Waiting>()
  /** When the store was opened, if hosts may have been visited before that without a record. */
  openedAfterCrash = 0

  constructor(parts: MovesParts) {
    this.#parts = parts
  }

  isLeaving(partition: number): boolean {
    return this.#departure?.partitions.has(partition) === true
  }

  /** Stops leasing from these partitions; resolves once none of their requests is leased or being read. */
  async hold(partitions: readonly number[]): Promise<void> {
    const { workbench, onDisk, window } = this.#parts
    const departure = new Departure(partitions, workbench.all())
    this.#departure = departure
    // While the hosts are still in memory.
    for (const { partition, pending, longest } of this.load()) {
      if (departure.partitions.has(partition)) this.#waiting.set(partition, { pending, longest })
    }
    onDisk.hold(partitions)
    for (const host of [...workbench.all()]) if (departure.has(host)) this.evict(host)
    await window.settled()
    await departure.idle
  }

  /** True: the host belonged to a departing partition and is now on disk only. */
  evict(host: LevelHost): boolean {
    const { workbench, window } = this.#parts
    const departure = this.#departure
    if (departure === undefined || !departure.has(host)) return false
    departure.check(host)
    if (!window.mayLeave(host)) return false
    const rested = workbench.connectionFreeAt(host)
    window.leave(host, host.isDry ? rested : Math.max(rested, host.dueAt))
    return true
  }

  /** From now on, callers that add to departing partitions have to wait. */
  finalize(): void {
    if (this.#departure !== undefined) this.#departure.isFinal = true
  }

  /** Whether anything in the departing partitions has changed since the last call. */
  takeTouched(): boolean {
    const wasTouched = this.#departure?.touched === true
    if (this.#departure !== undefined) this.#departure.touched = false
    return wasTouched
  }

  /** Something that belongs to a partition is about to be written. */
  touched(partition: number): void {
    if (this.isLeaving(partition)) this.#departure!.touched = true
  }

  /** What a caller that has just added something must wait for, if anything. */
  backPressure(): Promise<void> | undefined {
    const departure = this.#departure
    return departure?.isFinal && departure.touched ? departure.gone : undefined
  }

  /** Forgets the departing hosts: all of their data is on disk. */
  drop(): MovedState {
    const { workbench, onDisk, window, partitionOf } = this.#parts
    const departure = this.#departure!
    const { partitions } = departure
    const waiting = [...this.#waiting].filter(([partition]) => partitions.has(partition))
    workbench.removeWhere((host) => departure.has(host))
    const asked = workbench.requestedDelays.removeWhere((host) => partitions.has(partitionOf(host)))
    onDisk.drop(partitions)
    const cautiousSince = [...window.cautiousSince].filter(([partition]) => partitions.has(partition))
    for (const partition of partitions) {
      window.cautiousSince.delete(partition)
      this.#waiting.delete(partition)
    }
    this.#departure = undefined
    departure.end()
    return { asked, cautiousSince, waiting }
  }

  restore(partitions: readonly number[], { asked, cautiousSince, waiting }: MovedState): void {
    const { workbench, window } = this.#parts
    for (const [host, delayMs] of asked) workbench.requestedDelays.remember(host, delayMs)
    for (const [partition, at] of cautiousSince) window.cautiousSince.set(partition, at)
    // The predecessor of this thread may have had them.
    const since = this.openedAfterCrash
    for (const partition of since > 0 ? partitions : []) {
      window.cautiousSince.set(partition, Math.max(since, window.cautiousSince.get(partition) ?? 0))
    }
    for (const [partition, known] of waiting) this.#waiting.set(partition, known)
  }

  abandon(): void {
    this.#departure?.abandon()
  }

  /**
   * The due requests of each partition. For hosts in memory, they are known as far as memory holds them. Requests on
   * disk are assumed to be spread evenly over the hosts that have some there, due or not, unless the partition arrived
   * with better figures.
   */
  load(): PartitionLoad[] {
    const { workbench, onDisk, counts, now, mayGrow } = this.#parts
    const loads = new Map<number, Load>()
    for (const partition of counts.partitions) {
      const sleeping = onDisk.sizeOf(partition)
      // If requests determine the connections, all of them can be woken, whatever they have.
      const awake = mayGrow ? sleeping : onDisk.awakeIn(partition)
      loads.set(partition, {
        ...{ hosts: awake, longest: 0, due: 0, held: 0, leased: 0 },
        ...{ open: awake, asleep: sleeping - awake },
      })
    }
    for (const host of workbench.all()) {
      const load = loads.get(host.partitionNumber)
      if (load === undefined || (host.pending === 0 && !host.isLeased)) continue
      const due = host.dueBy(now()).count
      if (due > 0 || host.acquired > 0) load.hosts++
      load.due += due
      load.held += host.pending
      load.leased += host.leased.length
      load.longest = Math.max(load.longest, due)
      if (!host.due.isExact) load.open++
      if (!host.later.isExact) load.asleep++
    }
    return [...loads].map(([partition, { hosts, longest, due, held, leased, open, asleep }]) => {
      if (open === 0) return { partition, pending: due, hosts, longest }
      const onDisk = Math.max(0, counts.of(partition).pending - leased - held)
      const known = this.#waiting.get(partition)
      const share = Math.ceil(onDisk / (open + asleep))
      const shared = Math.min(share * open, known?.pending ?? onDisk)
      const pending = due + (asleep === 0 ? onDisk : Math.min(onDisk, Math.max(open, shared)))
      const knownLongest = Math.min(known?.longest ?? 0, pending - hosts + 1)
      return { partition, pending, hosts, longest: Math.max(longest, Math.min(share, pending), knownLongest) }
    })
  }
}

/** Due requests, in total and of the busiest host. */
interface Waiting {
  readonly pending: number
  readonly longest: number
}

/** What is known about a partition's requests. */
interface Load {
  /** Hosts with something due or leased. */
  hosts: number
  longest: number
  /** Requests in memory: due, and all. */
  due: number
  held: number
  leased: number
  /** Hosts with more on disk than is counted: due, or scheduled for later. */
  open: number
  asleep: number
}
