import type { StateSpace, StateStore } from '../../stores/contract.js'
import type { CrawlRequest, FailureCode, MaybePromise } from '../../types.js'
import { FailedUrls, type RetrySink } from '../admission/failed-urls.js'
import type { EarlierRuns, PageCount, PageCounts } from '../parts.js'
import type { HostQuota } from '../visit/host-quota.js'
import type { VisitResult } from '../visit/visit-result.js'
import type { EndReason } from './stats.js'
import {
  addCounts,
  isExtractionFailure,
  isExtractionFailureCode,
  type Tally,
  type TallyRecord,
  type VisitEvent,
  withoutEvents,
} from './tally.js'

const NONE_COUNTED: PageCounts = { hosts: [], sites: [] }

/** The store keeps this many of the latest failures in detail. */
const MAX_FAILURES = 1000

/** The record of a crawl, or of one of its shards, as stored. */
export interface CrawlRecord extends TallyRecord {
  readonly runs: number
  /** When the first run started. */
  readonly startedAt: number
  /** How the last run ended; undefined during a run, or if it crashed. */
  readonly ended?: EndReason | undefined
}

/**
 * What the engine remembers across runs: its counts, so that limits continue, and how the crawl ended. It is part of the
 * store's state. Pages, failures and redirects count when their visit is settled: if a crash undoes the settlement, the
 * visit is repeated and must not count twice.
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
  readonly #failedUrls: FailedUrls | undefined
  #settledPages = 0
  #keptFailures = 0
  /** Events of visits that are not settled yet. */
  readonly #unsettled = new Map<CrawlRequest, VisitEvent[]>()
  #earlier: CrawlRecord | undefined = undefined
  readonly #given: EarlierRuns | undefined
  /** Records of other shards of the last run, whose counts this shard has added to its own. */
  #absorbed: readonly string[] = []
  #startedAt = 0
  /** Receives page counts if the store loses them when its thread dies. */
  readonly #reportCounts: ((counts: PageCounts) => void) | undefined

  /** Each shard has its own record. */
  constructor(
    state: StateStore,
    tally: Tally,
    quotas: { readonly host: HostQuota; readonly site: HostQuota },
    siteOf: (host: string) => string,
    shard = 0,
    earlierRuns: EarlierRuns | undefined = undefined,
    reportCounts: ((counts: PageCounts) => void) | undefined = undefined,
  ) {
    this.#given = earlierRuns
    this.#reportCounts = reportCounts
    this.#tally = tally
    this.#quotas = quotas
    this.#siteOf = siteOf
    this.#shard = shard
    this.#crawl = state.space('crawl')
    this.#hostPages = state.space('host-pages')
    this.#sitePages = state.space('site-pages')
    this.#failures = state.space('failures')
    // `reportCounts` is given only if the store dies with the shard; then there is no later run to retry them.
    this.#failedUrls = reportCounts === undefined ? new FailedUrls(state) : undefined
  }

  /** The number of settled pages. */
  get pages(): number {
    return this.#settledPages
  }

  get earlierRuns(): number {
    return this.#given?.runs ?? this.#earlier?.runs ?? 0
  }

  /** Whether the last run completed the crawl. */
  get wasDone(): boolean {
    return this.#given?.wasDone ?? (this.#earlier !== undefined && isDone(this.#earlier))
  }

  /** Restores the counts of earlier runs. */
  async open(now: number): Promise<void> {
    const tally = this.#tally
    if (this.#given === undefined) {
      const { sum, others } = await earlierRecords(this.#crawl)
      this.#earlier = sum
      this.#absorbed = others
    } else this.#earlier = asRecord(await this.#crawl.get(recordName(this.#shard)))
    this.#startedAt = this.#earlier?.startedAt ?? now
    if (this.#earlier !== undefined) tally.restore(this.#earlier)
    this.#settledPages = tally.pages
    this.#keptFailures = tally.failed
    await this.#restoreCounts()
    const { hosts, sites } = this.#given?.counted ?? NONE_COUNTED
    for (const [host, pages] of hosts) this.#quotas.host.restore(host, pages)
    for (const [site, pages] of sites) this.#quotas.site.restore(site, pages)
  }

  /** Restores the pages of hosts and sites, where they are limited: those of all partitions that the store has. */
  async #restoreCounts(): Promise<void> {
    for (const [quota, space] of this.#counts) {
      if (!quota.isLimited) continue
      for await (const [name, pages] of space.entries()) quota.restore(name, Number(pages))
    }
  }

  /** The same for partitions that have come from another process. */
  adoptCounts(partitions: readonly number[]): void {
    for (const [quota, space] of this.#counts) {
      if (!quota.isLimited) continue
      for (const [name, pages] of space.ofPartitions?.(partitions) ?? []) quota.restore(name, Number(pages))
    }
  }

  get #counts() {
    return [
      [this.#quotas.host, this.#hostPages],
      [this.#quotas.site, this.#sitePages],
    ] as const
  }

  /** The visit is void: another process has taken its host over. */
  forget(request: CrawlRequest): void {
    this.#unsettled.delete(request)
  }

  /** Must be called in the same turn as the frontier's `settle`, so that both are in one commit. */
  settled(visits: readonly VisitResult[]): void {
    const { host: hostQuota, site: siteQuota } = this.#quotas
    const isLimited = hostQuota.isLimited || siteQuota.isLimited
    const counted =
      this.#reportCounts && isLimited ? { hosts: [] as PageCount[], sites: [] as PageCount[] } : undefined
    for (const visit of visits) {
      const events = this.#unsettled.size > 0 ? this.#settleEvents(visit) : undefined
      const { delivered, countsAgainstQuota: takesPlace, request } = visit
      if (delivered !== true) continue
      if (events?.some(isExtractionFailure) !== true) this.#settledPages++
      if (takesPlace !== true) continue
      const { host } = request
      if (hostQuota.limits(host)) {
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
    if (counted !== undefined && counted.hosts.length + counted.sites.length > 0) this.#reportCounts!(counted)
  }

  /** Notes an event until its visit is settled. Without a request, it belongs to no visit and counts at once. */
  note(event: VisitEvent, request: CrawlRequest | undefined): void {
    if (request === undefined) this.#store(event)
    else this.#unsettled.set(request, [...(this.#unsettled.get(request) ?? []), event])
  }

  /** Retries what earlier runs gave up: all of it, or what has come with some partitions from another process. */
  retryFailed(
    sink: Omit<RetrySink, 'uncount'>,
    partitions?: readonly number[],
  ): MaybePromise<void> | undefined {
    const takenBack = (code: FailureCode, host: string) => {
      this.#tally.uncountFailure(code)
      if (isExtractionFailureCode(code)) this.#uncountPage(host)
    }
    const whole = { ...sink, uncount: takenBack }
    if (partitions === undefined) return this.#failedUrls?.retry(this.#run, whole)
    return this.#failedUrls?.retryIn(partitions, this.#run, whole)
  }

  /** A page whose extraction failed counted against the limits of its host and site. */
  #uncountPage(host: string): void {
    const { host: hostQuota, site: siteQuota } = this.#quotas
    if (hostQuota.limits(host)) this.#hostPages.put(host, hostQuota.uncount(host), host)
    if (!siteQuota.isLimited) return
    const site = this.#siteOf(host)
    this.#sitePages.put(site, siteQuota.uncount(site), host)
  }

  get #run(): number {
    return this.earlierRuns + 1
  }

  #settleEvents({ request, again, record }: VisitResult): readonly VisitEvent[] | undefined {
    const events = this.#unsettled.get(request)
    this.#unsettled.delete(request)
    for (const event of events ?? []) {
      this.#store(event)
      // A page with a next visit is not given up.
      if (event.kind !== 'failure' || again !== undefined || record !== undefined) continue
      if (request.purpose === undefined) this.#failedUrls?.put(request, event.failure.code, this.#run)
    }
    return events
  }

  #store(event: VisitEvent): void {
    if (event.kind !== 'failure') return
    const { url, code, message, status, attempt } = event.failure
    const { at } = event
    const place = ++this.#keptFailures % MAX_FAILURES
    this.#failures.put(this.#shard === 0 ? String(place) : `${this.#shard} ${place}`, {
      url,
      code,
      message,
      status,
      attempt,
      at,
    })
  }

  /** Adds the counts to the next commit. */
  write(ended?: EndReason): void {
    const record: CrawlRecord = {
      ...withoutEvents(this.#tally.record(), [...this.#unsettled.values()].flat()),
      pages: this.#settledPages,
      runs: this.#run,
      startedAt: this.#startedAt,
      ended,
    }
    this.#crawl.put(recordName(this.#shard), record)
    for (const name of this.#absorbed) this.#crawl.delete(name)
    this.#absorbed = []
  }
}

/** The key of a shard's record. */
export function recordName(shard: number): string {
  return shard === 0 ? 'tally' : `tally ${shard}`
}

/** The sum of the records of all shards of the last run, and the keys of all records but the first. */
export async function earlierRecords(
  crawl: StateSpace,
): Promise<{ sum: CrawlRecord | undefined; others: string[] }> {
  const records: CrawlRecord[] = []
  const others: string[] = []
  for await (const [name, record] of crawl.entries()) {
    if (!name.startsWith(recordName(0))) continue
    records.push(asRecord(record)!)
    if (name !== recordName(0)) others.push(name)
  }
  return { sum: records.length === 0 ? undefined : records.reduce(add), others }
}

/** Crawls stored by early versions have no count of requests. */
function asRecord(value: unknown): CrawlRecord | undefined {
  const record = value as CrawlRecord | undefined
  return record && { ...record, requests: record.requests ?? 0 }
}

export function isDone({ ended }: CrawlRecord): boolean {
  return ended === 'done' || ended === 'already-done'
}

function add(a: CrawlRecord, b: CrawlRecord): CrawlRecord {
  return {
    ...addCounts(a, b),
    runs: Math.max(a.runs, b.runs),
    startedAt: Math.min(a.startedAt, b.startedAt),
    ended: isDone(a) ? b.ended : a.ended,
  }
}
