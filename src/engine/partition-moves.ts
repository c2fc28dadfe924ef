import type { RefreshScheduler, ServerRecord } from '../refresh/contract.js'
import type { PartitionLoad, StoreSnapshot } from '../stores/contract.js'
import { hostOf } from '../url/canonicalize.js'
import type { AdmissionsInProgress } from './admission/in-progress.js'
import type { FollowedFeeds } from './feeds/followed-feeds.js'
import type { EngineParts } from './parts.js'
import type { Tally } from './stats/tally.js'
import type { HostQuota } from './visit/host-quota.js'

/** Partitions in transit between shards, with all that belongs to them, as data that can be posted. */
export interface PartitionSnapshot {
  readonly partitions: readonly number[]
  readonly stored: StoreSnapshot
  /** robots.txt records of their origins. */
  readonly robots: readonly unknown[]
  /** Delivered pages by host and by site, where they are limited. */
  readonly hostPages: readonly (readonly [host: string, pages: number])[]
  readonly sitePages: readonly (readonly [site: string, pages: number])[]
  /** When the last visit to each of their hosts ended. */
  readonly lastVisits: readonly (readonly [host: string, at: number])[]
  /** Records of their servers, with `refresh()`. */
  readonly servers: readonly (readonly [host: string, record: ServerRecord])[]
}

/** Summing the demand of this many pages takes some milliseconds; with more, the sum is cached for a while. */
const CACHE_ABOVE_PAGES = 10_000
const CACHE_MS = 30_000

/** Moves partitions from and to this shard. The store hands its data over; the engine's own state goes along. */
export class PartitionMoves {
  readonly #parts: EngineParts
  readonly #hostQuota: HostQuota
  readonly #siteQuota: HostQuota
  readonly #inProgress: AdmissionsInProgress
  readonly #tally: Tally
  readonly #followed: FollowedFeeds | undefined
  #releasing = 0
  /** The demand of known pages by partition. Undefined: partitions have moved, so it must be summed again. */
  #demand: { readonly at: number; readonly by: ReadonlyMap<number, number> } | undefined = undefined

  constructor(
    parts: EngineParts,
    { host: hostQuota, site: siteQuota }: { readonly host: HostQuota; readonly site: HostQuota },
    inProgress: AdmissionsInProgress,
    tally: Tally,
    followed?: FollowedFeeds,
  ) {
    this.#followed = followed
    this.#parts = parts
    this.#inProgress = inProgress
    this.#hostQuota = hostQuota
    this.#siteQuota = siteQuota
    this.#tally = tally
  }

  /** The shard must not end while partitions are leaving. */
  get isReleasing(): boolean {
    return this.#releasing > 0
  }

  /**
   * `disown` is called at once: from then on, requests for these partitions go to their new owner, which holds them until
   * the partitions arrive. Requests found before go along.
   */
  async release(partitions: readonly number[], disown: () => void): Promise<PartitionSnapshot> {
    this.#releasing++
    try {
      disown()
      await this.#inProgress.drained()
      const moving = new Set(partitions)
      await this.#followed?.release((host) => moving.has(this.#parts.partitioner.partition(host)))
      const stored = await this.#parts.handover!.release(partitions)
      return { partitions, stored, ...this.#engineState(new Set(partitions)) }
    } finally {
      this.#releasing--
    }
  }

  /** Another process has these partitions now, and the store has nothing of them: forgets the engine's own state. */
  revoke(partitions: readonly number[]): void {
    this.#engineState(new Set(partitions))
  }

  /** Resolves when everything that is being added to the store is there. */
  drained(): Promise<void> {
    return this.#inProgress.drained()
  }

  /** The load of each partition: what is due now, and what the refresh schedule demands. */
  load(): readonly PartitionLoad[] | undefined {
    const due = this.#parts.handover?.load()
    const { refresh } = this.#parts
    // With rounds, pages have no schedule of their own.
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
    if (last !== undefined && schedule.pages > CACHE_ABOVE_PAGES && now - last.at < CACHE_MS) return last.by
    const by = schedule.demandBy((host) => this.#parts.partitioner.partition(host))
    this.#demand = { at: now, by }
    return by
  }

  async adopt({
    partitions,
    stored,
    robots,
    hostPages,
    sitePages,
    lastVisits,
    servers,
  }: PartitionSnapshot): Promise<void> {
    for (const record of robots) this.#parts.robots.restore?.(record)
    for (const [host, pages] of hostPages) this.#hostQuota.restore(host, pages)
    for (const [site, pages] of sitePages) this.#siteQuota.restore(site, pages)
    this.#tally.adoptHosts(lastVisits)
    for (const [host, server] of servers) this.#parts.refresh?.schedule.restore(host, server)
    this.#demand = undefined
    await this.#parts.handover!.adopt(stored)
    const moved = new Set(partitions)
    await this.#followed?.adopt((host) => moved.has(this.#parts.partitioner.partition(host)))
  }

  #engineState(partitions: ReadonlySet<number>): Omit<PartitionSnapshot, 'partitions' | 'stored'> {
    const { partitioner, robots, refresh } = this.#parts
    const moves = (host: string) => partitions.has(partitioner.partition(host))
    const records = [...(robots.records?.() ?? [])]
    this.#demand = undefined
    this.#parts.onHostsLeft?.(moves)
    return {
      robots: records.filter(({ origin }) => moves(hostOf(`${origin}/`))),
      hostPages: this.#hostQuota.remove(moves),
      // Where sites are limited, all hosts of a site are in one partition.
      sitePages: this.#siteQuota.remove(moves),
      lastVisits: this.#tally.releaseHosts(moves),
      servers: refresh?.schedule.release(moves) ?? [],
    }
  }
}
