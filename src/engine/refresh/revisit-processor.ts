import type { FetchTiming, Page } from '../../extract/contract.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import type { Settlement } from '../../frontier/contract.js'
import type { Miss, NextVisit } from '../../refresh/contract.js'
import type { CrawlRequest } from '../../types.js'
import { UNDELIVERED } from '../delivery.js'
import type { EngineParts } from '../parts.js'
import type { Tally } from '../stats/tally.js'
import { NO_PAGE, type PageProcessor, type ProcessedPage } from '../visit/page-processor.js'
import type { Verdict } from '../visit/verdict.js'
import { repeated, type VisitResult } from '../visit/visit-result.js'
import type { KnownPages, RevisitLookup } from './known-pages.js'

/** The server says that a page is as it was when it was last read. */
export const NOT_MODIFIED = 304

/** The settlement of a visit that reached its host. */
type SettleReached = (
  request: CrawlRequest,
  startedAt: number,
  endedAt: number,
  came?: ProcessedPage,
) => VisitResult

/** What is done with pages that are, or become, known: compared with what they were, delivered if need be, kept. */
export class RevisitProcessor {
  readonly #parts: EngineParts
  readonly #knownPages: KnownPages
  readonly #processor: PageProcessor
  readonly #tally: Tally
  readonly #settleReached: SettleReached

  constructor(
    parts: EngineParts,
    knownPages: KnownPages,
    handling: PageProcessor,
    tally: Tally,
    went: SettleReached,
  ) {
    this.#parts = parts
    this.#knownPages = knownPages
    this.#processor = handling
    this.#tally = tally
    this.#settleReached = went
  }

  /** A page came, or word that it has not changed: what became of it since the last visit decides what is done with it. */
  async compare(
    request: CrawlRequest,
    look: RevisitLookup | undefined,
    response: FetchedResponse,
    timing: FetchTiming,
  ): Promise<VisitResult> {
    const knownPages = this.#knownPages
    const startedAt = timing.fetchedAt - timing.fetchMs
    const went = this.#settleReached(request, startedAt, timing.fetchedAt)
    const seen = this.#observe(request, look, response, timing, went.hostDelayMs)
    // What cannot be read is reported where pages are read.
    if (seen === undefined)
      return this.#settle(request, went, await this.#processor.process(request, response, timing))
    const { page, planned } = seen
    const { change } = planned
    const isRead =
      change !== 'unchanged' || (knownPages.schedule.rules.unchanged && response.status !== NOT_MODIFIED)
    if (!isRead) {
      const told = knownPages.schedule.rules.unchanged
        ? await this.#processor.deliver(request, page)
        : NO_PAGE
      if (told !== UNDELIVERED) this.#tally.change('unchanged')
      knownPages.recordHeld(request, timing)
      return this.#settle(request, { ...went, ...knownPages.nextRevisit(planned) }, told)
    }
    const handled = await this.#processor.process(request, response, timing, page)
    if (handled !== UNDELIVERED) this.#tally.change(change!)
    knownPages.recordHeld(request, timing)
    return this.#settle(request, { ...went, ...knownPages.nextRevisit(planned) }, handled)
  }

