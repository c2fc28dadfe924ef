import { KumoError } from '../errors.js'
import type { PartitionLoad } from '../stores/contract.js'
import type { Politeness, SelectionPolicy, Settlement } from './contract.js'
import { PendingRequest } from './host-queue.js'
import { MemoryFrontier } from './memory.js'
import { type MovedHost, type MovedHosts, packHosts, unpackHosts } from './moved-hosts.js'
import { Host } from './workbench.js'

export interface ShardFrontierOptions {
  readonly politeness: Politeness
  readonly policy: SelectionPolicy
  partitionOf(host: string): number
}

/** What a frontier holds of some partitions, as data that can be posted to another thread. */
export interface MovedPartitions extends MovedHosts {
  /** The pauses that forgotten hosts had asked for. */
  readonly asked: readonly (readonly [host: string, delayMs: number])[]
  /** Partitions whose hosts rest, known or not. */
  readonly resting: readonly (readonly [partition: number, until: number])[]
}

/** A host that is not handed out while its partition is about to leave. */
class ShardHost extends Host {
  readonly partition: number
  isHeld: boolean

  constructor(host: string, workbench: object, delayMs: number, partition: number, isHeld: boolean) {
    super(host, workbench, delayMs)
    this.partition = partition
    this.isHeld = isHeld
  }

  override get dueAt(): number {
    return this.isHeld ? Number.POSITIVE_INFINITY : this.queue.dueAt
  }
}

/** Partitions that are about to leave. */
interface Leaving {
  readonly partitions: ReadonlySet<number>
  /** Hosts of theirs with leases out. No more can come. */
  readonly busy: readonly ShardHost[]
  quiet(): void
  fail(error: unknown): void
}

/**
 * The memory frontier of a shard: partitions can leave it and arrive. A host that is about to leave stands in no queue of
 * the workbench, so nothing of it can be handed out; requests still come to it, and go along.
 */
export class ShardFrontier extends MemoryFrontier<ShardHost> {
  readonly #partitionOf: (host: string) => number
  /** Until when hosts of a partition rest that are not known yet. */
  readonly #resting: Map<number, number>
  readonly #connections: number
  #leaving: Leaving | undefined = undefined
  #rouse: () => void = () => {}

  constructor({ politeness, policy, partitionOf }: ShardFrontierOptions) {
    const resting = new Map<number, number>()
    const isHeld = (partition: number) => this.#leaving?.partitions.has(partition) === true
    super(politeness, policy, (name, workbench, delayMs) => {
      const partition = partitionOf(name)
      const host = new ShardHost(name, workbench, delayMs, partition, isHeld(partition))
      const until = resting.get(partition)
      // A rest that is over would let the host seem to have waited since then.
      if (until !== undefined && until > this.now) host.notBefore = until
      return host
    })
    this.#partitionOf = partitionOf
    this.#resting = resting
    this.#connections = politeness.connections
  }

  /** Nobody knows when hosts of these partitions were visited: those that come up rest until then. */
  rest(partitions: readonly number[], until: number): void {
    for (const partition of partitions) {
      this.#resting.set(partition, Math.max(until, this.#resting.get(partition) ?? 0))
    }
  }

  override settle(settlements: readonly Settlement[]): void {
    super.settle(settlements)
    if (this.#leaving !== undefined) this.#lookIfQuiet(this.#leaving)
  }

  watch(rouse: () => void): void {
    this.#rouse = rouse
  }

  /** From now on nothing of these partitions is handed out. Resolves once all that was is settled: see `give`. */
  hold(partitions: readonly number[]): Promise<void> {
    if (this.#leaving !== undefined) {
      const message = 'give: the partitions of the call before have not left yet'
      return Promise.reject(new KumoError('KUMO_CONTRACT_BROKEN', message))
    }
    const leaving = new Set(partitions)
    const busy: ShardHost[] = []
    for (const host of this.workbench.all()) {
      if (!leaving.has(host.partition)) continue
      host.isHeld = true
      if (host.acquired > 0) busy.push(host)
      this.workbench.place(host, this.now)
    }
    return new Promise((quiet, fail) => {
      this.#leaving = { partitions: leaving, busy, quiet, fail }
      this.#lookIfQuiet(this.#leaving)
    })
  }

  /** All that belongs to the partitions that were held, which are gone from here. */
  release(): MovedPartitions {
    const partitions = this.#leaving?.partitions ?? new Set<number>()
    this.#leaving = undefined
    const isLeaving = (host: string) => partitions.has(this.#partitionOf(host))
    const hosts = this.workbench.takeOut(({ partition }) => partitions.has(partition))
    const moved = packHosts(hosts)
    this.waiting -= moved.urls.length
    const resting = [...this.#resting].filter(
      ([partition, until]) => partitions.has(partition) && until > this.now,
    )
    for (const partition of partitions) this.#resting.delete(partition)
    return { ...moved, asked: this.workbench.asked.takeOut(isLeaving), resting }
  }

  /** Goes on with what another shard's frontier gave. */
  adopt(moved: MovedPartitions): void {
    for (const [host, delayMs] of moved.asked) this.workbench.asked.remember(host, delayMs)
    for (const [partition, until] of moved.resting) this.rest([partition], until)
    for (const host of unpackHosts(moved)) this.#takeHost(host)
    this.#rouse()
  }

  /** Partitions without requests that are due are left out. */
  load(): PartitionLoad[] {
    const loads = new Map<number, { partition: number; pending: number; hosts: number; longest: number }>()
    for (const host of this.workbench.all()) {
      const { partition } = host
      const pending = host.dueBy(this.now).count
      if (pending === 0) continue
      const load = loads.get(partition)
      if (load === undefined) loads.set(partition, { partition, pending, hosts: 1, longest: pending })
      else {
        load.pending += pending
        load.hosts++
        if (pending > load.longest) load.longest = pending
      }
    }
    return [...loads.values()]
  }

  override close(): void {
    super.close()
    this.#leaving?.fail(new KumoError('KUMO_STORE_FAILED', 'give: the frontier was closed'))
    this.#leaving = undefined
  }

  #lookIfQuiet({ busy, quiet }: Leaving): void {
    if (busy.every(({ acquired }) => acquired === 0)) quiet()
  }

  /** Requests of it that are here already came later than those that arrive with it, and stay behind them. */
  #takeHost({ name, resting, notBefore, delayMs, trouble, requests }: MovedHost): void {
    const { workbench } = this
    const isNew = workbench.known(name) === undefined
    const host = workbench.host(name)
    host.delayMs = isNew ? delayMs : Math.max(host.delayMs, delayMs)
    host.notBefore = Math.max(host.notBefore, notBefore)
    host.trouble = trouble ?? host.trouble
    const pauses = [...host.resting.filter((until) => until > 0), ...resting].sort((a, b) => a - b)
    if (pauses.length > 0) host.resting = pauses.slice(-this.#connections)
    if (requests.length > 0) workbench.enliven(host)
    const early: [PendingRequest, number | undefined][] = []
    host.queue.drain((request, again) => early.push([request, again]))
    for (const { request, again } of requests) {
      host.queue.put(new PendingRequest(request, host, request.attempt), again)
    }
    for (const [request, again] of early) host.queue.put(request, again)
    this.waiting += requests.length
    workbench.place(host, this.now)
  }
}
