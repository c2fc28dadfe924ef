import type { FetchTiming, Page } from '../../extract/contract.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import type { Settlement } from '../../frontier/contract.js'
import type { Miss, NextVisit } from '../../refresh/contract.js'
import type { CrawlRequest } from '../../types.js'
import { isSafe } from '../../url/methods.js'
import { UNDELIVERED } from '../hooks/delivered.js'
import type { EngineParts } from '../parts.js'
import type { Tally } from '../stats/tally.js'
import { NO_PAGE, type PageProcessor, type ProcessedPage } from '../visit/page-processor.js'
import type { Verdict } from '../visit/verdict.js'
import { repeated, type VisitResult } from '../visit/visit-result.js'
import type { KnownPages, RevisitLookup } from './known-pages.js'

/** Status 304: the page has not changed since the last visit. */
export const NOT_MODIFIED = 304

/** Creates the settlement of a visit that reached its host. */
type SettleReached = (
  request: CrawlRequest,
  startedAt: number,
  endedAt: number,
  processed?: ProcessedPage,
) => VisitResult

/** Processes visits with `refresh()`: compares pages with their last version, delivers them, and schedules revisits. */
export class RevisitProcessor {
  readonly #parts: EngineParts
  readonly #knownPages: KnownPages
  readonly #processor: PageProcessor
  readonly #tally: Tally
  readonly #settleReached: SettleReached

  constructor(
    parts: EngineParts,
    knownPages: KnownPages,
    processor: PageProcessor,
    tally: Tally,
    settleReached: SettleReached,
  ) {
    this.#parts = parts
    this.#knownPages = knownPages
    this.#processor = processor
    this.#tally = tally
    this.#settleReached = settleReached
  }

  /**
   * The visit got the page, or a 304. How the page has changed decides whether it is extracted and delivered. `made` is
   * the page if it was made before, for a scope that depends on pages.
   */
  async compare(
    request: CrawlRequest,
    lookup: RevisitLookup | undefined,
    response: FetchedResponse,
    timing: FetchTiming,
    made?: Page,
  ): Promise<VisitResult> {
    const knownPages = this.#knownPages
    const startedAt = timing.fetchedAt - timing.fetchMs
    const reached = this.#settleReached(request, startedAt, timing.fetchedAt)
    // A request that may change something on the server is sent once.
    if (!isSafe(request.extras?.method))
      return this.#settle(request, reached, await this.#processor.process(request, response, timing, made))
    const seen = this.#observe(request, lookup, response, timing, reached.hostDelayMs, made)
    // `process` fails in the same way and reports it.
    if (seen === undefined)
      return this.#settle(request, reached, await this.#processor.process(request, response, timing))
    const { page, next } = seen
    const { change } = next
    const { unchanged, complete } = knownPages.schedule.rules
    const isRead = change !== 'unchanged' || ((unchanged || complete) && response.status !== NOT_MODIFIED)
    if (!isRead) {
      const delivered = unchanged ? await this.#processor.deliver(request, page, timing) : NO_PAGE
      if (delivered !== UNDELIVERED) this.#tally.change('unchanged')
      knownPages.recordHeld(request, timing, releaseOf(delivered))
      return this.#settle(request, { ...reached, ...knownPages.nextRevisit(next) }, delivered)
    }
    const processed = await this.#processor.process(request, response, timing, page)
    if (processed !== UNDELIVERED) this.#tally.change(change!)
    knownPages.recordHeld(request, timing, releaseOf(processed))
    return this.#settle(request, { ...reached, ...knownPages.nextRevisit(next) }, processed)
  }

