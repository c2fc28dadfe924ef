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

/** The content of some partitions of a frontier, as data that can be posted to another thread. */
export interface MovedPartitions extends MovedHosts {
  /** The delays that forgotten hosts had requested. */
  readonly requestedDelays: readonly (readonly [host: string, delayMs: number])[]
  /** Partitions whose hosts must rest, including hosts that are not known yet. */
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
  /** Their hosts that have leases out. The list cannot grow. */
  readonly busy: readonly ShardHost[]
  idle(): void
  fail(error: unknown): void
}

/**
 * The memory frontier of a shard. Partitions can leave it and arrive. A host that is about to leave is in no queue of
 * the workbench, so none of its requests can be handed out; requests that are added to it still go along.
 */
export class ShardFrontier extends MemoryFrontier<ShardHost> {
  readonly #partitionOf: (host: string) => number
  /** By partition: until when hosts that are not known yet must rest. */
  readonly #resting: Map<number, number>
  readonly #connections: number
  #leaving: Leaving | undefined = undefined
  #wake: () => void = () => {}

  constructor({ politeness, policy, partitionOf }: ShardFrontierOptions) {
    const resting = new Map<number, number>()
    const isHeld = (partition: number) => this.#leaving?.partitions.has(partition) === true
    super(politeness, policy, (name, workbench, delayMs) => {
      const partition = partitionOf(name)
      const host = new ShardHost(name, workbench, delayMs, partition, isHeld(partition))
      const until = resting.get(partition)
      // With a time in the past, the host would seem to have been ready since then.
      if (until !== undefined && until > this.now) host.notBefore = until
      return host
    })
    this.#partitionOf = partitionOf
    this.#resting = resting
    this.#connections = politeness.connections
  }

  /**
   * Nothing is known about earlier visits to the hosts of these partitions, so hosts that turn up rest until this time.
   */
  rest(partitions: readonly number[], until: number): void {
    for (const partition of partitions) {
      this.#resting.set(partition, Math.max(until, this.#resting.get(partition) ?? 0))
    }
  }

  override settle(settlements: readonly Settlement[]): void {
    super.settle(settlements)
    if (this.#leaving !== undefined) this.#checkIdle(this.#leaving)
  }

  watch(wake: () => void): void {
    this.#wake = wake
  }

  /**
   * From now on, no request of these partitions is handed out. Resolves when all of their leases are settled: then call
   * `release`.
   */
  hold(partitions: readonly number[]): Promise<void> {
    if (this.#leaving !== undefined) {
      const message = 'release: the partitions of the previous call have not left yet'
      return Promise.reject(new KumoError('KUMO_CONTRACT_BROKEN', message))
    }
    const leaving = new Set(partitions)
    const busy: ShardHost[] = []
    for (const host of this.workbench.all()) {
      if (!leaving.has(host.partition)) continue
      host.isHeld = true
      if (host.isLeased) busy.push(host)
      this.workbench.place(host, this.now)
    }
    return new Promise((idle, fail) => {
      this.#leaving = { partitions: leaving, busy, idle, fail }
      this.#checkIdle(this.#leaving)
    })
  }

  /** Removes the held partitions and returns everything that belongs to them. */
  release(): MovedPartitions {
    const partitions = this.#leaving?.partitions ?? new Set<number>()
    this.#leaving = undefined
    const isLeaving = (host: string) => partitions.has(this.#partitionOf(host))
    const hosts = this.workbench.removeWhere(({ partition }) => partitions.has(partition))
    const moved = packHosts(hosts)
    this.waiting -= moved.urls.length
    const resting = [...this.#resting].filter(
      ([partition, until]) => partitions.has(partition) && until > this.now,
    )
    for (const partition of partitions) this.#resting.delete(partition)
    return { ...moved, requestedDelays: this.workbench.requestedDelays.removeWhere(isLeaving), resting }
  }

  /** Continues with partitions that another shard's frontier released. */
  adopt(moved: MovedPartitions): void {
    for (const [host, delayMs] of moved.requestedDelays)
      this.workbench.requestedDelays.remember(host, delayMs)
    for (const [partition, until] of moved.resting) this.rest([partition], until)
    for (const host of unpackHosts(moved)) this.#adoptHost(host)
    this.#wake()
  }

  /** The load of the partitions that have requests due. */
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
    this.#leaving?.fail(new KumoError('KUMO_STORE_FAILED', 'release: the frontier was closed'))
    this.#leaving = undefined
  }

  #checkIdle({ busy, idle }: Leaving): void {
    if (busy.every(({ isLeased }) => !isLeased)) idle()
  }

  /** Requests of this host that are already here are newer than those that arrive with it, so they stay behind them. */
  #adoptHost({ name, resting, notBefore, delayMs, trouble, requests }: MovedHost): void {
    const { workbench } = this
    const isNew = workbench.find(name) === undefined
    const host = workbench.host(name)
    host.delayMs = isNew ? delayMs : Math.max(host.delayMs, delayMs)
    host.notBefore = Math.max(host.notBefore, notBefore)
    host.trouble = trouble ?? host.trouble
    const pauses = [...host.resting.filter((until) => until > 0), ...resting].sort((a, b) => a - b)
    if (pauses.length > 0) host.resting = pauses.slice(-this.#connections)
    if (requests.length > 0) workbench.activate(host)
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
