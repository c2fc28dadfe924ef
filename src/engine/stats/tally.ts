import type { Change, Failure, FailureCode, SkipReason } from '../../types.js'

/** Recent rates are computed from samples at least this far apart… */
const SAMPLE_MS = 500
/** …over about this long. */
const WINDOW_MS = 5000
/** Hosts whose last visit is remembered, for the shortest gap: some 10 MB. */
const MAX_HOSTS = 100_000
/** Placeholder while a host's first visit is in flight: with several connections, a second may start before it ends. */
const FIRST_IN_FLIGHT = -1

/** The counts as plain data, for a store to keep. */
export type TallyRecord = Pick<
  Tally,
  | 'pages'
  | 'requests'
  | 'bytes'
  | 'redirects'
  | 'robots'
  | 'sitemaps'
  | 'retries'
  | 'failed'
  | 'skipped'
  | 'failures'
  | 'skips'
  | 'statuses'
  | 'changes'
>

/** The counts of a crawl so far. */
export class Tally {
  pages = 0
  /** Pages of earlier runs. */
  pagesBefore = 0
  /** Bytes of earlier runs. */
  bytesBefore = 0
  /** For pages, robots.txt and sitemaps, with or without a response. */
  requests = 0
  bytes = 0
  redirects = 0
  robots = 0
  sitemaps = 0
  retries = 0
  failed = 0
  skipped = 0
  hostsVisited = 0
  shortestGapMs: number | undefined = undefined
  readonly failures: Partial<Record<FailureCode, number>> = {}
  readonly skips: Partial<Record<SkipReason, number>> = {}
  readonly statuses: Record<number, number> = {}
  /** With `refresh()`: how pages changed in this run. */
  readonly changes: Partial<Record<Change, number>> = {}
  /** When the last visit to each host ended. Beyond `MAX_HOSTS`, the oldest entry is dropped. */
  readonly #lastVisit = new Map<string, number>()
  #samples: { at: number; pages: number; bytes: number }[] = []

  record(): TallyRecord {
    const { pages, requests, bytes, redirects, robots, sitemaps, retries, failed, skipped } = this
    const { failures, skips, statuses, changes } = this
    return {
      pages,
      requests,
      bytes,
      redirects,
      robots,
      sitemaps,
      retries,
      failed,
      skipped,
      failures,
      skips,
      statuses,
      changes,
    }
  }

  /** Continues from the counts of an earlier run. */
  restore(record: TallyRecord): void {
    const { failures, skips, statuses, ...counts } = record
    this.pages = counts.pages
    this.pagesBefore = counts.pages
    this.requests = counts.requests
    this.bytes = counts.bytes
    this.bytesBefore = counts.bytes
    this.redirects = counts.redirects
    this.robots = counts.robots
    this.sitemaps = counts.sitemaps
    this.retries = counts.retries
    this.failed = counts.failed
    this.skipped = counts.skipped
    Object.assign(this.failures, failures)
    Object.assign(this.skips, skips)
    Object.assign(this.statuses, statuses)
  }

