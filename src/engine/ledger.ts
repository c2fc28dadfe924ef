import type { StateSpace, StateStore } from '../stores/contract.js'
import type { Failure } from '../types.js'
import type { HostQuota } from './host-quota.js'
import type { EndReason } from './stats.js'
import { addedCounts, type Tally, type TallyRecord } from './tally.js'
import type { Visited } from './visits.js'

type Count = readonly [name: string, pages: number]

const NONE_COUNTED: PageCounts = { hosts: [], sites: [] }

/** Failures that a store remembers one by one: the last so many. */
const FAILURES_KEPT = 1000

/** What a store remembers of the crawl as a whole. */
export interface CrawlRecord extends TallyRecord {
  readonly runs: number
  /** When the first run began. */
  readonly startedAt: number
  /** How the last run ended; undefined while one is under way, or if it crashed. */
  readonly ended?: EndReason | undefined
}

/** What earlier runs left behind, for a shard that has no record of its own. */
export interface EarlierRuns {
  readonly runs: number
  readonly wasDone: boolean
  /** What it, or a shard that died in its place, has counted and its store has forgotten. */
  readonly counted?: PageCounts | undefined
}

/** Pages that hosts and sites have given, where that is limited. */
export interface PageCounts {
  readonly hosts: readonly Count[]
  readonly sites: readonly Count[]
}

/**
 * What the engine itself must know across runs: its counts, so that limits go on, and how the crawl ended. It lives in
 * the store's state under names of the crawl's own. Pages count from their settlement on: a page whose settlement a
 * crash takes away is delivered again, and must not count twice.
 */
export class Ledger {
  readonly #tally: Tally
  readonly #quotas: { readonly host: HostQuota; readonly site: HostQuota }
  readonly #siteOf: (host: string) => string
  readonly #shard: number
  readonly #crawl: StateSpace
  readonly #hostPages: StateSpace
  readonly #sitePages: StateSpace
  readonly #failures: StateSpace
  #settledPages = 0
  #earlier: CrawlRecord | undefined = undefined
  readonly #told: EarlierRuns | undefined
  /** Records of shards that this run does not have: their counts are part of this one's. */
  #absorbed: readonly string[] = []
  #startedAt = 0
  /** Told of what is counted, where the store forgets it when its thread dies. */
  readonly #tellCounts: ((counts: PageCounts) => void) | undefined

  /** Each shard keeps a record of its own. */
  constructor(
    state: StateStore,
    tally: Tally,
    quotas: { readonly host: HostQuota; readonly site: HostQuota },
    siteOf: (host: string) => string,
    shard = 0,
    told: EarlierRuns | undefined = undefined,
    tellCounts: ((counts: PageCounts) => void) | undefined = undefined,
  ) {
    this.#told = told
    this.#tellCounts = tellCounts
    this.#tally = tally
    this.#quotas = quotas
    this.#siteOf = siteOf
    this.#shard = shard
    this.#crawl = state.space('crawl')
    this.#hostPages = state.space('host-pages')
    this.#sitePages = state.space('site-pages')
    this.#failures = state.space('failures')
  }

  /** Pages that are settled. */
  get pages(): number {
    return this.#settledPages
  }

  get earlierRuns(): number {
    return this.#told?.runs ?? this.#earlier?.runs ?? 0
  }

  /** Whether the last run left nothing to do. */
  get wasDone(): boolean {
    return this.#told?.wasDone ?? (this.#earlier !== undefined && isDone(this.#earlier))
  }

  /** Takes up the counts of earlier runs. */
  async open(now: number): Promise<void> {
    const tally = this.#tally
    if (this.#told === undefined) {
      const { sum, others } = await earlierRecords(this.#crawl)
      this.#earlier = sum
      this.#absorbed = others
    } else this.#earlier = (await this.#crawl.get(recordName(this.#shard))) as CrawlRecord | undefined
    this.#startedAt = this.#earlier?.startedAt ?? now
    if (this.#earlier !== undefined) tally.restore(this.#earlier)
    this.#settledPages = tally.pages
    for (const [quota, space] of [
      [this.#quotas.host, this.#hostPages],
      [this.#quotas.site, this.#sitePages],
    ] as const) {
      if (!quota.isLimited) continue
      for await (const [name, pages] of space.entries()) quota.restore(name, Number(pages))
    }
    const { hosts, sites } = this.#told?.counted ?? NONE_COUNTED
    for (const [host, pages] of hosts) this.#quotas.host.restore(host, pages)
    for (const [site, pages] of sites) this.#quotas.site.restore(site, pages)
  }

  /** To be called in the same turn as the frontier's `settle`, so that both are of one commit. */
  settled(visits: readonly Visited[]): void {
    const { host: hostQuota, site: siteQuota } = this.#quotas
    const isLimited = hostQuota.isLimited || siteQuota.isLimited
    const counted = this.#tellCounts && isLimited ? { hosts: [] as Count[], sites: [] as Count[] } : undefined
    for (const { delivered, request } of visits) {
      if (delivered !== true) continue
      this.#settledPages++
      const { host, revisit } = request
      // A known page has had its place.
      if (revisit === true) continue
      if (hostQuota.isLimited) {
        const pages = hostQuota.settle(host)
        this.#hostPages.put(host, pages, host)
        counted?.hosts.push([host, pages])
      }
      if (!siteQuota.isLimited) continue
      const site = this.#siteOf(host)
      const pages = siteQuota.settle(site)
      this.#sitePages.put(site, pages, host)
      counted?.sites.push([site, pages])
    }
    if (counted !== undefined && counted.hosts.length + counted.sites.length > 0) this.#tellCounts!(counted)
  }

  failed({ url, code, message, status, attempt }: Failure, at: number): void {
    const place = this.#tally.failed % FAILURES_KEPT
    this.#failures.put(this.#shard === 0 ? String(place) : `${this.#shard} ${place}`, {
      url,
      code,
      message,
      status,
      attempt,
      at,
    })
  }

  /** Puts the counts where the next commit takes them. */
  write(ended?: EndReason): void {
    const record: CrawlRecord = {
      ...this.#tally.record(),
      pages: this.#settledPages,
      runs: this.earlierRuns + 1,
      startedAt: this.#startedAt,
      ended,
    }
    this.#crawl.put(recordName(this.#shard), record)
    for (const name of this.#absorbed) this.#crawl.delete(name)
    this.#absorbed = []
  }
}

/** Under what name a shard keeps its record. */
export function recordName(shard: number): string {
  return shard === 0 ? 'tally' : `tally ${shard}`
}

/** What all shards of the last run have counted together, and the names of the records besides the first. */
export async function earlierRecords(
  crawl: StateSpace,
): Promise<{ sum: CrawlRecord | undefined; others: string[] }> {
  const records: CrawlRecord[] = []
  const others: string[] = []
  for await (const [name, record] of crawl.entries()) {
    if (!name.startsWith(recordName(0))) continue
    records.push(record as CrawlRecord)
    if (name !== recordName(0)) others.push(name)
  }
  return { sum: records.length === 0 ? undefined : records.reduce(added), others }
}

export function isDone({ ended }: CrawlRecord): boolean {
  return ended === 'done' || ended === 'already-done'
}

function added(a: CrawlRecord, b: CrawlRecord): CrawlRecord {
  return {
    ...addedCounts(a, b),
    runs: Math.max(a.runs, b.runs),
    startedAt: Math.min(a.startedAt, b.startedAt),
    ended: isDone(a) ? b.ended : a.ended,
  }
}
