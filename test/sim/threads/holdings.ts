import type { Frontier } from '../../../src/frontier/contract.js'
import type { Handover, OpenStore } from '../../../src/stores/contract.js'
import type { CrawlRequest } from '../../../src/types.js'
import type { SimThread } from './sim-thread.js'

/**
 * Which thread has which partition in its store: seen from outside, at every moment. What must never be is written down:
 * two threads that live and have the same, and a thread that adds to what it does not have, or visits it.
 */
export class Holdings {
  readonly findings: string[] = []
  readonly #holders = new Map<number, SimThread>()
  /** Given away, and nobody has it yet. */
  readonly #given = new Set<number>()
  readonly #frontiers = new Map<SimThread, Frontier>()
  readonly #everHeld = new Map<SimThread, Set<number>>()
  readonly #partitionOf: (host: string) => number

  constructor(partitionOf: (host: string) => number) {
    this.#partitionOf = partitionOf
  }

  /** The store of a thread, which begins with these partitions. */
  watched(store: OpenStore, partitions: readonly number[], thread: SimThread): OpenStore {
    for (const partition of partitions) this.#claim(partition, thread)
    const { frontier, seen, state, onCommit, flush, outbox, handover } = store
    this.#frontiers.set(thread, frontier)
    this.#everHeld.set(thread, new Set(partitions))
    return {
      frontier: this.#frontier(frontier, thread),
      seen,
      ...(state && { state }),
      ...(onCommit && { onCommit }),
      ...(flush && { flush }),
      ...(outbox && { outbox: outbox }),
      ...(handover && { handover: this.#handover(handover, thread) }),
      close: () => store.close(),
    }
  }

  /** Those of the partitions that are in the same place as the first, and the shard that has them. */
  together(partitions: readonly number[]): {
    readonly partitions: readonly number[]
    readonly shard: number
  } {
    const holder = this.#holders.get(partitions[0]!)
    const same = partitions.filter((partition) => this.#holders.get(partition) === holder)
    return { partitions: same, shard: holder?.shard ?? 0 }
  }

  /** The partitions that a thread has, or had when it died, or was the last to have. */
  of(thread: SimThread): ReadonlySet<number> {
    return new Set(
      [...this.#holders].flatMap(([partition, holder]) => (holder === thread ? [partition] : [])),
    )
  }

  /** All partitions that a thread has ever had: others may have sent it what belongs to them, and it passes that on. */
  everOf(thread: SimThread): ReadonlySet<number> {
    return this.#everHeld.get(thread) ?? new Set()
  }

  /** Requests that wait in its store, or did when it died. */
  pendingOf(thread: SimThread): number {
    return this.#frontiers.get(thread)?.pending ?? 0
  }

  #handover(handover: Handover, thread: SimThread): Handover {
    return {
      release: (partitions, left) =>
        handover.release(partitions, () => {
          for (const partition of partitions) this.#release(partition, thread)
          left?.()
        }),
      adopt: (what) => {
        for (const partition of what.partitions) this.#claim(partition, thread)
        return handover.adopt(what)
      },
      load: () => handover.load(),
    }
  }

  #frontier(frontier: Frontier, thread: SimThread): Frontier {
    return {
      add: (requests) => {
        this.#check('was added', requests, thread)
        return frontier.add(requests)
      },
      lease: (max, now) => {
        const checked = (leased: readonly CrawlRequest[]) => {
          this.#check('was handed out', leased, thread)
          return leased
        }
        const leasing = frontier.lease(max, now)
        return leasing instanceof Promise ? leasing.then(checked) : checked(leasing)
      },
      settle: (settlements) => {
        for (const { found } of settlements) this.#check('was found', found ?? [], thread)
        return frontier.settle(settlements)
      },
      nextDue: () => frontier.nextDue(),
      watch: (rouse) => frontier.watch?.(rouse),
      get pending() {
        return frontier.pending
      },
      get leased() {
        return frontier.leased
      },
      get hosts() {
        return frontier.hosts
      },
      close: () => frontier.close(),
    }
  }

  #claim(partition: number, thread: SimThread): void {
    const holder = this.#holders.get(partition)
    if (!thread.isAlive) return
    if (holder?.isAlive && holder !== thread && !this.#given.has(partition)) {
      this.#found(thread, `two owners: partition ${partition} is also held by shard ${holder.shard}`)
    }
    this.#holders.set(partition, thread)
    this.#everHeld.get(thread)?.add(partition)
    this.#given.delete(partition)
  }

  #release(partition: number, thread: SimThread): void {
    if (this.#has(partition, thread)) this.#given.add(partition)
    else if (thread.isAlive) this.#found(thread, `gave partition ${partition}, which it does not have`)
  }

  #check(what: string, requests: readonly CrawlRequest[], thread: SimThread): void {
    if (!thread.isAlive) return
    for (const { url, host } of requests) {
      if (this.#has(this.#partitionOf(host), thread)) continue
      this.#found(thread, `not its own: ${url} ${what}`)
    }
  }

  #has(partition: number, thread: SimThread): boolean {
    return this.#holders.get(partition) === thread && !this.#given.has(partition)
  }

  #found({ shard, number }: SimThread, what: string): void {
    this.findings.push(`shard ${shard} (thread ${number}): ${what}`)
  }
}
