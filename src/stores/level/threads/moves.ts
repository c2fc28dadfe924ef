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
  /** Whether the connections to a host depend on its requests. */
  readonly mayGrow: boolean
  partitionOf(host: string): number
  /** The latest instant that is known. */
  now(): number
}

/** What goes along with hosts that leave, and is not on disk. */
export interface MovedState {
  /** Pauses that hosts had asked for before they were forgotten. */
  readonly asked: readonly (readonly [host: string, delayMs: number])[]
  /** By partition, when it was opened after a crash: hosts may have been visited just before. */
  readonly cautiousSince: readonly (readonly [partition: number, at: number])[]
  /** By partition, how many requests were due, and how many of its longest host. */
  readonly waiting: readonly (readonly [partition: number, told: Waiting])[]
}

/** What must be known of hosts from another thread to go on with them, besides what is on disk. */
export interface Carried extends MovedState {
  /** Larger than the number of any of their requests. */
  readonly seq: number
  /** Nothing of them is handed out before this. */
  readonly restUntil: number
}

/** How hosts leave a frontier with their partitions, and come to it. Their records and requests are on disk. */
export class LevelMoves {
  readonly #parts: MovesParts
  #departure: Departure | undefined = undefined
  /** What a partition had when it came, or was about to leave. */
  readonly #waiting = new Map<number, Waiting>()
  /** When the store was opened, if hosts may have been visited before without a trace. */
  openedAfterCrash = 0

  constructor(parts: MovesParts) {
    this.#parts = parts
  }

  isLeaving(partition: number): boolean {
    return this.#departure?.partitions.has(partition) === true
  }

  /** From now on nothing of these partitions is handed out; resolves once nothing of them is handed out or read. */
  async hold(partitions: readonly number[]): Promise<void> {
    const { workbench, onDisk, window } = this.#parts
    const departure = new Departure(partitions, workbench.all())
    this.#departure = departure
    // While memory still holds the hosts.
    for (const { partition, pending, longest } of this.load()) {
      if (departure.partitions.has(partition)) this.#waiting.set(partition, { pending, longest })
    }
    onDisk.hold(partitions)
    for (const host of [...workbench.all()]) if (departure.has(host)) this.sendAway(host)
    await window.settled()
    await departure.quiet
  }

  /** True: the host was about to leave, and is on disk only from now on. Its place in memory is free for others. */
  sendAway(host: LevelHost): boolean {
    const { workbench, window } = this.#parts
    const departure = this.#departure
    if (departure === undefined || !departure.has(host)) return false
    departure.look(host)
    if (!window.mayLeave(host)) return false
    const rested = workbench.connectionFreeAt(host)
    window.leave(host, host.isDry ? rested : Math.max(rested, host.dueAt))
    return true
  }

  /** From now on whoever brings more to what leaves has to wait. */
  hurry(): void {
    if (this.#departure !== undefined) this.#departure.isLast = true
  }

  /** Whether something of what leaves has changed since the last call. */
  wasTouched(): boolean {
    const wasTouched = this.#departure?.touched === true
    if (this.#departure !== undefined) this.#departure.touched = false
    return wasTouched
  }

  /** Something that belongs to a partition is about to be written. */
  touched(partition: number): void {
    if (this.isLeaving(partition)) this.#departure!.touched = true
  }

  /** Undefined, or what whoever has just brought something must wait for. */
  whenToGoOn(): Promise<void> | undefined {
    const departure = this.#departure
    return departure?.isLast && departure.touched ? departure.gone : undefined
  }

  /** Forgets the hosts of what was held: all of it is on disk. */
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

  unpack(partitions: readonly number[], { asked, cautiousSince, waiting }: MovedState): void {
    const { workbench, window } = this.#parts
    for (const [host, delayMs] of asked) workbench.requestedDelays.remember(host, delayMs)
    for (const [partition, at] of cautiousSince) window.cautiousSince.set(partition, at)
    // Whoever this one replaces may have had them.
    const since = this.openedAfterCrash
    for (const partition of since > 0 ? partitions : []) {
      window.cautiousSince.set(partition, Math.max(since, window.cautiousSince.get(partition) ?? 0))
    }
    for (const [partition, told] of waiting) this.#waiting.set(partition, told)
  }

  abandon(): void {
    this.#departure?.abandon()
  }

  /**
   * What each partition has that is due. Of hosts in memory that is known as far as memory holds it. What lies on disk
   * only is taken to be shared evenly by those that have something there, due or not, unless more was told when the
   * partition came.
   */
  load(): PartitionLoad[] {
    const { workbench, onDisk, counts, now, mayGrow } = this.#parts
    const loads = new Map<number, Load>()
    for (const partition of counts.partitions) {
      const sleeping = onDisk.sizeOf(partition)
      // Where requests allow connections all of them are ready to be woken, whatever they have.
      const awake = mayGrow ? sleeping : onDisk.awakeIn(partition)
      loads.set(partition, {
        ...{ hosts: awake, longest: 0, due: 0, held: 0, leased: 0 },
        ...{ open: awake, asleep: sleeping - awake },
      })
    }
    for (const host of workbench.all()) {
      const load = loads.get(host.partitionNumber)
      if (load === undefined || (host.pending === 0 && host.acquired === 0)) continue
      const due = host.dueBy(now()).count
      if (due > 0 || host.acquired > 0) load.hosts++
      load.due += due
      load.held += host.pending
      load.leased += host.acquired
      load.longest = Math.max(load.longest, due)
      if (!host.due.isExact) load.open++
      if (!host.later.isExact) load.asleep++
    }
    return [...loads].map(([partition, { hosts, longest, due, held, leased, open, asleep }]) => {
      if (open === 0) return { partition, pending: due, hosts, longest }
      const onDisk = Math.max(0, counts.of(partition).pending - leased - held)
      const told = this.#waiting.get(partition)
      const share = Math.ceil(onDisk / (open + asleep))
      const shared = Math.min(share * open, told?.pending ?? onDisk)
      const pending = due + (asleep === 0 ? onDisk : Math.min(onDisk, Math.max(open, shared)))
      const toldLongest = Math.min(told?.longest ?? 0, pending - hosts + 1)
      return { partition, pending, hosts, longest: Math.max(longest, Math.min(share, pending), toldLongest) }
    })
  }
}

/** Requests that were due, and those of the host with most. */
interface Waiting {
  readonly pending: number
  readonly longest: number
}

/** What is known of a partition's requests. */
interface Load {
  /** With something due, or handed out. */
  hosts: number
  longest: number
  /** Requests in memory that are due, and all that are counted there. */
  due: number
  held: number
  leased: number
  /** Hosts with more on disk than is counted: due, or not. */
  open: number
  asleep: number
}