  page(now: number): void {
    this.pages++
    const last = this.#samples.at(-1)
    if (last !== undefined && now - last.at < SAMPLE_MS) return
    this.#samples.push({ at: now, pages: this.pages, bytes: this.bytes })
    while (this.#samples.length > 2 && now - this.#samples[0]!.at > WINDOW_MS) this.#samples.shift()
  }

  failure(code: FailureCode): void {
    this.failed++
    this.failures[code] = (this.failures[code] ?? 0) + 1
  }

  /** A URL that was given up is retried. Another shard may have counted the failure; the sum over all shards is right. */
  uncountFailure(code: FailureCode): void {
    this.failed--
    this.failures[code] = (this.failures[code] ?? 0) - 1
    if (this.failures[code] === 0) delete this.failures[code]
  }

  skip(reason: SkipReason): void {
    this.skipped++
    this.skips[reason] = (this.skips[reason] ?? 0) + 1
  }

  status(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
  }

  change(change: Change): void {
    this.changes[change] = (this.changes[change] ?? 0) + 1
  }

  visitStarts(host: string, now: number): void {
    this.requests++
    const last = this.#lastVisit.get(host)
    if (last === undefined) {
      this.hostsVisited++
      this.#lastVisit.set(host, FIRST_IN_FLIGHT)
    }
    if (last === undefined || last === FIRST_IN_FLIGHT) return
    const gap = now - last
    if (this.shortestGapMs === undefined || gap < this.shortestGapMs) this.shortestGapMs = gap
  }

  /** A counted request could not be sent, because this machine lacks a resource. */
  notSent(): void {
    this.requests--
  }

  /** The fetcher resent a request at once, without a delay, because its connection was lost. */
  resent(times: number): void {
    this.requests += times
    this.shortestGapMs = 0
  }

  visitEnds(host: string, now: number): void {
    this.#lastVisit.set(host, now)
    if (this.#lastVisit.size > MAX_HOSTS) {
      this.#lastVisit.delete(this.#lastVisit.keys().next().value as string)
    }
  }

  /** Forgets hosts that move to another shard. Returns the end of the last visit to each, for `adoptHosts` there. */
  releaseHosts(moves: (host: string) => boolean): [host: string, lastVisit: number][] {
    const released = [...this.#lastVisit].filter(([host]) => moves(host))
    for (const [host] of released) this.#lastVisit.delete(host)
    return released
  }

  /** Hosts that another shard has visited and counted. */
  adoptHosts(visited: readonly (readonly [host: string, lastVisit: number])[]): void {
    for (const [host, lastVisit] of visited) this.visitEnds(host, lastVisit)
  }

  recentBytesPerSecond(now: number): number {
    const first = this.#samples[0]
    if (first === undefined || now - first.at < SAMPLE_MS) return 0
    return ((this.bytes - first.bytes) * 1000) / (now - first.at)
  }

  recentPagesPerSecond(now: number): number {
    const first = this.#samples[0]
    if (first === undefined || now - first.at < SAMPLE_MS) return 0
    return ((this.pages - first.pages) * 1000) / (now - first.at)
  }
}

/** Something that a visit led to instead of a page, as statistics count it. */
export type VisitEvent =
  | { readonly kind: 'failure'; readonly failure: Failure; readonly at: number }
  | { readonly kind: 'retry' }
  | { readonly kind: 'redirect' }

const EXTRACTION_FAILURES: ReadonlySet<FailureCode> = new Set([
  'extract-failed',
  'extract-timeout',
  'invalid-data',
])

/** Whether the page was fetched, but its extraction failed. */
export function isExtractionFailure(event: VisitEvent): boolean {
  return event.kind === 'failure' && isExtractionFailureCode(event.failure.code)
}

/** Whether a page that failed with this code counts against limits. */
export function isExtractionFailureCode(code: FailureCode): boolean {
  return EXTRACTION_FAILURES.has(code)
}

/** Pages as limits count them: see `ProcessedPage.delivered`. Failed pages that will be retried do not count. */
export function pagesForLimits(
  { pages, failures }: Pick<TallyRecord, 'pages' | 'failures'>,
  retryFailed: boolean,
): number {
  if (retryFailed) return pages
  let count = pages
  for (const code of EXTRACTION_FAILURES) count += failures[code] ?? 0
  return count
}

/** The counts without these events. */
export function withoutEvents(record: TallyRecord, events: readonly VisitEvent[]): TallyRecord {
  if (events.length === 0) return record
  const failures = { ...record.failures }
  let { failed, retries, redirects } = record
  for (const event of events) {
    if (event.kind === 'retry') retries--
    else if (event.kind === 'redirect') redirects--
    else {
      failed--
      failures[event.failure.code] = (failures[event.failure.code] ?? 0) - 1
      if (failures[event.failure.code] === 0) delete failures[event.failure.code]
    }
  }
  return { ...record, failed, retries, redirects, failures }
}

/** The sum of the counts of two shards. */
export function addCounts(a: TallyRecord, b: TallyRecord): TallyRecord {
  return {
    pages: a.pages + b.pages,
    requests: a.requests + b.requests,
    bytes: a.bytes + b.bytes,
    redirects: a.redirects + b.redirects,
    robots: a.robots + b.robots,
    sitemaps: a.sitemaps + b.sitemaps,
    retries: a.retries + b.retries,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: addEach(a.failures, b.failures),
    skips: addEach(a.skips, b.skips),
    statuses: addEach(a.statuses, b.statuses),
    changes: addEach(a.changes ?? {}, b.changes ?? {}),
  }
}

function addEach<T extends Readonly<Record<PropertyKey, number | undefined>>>(a: T, b: T): T {
  const sum: Record<PropertyKey, number | undefined> = { ...a }
  for (const [name, count] of Object.entries(b)) {
    sum[name] = (sum[name] ?? 0) + (count ?? 0)
    if (sum[name] === 0) delete sum[name]
  }
  return sum as T
}
