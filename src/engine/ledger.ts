import type { StateSpace, StateStore } from '../stores/contract.js'
import type { Failure } from '../types.js'
import type { HostQuota } from './host-quota.js'
import type { EndReason } from './stats.js'
import type { Tally, TallyRecord } from './tally.js'
import type { Visited } from './visits.js'

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

export interface LedgerParts {
  readonly state: StateStore
  readonly tally: Tally
  readonly hostQuota: HostQuota
  readonly siteQuota: HostQuota
  siteOf(host: string): string
}

/**
 * What the engine itself must know across runs: its counts, so that limits go on, and how the crawl ended. It lives in
 * the store's state under names of the crawl's own. Pages count from their settlement on: a page whose settlement a
 * crash takes away is delivered again, and must not count twice.
 */
export class Ledger {
  readonly #parts: LedgerParts
  readonly #crawl: StateSpace
  readonly #hostPages: StateSpace
  readonly #sitePages: StateSpace
  readonly #failures: StateSpace
  #settledPages = 0
  #earlier: CrawlRecord | undefined = undefined
  #startedAt = 0

  constructor(parts: LedgerParts) {
    this.#parts = parts
    this.#crawl = parts.state.space('crawl')
    this.#hostPages = parts.state.space('host-pages')
    this.#sitePages = parts.state.space('site-pages')
    this.#failures = parts.state.space('failures')
  }

  get earlierRuns(): number {
    return this.#earlier?.runs ?? 0
  }

  /** Whether the last run left nothing to do. */
  get wasDone(): boolean {
    return this.#earlier?.ended === 'done' || this.#earlier?.ended === 'already-done'
  }

  /** Takes up the counts of earlier runs. */
  async open(now: number): Promise<void> {
    const { tally, hostQuota, siteQuota } = this.#parts
    this.#earlier = (await this.#crawl.get('tally')) as CrawlRecord | undefined
    this.#startedAt = this.#earlier?.startedAt ?? now
    if (this.#earlier !== undefined) tally.restore(this.#earlier)
    this.#settledPages = tally.pages
    for (const [quota, space] of [
      [hostQuota, this.#hostPages],
      [siteQuota, this.#sitePages],
    ] as const) {
      if (!quota.isLimited) continue
      for await (const [name, pages] of space.entries()) quota.restore(name, Number(pages))
    }
  }

  /** To be called in the same turn as the frontier's `settle`, so that both are of one commit. */
  settled(visits: readonly Visited[]): void {
    const { hostQuota, siteQuota } = this.#parts
    for (const { delivered, request } of visits) {
      if (delivered !== true) continue
      this.#settledPages++
      const { host } = request
      if (hostQuota.isLimited) this.#hostPages.put(host, hostQuota.settle(host), host)
      if (!siteQuota.isLimited) continue
      const site = this.#parts.siteOf(host)
      this.#sitePages.put(site, siteQuota.settle(site))
    }
  }

  failed({ url, code, message, status, attempt }: Failure, at: number): void {
    const place = this.#parts.tally.failed % FAILURES_KEPT
    this.#failures.put(String(place), { url, code, message, status, attempt, at })
  }

  /** Puts the counts where the next commit takes them. */
  write(ended?: EndReason): void {
    const { tally } = this.#parts
    const record: CrawlRecord = {
      ...tally.record(),
      pages: this.#settledPages,
      runs: this.earlierRuns + 1,
      startedAt: this.#startedAt,
      ended,
    }
    this.#crawl.put('tally', record)
  }
}