  #settle(
    request: CrawlRequest,
    visited: VisitResult,
    handled: ProcessedPage | typeof UNDELIVERED,
  ): VisitResult {
    return handled === UNDELIVERED ? repeated(request, visited.visitedAt!) : { ...visited, ...handled }
  }

  /** The page, and what follows from what it looks like. A fetcher of the user's own may bring what nobody can read. */
  #observe(
    request: CrawlRequest,
    look: RevisitLookup | undefined,
    response: FetchedResponse,
    timing: FetchTiming,
    delayMs: number | undefined,
  ): { readonly page: Page; readonly planned: NextVisit } | undefined {
    const { extraction } = this.#parts
    try {
      const page = extraction.pageOf(request, response, timing)
      const read = response.status === NOT_MODIFIED ? undefined : page
      const planned = this.#knownPages.observed(request, look, response, timing, read, delayMs)
      extraction.setChange(page, planned.change!)
      return { page, planned }
    } catch {
      return undefined
    }
  }

  /** A page was asked for the first time and given up: from now on it is one that is asked for again, rarely. */
  failed(
    request: CrawlRequest,
    settled: Settlement,
    verdict?: Exclude<Verdict, { kind: 'page' }>,
  ): VisitResult {
    const miss = verdict === undefined ? 'failed' : missOf(verdict)
    return { ...settled, ...this.#knownPages.nextRevisit(this.#knownPages.failed(request, miss)) }
  }

  /** A known page was not there. */
  async missed(
    request: CrawlRequest,
    look: RevisitLookup | undefined,
    settled: Settlement,
    outcome: Outcome,
    timing: FetchTiming,
    verdict: Exclude<Verdict, { kind: 'page' }>,
  ): Promise<VisitResult> {
    const knownPages = this.#knownPages
    const planned = await knownPages.missed(request, look, missOf(verdict))
    if (planned === undefined) return settled
    if (planned.change === 'gone') {
      const told = await this.#deliverGone(request, outcome.ok ? outcome : NO_ANSWER, timing)
      if (told === UNDELIVERED) return repeated(request, timing.fetchedAt)
      return { ...settled, delivered: true, ...knownPages.nextRevisit(planned) }
    }
    return { ...settled, ...knownPages.nextRevisit(planned) }
  }

  /** Its host is down: it is missed, and nobody looks at the host again before `at`. */
  async hostDown(request: CrawlRequest, at: number): Promise<VisitResult> {
    const settled = { request, visitedAt: undefined, hostNotBefore: at }
    const planned = await this.#knownPages.missed(request, undefined, 'failed')
    if (planned === undefined) return settled
    if (planned.change === 'gone') {
      const told = await this.#deliverGone(request, NO_ANSWER, {
        fetchedAt: this.#parts.clock.now(),
        fetchMs: 0,
      })
      if (told === UNDELIVERED) return { ...settled, again: { at, attempt: request.attempt } }
      return { ...settled, delivered: true, ...this.#knownPages.nextRevisit(planned) }
    }
    return { ...settled, ...this.#knownPages.nextRevisit(planned) }
  }

  async #deliverGone(
    request: CrawlRequest,
    response: FetchedResponse,
    timing: FetchTiming,
  ): Promise<ProcessedPage | typeof UNDELIVERED> {
    const { extraction } = this.#parts
    const page = extraction.pageOf(request, response, timing)
    extraction.setChange(page, 'gone')
    const told = await this.#processor.deliver(request, page)
    if (told !== UNDELIVERED) this.#tally.change('gone')
    return told
  }

  /** A known page stays known, also if nobody could look at it this time. */
  async keepKnown(request: CrawlRequest, visiting: Promise<VisitResult>): Promise<VisitResult> {
    const visited = await visiting
    if (visited.again !== undefined || visited.record !== undefined) return visited
    const planned = await this.#knownPages.missed(request, undefined, 'put-off')
    return planned === undefined ? visited : { ...visited, ...this.#knownPages.nextRevisit(planned) }
  }
}

/** What a visit that brought no page says about a known one. One that leads elsewhere is not there any more. */
function missOf(verdict: Exclude<Verdict, { kind: 'page' }>): Miss {
  // Also if it has become a film: there is no page any more.
  if (verdict.kind !== 'failure') return 'not-found'
  if (verdict.status === 410) return 'gone'
  return verdict.status === 404 ? 'not-found' : 'failed'
}

/** For a page that is gone because nobody answers. */
const NO_ANSWER: FetchedResponse = {
  ok: true,
  status: 0,
  headers: { get: () => undefined, entries: () => [] },
  body: new Uint8Array(0),
  wireBytes: 0,
  skippedBody: false,
}
