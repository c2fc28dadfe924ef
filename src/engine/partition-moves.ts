import type { RefreshScheduler, ServerRecord } from '../refresh/contract.js'
import type { PartitionLoad, StoreSnapshot } from '../stores/contract.js'
import { hostOf } from '../url/canonicalize.js'
import type { AdmissionsInProgress } from './admission/in-progress.js'
import type { EngineParts } from './parts.js'
import type { HostQuota } from './visit/host-quota.js'

/** Partitions on their way from one shard to another, with all that belongs to them, as data that can be posted. */
export interface PartitionSnapshot {
  readonly partitions: readonly number[]
  readonly stored: StoreSnapshot
  /** Rules of their origins, as records. */
  readonly robots: readonly unknown[]
  /** Pages that hosts and sites have given, where that is limited. */
  readonly hostPages: readonly (readonly [host: string, pages: number])[]
  readonly sitePages: readonly (readonly [site: string, pages: number])[]
  /** What is known of their servers, where pages are visited again. */
  readonly servers: readonly (readonly [host: string, record: ServerRecord])[]
}

/** What so many pages ask for is summed up in some milliseconds; what more ask for, only so often. */
const MANY_PAGES = 10_000
const DEMAND_MS = 30_000

/** How partitions leave this shard and come to it. What the store holds it hands over; what the engine knows goes along. */
export class PartitionMoves {
  readonly #parts: EngineParts
  readonly #hostQuota: HostQuota
  readonly #siteQuota: HostQuota
  readonly #inProgress: AdmissionsInProgress
  #giving = 0
  /** What known pages ask for, by partition; undefined: to be summed up again, for partitions have left or come. */
  #demand: { readonly at: number; readonly by: ReadonlyMap<number, number> } | undefined = undefined

  constructor(
    parts: EngineParts,
    hostQuota: HostQuota,
    siteQuota: HostQuota,
    inProgress: AdmissionsInProgress,
  ) {
    this.#parts = parts
    this.#inProgress = inProgress
    this.#hostQuota = hostQuota
    this.#siteQuota = siteQuota
  }

  /** While partitions are on their way out this shard is not done. */
  get isReleasing(): boolean {
    return this.#giving > 0
  }

  /**
   * `leave` is called at once: from then on what is found for them goes to whoever gets them, who holds it until they
   * come. What was found before goes along.
   */
  async release(partitions: readonly number[], leave: () => void): Promise<PartitionSnapshot> {
    this.#giving++
    try {
      leave()
      await this.#inProgress.drained()
      const stored = await this.#parts.handover!.release(partitions)
      return { partitions, stored, ...this.#known(new Set(partitions)) }
    } finally {
      this.#giving--
    }
  }

  /** What the partitions here have to do: what is due now, and what the schedule will ask for. */
  load(): readonly PartitionLoad[] | undefined {
    const due = this.#parts.handover?.load()
    const { refresh } = this.#parts
    // Pages that wait for the next round have no times of their own.
    if (due === undefined || refresh?.schedule.rules.rounds !== Number.POSITIVE_INFINITY) return due
    const left = new Map(this.#demandOf(refresh.schedule))
    const loads = due.map((load): PartitionLoad => {
      const scheduled = left.get(load.partition)
      left.delete(load.partition)
      return { ...load, scheduled }
    })
    for (const [partition, scheduled] of left) {
      loads.push({ partition, pending: 0, hosts: 0, longest: 0, scheduled })
    }
    return loads
  }

  #demandOf(schedule: RefreshScheduler): ReadonlyMap<number, number> {
    const now = this.#parts.clock.now()
    const last = this.#demand
    if (last !== undefined && schedule.pages > MANY_PAGES && now - last.at < DEMAND_MS) return last.by
    const by = schedule.demandBy((host) => this.#parts.partitioner.partition(host))
    this.#demand = { at: now, by }
    return by
  }

  async adopt({ stored, robots, hostPages, sitePages, servers }: PartitionSnapshot): Promise<void> {
    for (const record of robots) this.#parts.robots.restore?.(record)
    for (const [host, pages] of hostPages) this.#hostQuota.restore(host, pages)
    for (const [site, pages] of sitePages) this.#siteQuota.restore(site, pages)
    for (const [host, server] of servers) this.#parts.refresh?.schedule.restore(host, server)
    this.#demand = undefined
    await this.#parts.handover!.adopt(stored)
  }

  #known(
    partitions: ReadonlySet<number>,
  ): Pick<PartitionSnapshot, 'robots' | 'hostPages' | 'sitePages' | 'servers'> {
    const { partitioner, robots, refresh } = this.#parts
    const isGone = (host: string) => partitions.has(partitioner.partition(host))
    const records = [...(robots.records?.() ?? [])]
    this.#demand = undefined
    return {
      robots: records.filter(({ origin }) => isGone(hostOf(`${origin}/`))),
      hostPages: this.#hostQuota.take(isGone),
      // A site's hosts are of one partition wherever sites are limited.
      sitePages: this.#siteQuota.take(isGone),
      servers: refresh?.schedule.release(isGone) ?? [],
    }
  }
}