  #settle(
    request: CrawlRequest,
    visited: VisitResult,
    processed: ProcessedPage | typeof UNDELIVERED,
  ): VisitResult {
    if (processed === UNDELIVERED) return repeated(request, visited.visitedAt!)
    const { delivered, found, documents } = processed
    return { ...visited, delivered, found, documents }
  }

  /** The page and its next visit. Undefined if the response is invalid, e.g. from a custom fetcher. */
  #observe(
    request: CrawlRequest,
    lookup: RevisitLookup | undefined,
    response: FetchedResponse,
    timing: FetchTiming,
    delayMs: number | undefined,
    made: Page | undefined,
  ): { readonly page: Page; readonly next: NextVisit } | undefined {
    const { extraction } = this.#parts
    try {
      const page = made ?? extraction.pageOf(request, response, timing)
      const read = response.status === NOT_MODIFIED ? undefined : page
      const next = this.#knownPages.observed(request, lookup, response, timing, read, delayMs)
      const { complete } = this.#knownPages.schedule.rules
      // Whoever keeps what has changed must keep it again.
      extraction.setChange(page, complete && read && next.change === 'unchanged' ? 'changed' : next.change!)
      return { page, next }
    } catch {
      return undefined
    }
  }

  /** The first visit to a page failed for good: it is retried from time to time. */
  failed(
    request: CrawlRequest,
    settled: Settlement,
    verdict?: Exclude<Verdict, { kind: 'page' }>,
  ): VisitResult {
    if (!isSafe(request.extras?.method)) return settled
    const miss = verdict === undefined ? 'failed' : missOf(verdict)
    return { ...settled, ...this.#knownPages.nextRevisit(this.#knownPages.failed(request, miss)) }
  }

  /** A revisit did not get the page. */
  async missed(
    request: CrawlRequest,
    lookup: RevisitLookup | undefined,
    settled: Settlement,
    outcome: Outcome,
    timing: FetchTiming,
    verdict: Exclude<Verdict, { kind: 'page' }>,
  ): Promise<VisitResult> {
    const knownPages = this.#knownPages
    const next = await knownPages.missed(request, lookup, missOf(verdict))
    if (next === undefined) return settled
    if (next.change === 'gone') {
      const delivered = await this.#deliverGone(request, outcome.ok ? outcome : NO_ANSWER, timing)
      if (delivered === UNDELIVERED) return repeated(request, timing.fetchedAt)
      return { ...withPage(settled, delivered), ...knownPages.nextRevisit(next) }
    }
    return { ...settled, ...knownPages.nextRevisit(next) }
  }

  /** The host is down: the page counts as missed, and the host is not tried before `at`. */
  async hostDown(request: CrawlRequest, at: number): Promise<VisitResult> {
    const settled = { request, visitedAt: undefined, hostNotBefore: at }
    const next = await this.#knownPages.missed(request, undefined, 'failed')
    if (next === undefined) return settled
    if (next.change === 'gone') {
      const delivered = await this.#deliverGone(request, NO_ANSWER, {
        fetchedAt: this.#parts.clock.now(),
        fetchMs: 0,
      })
      if (delivered === UNDELIVERED) return { ...settled, again: { at, attempt: request.attempt } }
      return { ...withPage(settled, delivered), ...this.#knownPages.nextRevisit(next) }
    }
    return { ...settled, ...this.#knownPages.nextRevisit(next) }
  }

  async #deliverGone(
    request: CrawlRequest,
    response: FetchedResponse,
    timing: FetchTiming,
  ): Promise<ProcessedPage | typeof UNDELIVERED> {
    const { extraction } = this.#parts
    const page = extraction.pageOf(request, response, timing)
    extraction.setChange(page, 'gone')
    const delivered = await this.#processor.deliver(request, page)
    if (delivered !== UNDELIVERED) this.#tally.change('gone')
    return delivered
  }

  /** Keeps the record of a known page even if this visit sent no request. */
  async keepKnown(request: CrawlRequest, visiting: Promise<VisitResult>): Promise<VisitResult> {
    const visited = await visiting
    if (visited.again !== undefined || visited.record !== undefined) return visited
    const next = await this.#knownPages.missed(request, undefined, 'put-off')
    return next === undefined ? visited : { ...visited, ...this.#knownPages.nextRevisit(next) }
  }
}

/** The settlement of a page that was delivered as gone, with what its listeners asked for. */
function withPage(settled: Settlement, { found }: ProcessedPage): VisitResult {
  if (found === undefined) return { ...settled, delivered: true }
  return { ...settled, delivered: true, found: [...(settled.found ?? []), ...found] }
}

/** When the page left its slot, if it has not just done so. */
function releaseOf(processed: ProcessedPage | typeof UNDELIVERED): number | undefined {
  return processed === UNDELIVERED ? undefined : processed.releasedAt
}

/** What a visit without a page says about a known one. A page that redirects does not exist any more. */
function missOf(verdict: Exclude<Verdict, { kind: 'page' }>): Miss {
  // Also if its media type is not a page's any more.
  if (verdict.kind !== 'failure') return 'not-found'
  if (verdict.status === 410) return 'gone'
  return verdict.status === 404 ? 'not-found' : 'failed'
}

/** For a page that is gone because its host does not respond. */
const NO_ANSWER: FetchedResponse = {
  ok: true,
  status: 0,
  headers: { get: () => undefined, entries: () => [] },
  body: new Uint8Array(0),
  wireBytes: 0,
  skippedBody: false,
}
