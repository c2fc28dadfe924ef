import { messageOf } from '../../errors.js'
import type { Extracted, ExtractionProblem, FetchTiming, Page } from '../../extract/contract.js'
import type { FetchedResponse } from '../../fetch/contract.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import type { RequestSpec } from '../../url/request-options.js'
import type { Admission } from '../admission/admission.js'
import { type DeliveryProblem, UNDELIVERED } from '../delivery.js'
import type { EngineParts, EngineRules } from '../parts.js'
import type { Meters } from '../stats/meters.js'
import type { Reporter } from '../stats/reporter.js'
import type { Tally } from '../stats/tally.js'

/** The result of processing a page. */
export interface ProcessedPage {
  /** The page counts against limits: it was delivered, or its extraction failed, which must not make a crawl endless. */
  readonly delivered: boolean
  /** New requests, which the settlement of the visit adds to the frontier. */
  readonly found: readonly CrawlRequest[] | undefined
}

export const NO_PAGE: ProcessedPage = { delivered: false, found: undefined }
const DELIVERED: ProcessedPage = { delivered: true, found: undefined }

/** Processes a fetched page: extract → hooks → admit. */
export class PageProcessor {
  readonly #parts: EngineParts
  readonly #rules: Pick<EngineRules, 'nofollow'>
  readonly #admission: Admission
  readonly #meters: Meters
  readonly #tally: Tally
  readonly #reports: Reporter

  constructor(
    parts: EngineParts,
    rules: Pick<EngineRules, 'nofollow'>,
    admission: Admission,
    meters: Meters,
    tally: Tally,
    reports: Reporter,
  ) {
    this.#parts = parts
    this.#rules = rules
    this.#admission = admission
    this.#meters = meters
    this.#tally = tally
    this.#reports = reports
  }

  /** Extracts the page, delivers it and admits its links. */
  process(
    request: CrawlRequest,
    response: FetchedResponse,
    timing: FetchTiming,
    page?: Page,
  ): Promise<ProcessedPage | typeof UNDELIVERED> {
    const { clock, onPageDone: pageOver, inFlight } = this.#parts
    const extractAt = clock.now()
    this.#meters.enter('extract', extractAt)
    inFlight?.enter(request)
    const started = this.#startExtraction(request, response, timing, page)
    inFlight?.leave()
    const processing = this.#finish(request, started, extractAt)
    if (pageOver === undefined || !(started instanceof StartedExtraction)) return processing
    return processing.finally(() => pageOver(started.page))
  }

  /** Delivers a page without extraction: it has not changed, or it is gone. */
  async deliver(request: CrawlRequest, page: Page): Promise<ProcessedPage | typeof UNDELIVERED> {
    const delivering = this.#deliver(request, page, this.#parts.clock.now())
    const delivered = delivering instanceof Promise ? await delivering : delivering
    const followed = this.#settle(page)
    this.#parts.onPageDone?.(page)
    if (delivered === UNDELIVERED) return UNDELIVERED
    if (followed === undefined) return DELIVERED
    return { delivered: true, found: await this.#admission.admitFollowed(followed, request) }
  }

  /** Ends `page.follow()`. */
  #settle(page: Page): readonly RequestSpec[] | undefined {
    const followed = this.#parts.extraction.settle(page)
    return followed === undefined || followed.length === 0 ? undefined : followed
  }

  /** Delivers to hooks, listeners and the reader. Undefined if delivered, even if a hook or listener failed. */
  #deliver(
    request: CrawlRequest,
    page: Page,
    startedAt: number,
  ): MaybePromise<typeof UNDELIVERED | undefined> {
    const { clock, delivery, inFlight } = this.#parts
    this.#meters.enter('hooks', startedAt)
    inFlight?.enter(request)
    const delivering = delivery.deliver(page)
    inFlight?.leave()
    this.#meters.addBusy('hooks', clock.now() - startedAt)
    if (delivering instanceof Promise)
      return delivering.then((problem) => this.#afterDelivery(request, problem))
    return this.#afterDelivery(request, delivering)
  }

  #afterDelivery(
    request: CrawlRequest,
    problem: DeliveryProblem | typeof UNDELIVERED | undefined,
  ): MaybePromise<typeof UNDELIVERED | undefined> {
    const now = this.#parts.clock.now()
    this.#meters.leave('hooks', now)
    if (problem === UNDELIVERED) return UNDELIVERED
    this.#tally.page(now)
    if (problem !== undefined) return this.#reports.failure(request, problem, true).then(() => undefined)
    return undefined
  }

  async #finish(
    request: CrawlRequest,
    started: StartedExtraction | ExtractionProblem,
    extractAt: number,
  ): Promise<ProcessedPage | typeof UNDELIVERED> {
    const { clock } = this.#parts
    if (!(started instanceof StartedExtraction)) {
      this.#meters.leave('extract', clock.now())
      await this.#reports.failure(request, started, true)
      return DELIVERED
    }
    const { page, running } = started
    const busyUntil = clock.now()
    this.#meters.addBusy('extract', busyUntil - extractAt)
    const extracted = running instanceof Promise ? await running : running
    const hooksAt = running instanceof Promise ? clock.now() : busyUntil
    this.#meters.leave('extract', hooksAt)

    if (extracted.problem === undefined) {
      const delivering = this.#deliver(request, page, hooksAt)
      if ((delivering instanceof Promise ? await delivering : delivering) === UNDELIVERED) {
        // It will be delivered again, and then asks for the same.
        this.#settle(page)
        return UNDELIVERED
      }
    } else {
      await this.#reports.failure(request, extracted.problem, true)
    }
    const followed = this.#settle(page)
    if (followed === undefined) return this.#followLinks(request, page, extracted)
    // First, because the first request of a URL wins.
    const asked = await this.#admission.admitFollowed(followed, request)
    const linked = await this.#followLinks(request, page, extracted)
    return { delivered: true, found: [...asked, ...(linked.found ?? [])] }
  }

  #followLinks(request: CrawlRequest, page: Page, extracted: Extracted): MaybePromise<ProcessedPage> {
    const { clock } = this.#parts
    if (this.#rules.nofollow && page.robots.nofollow) {
      if (extracted.links.length > 0) this.#reports.skipped(page.url, 'nofollow', page.parent, request)
      return DELIVERED
    }
    if (this.#parts.sameContent?.(request.host, page) === true) {
      this.#reports.skipped(page.url, 'same-content', page.parent, request)
      return DELIVERED
    }
    const admitAt = clock.now()
    const admitting = this.#admission.admitLinks(extracted, request)
    this.#meters.addBusy('admit', clock.now() - admitAt, extracted.links.length)
    if (admitting instanceof Promise) return admitting.then(withFound)
    return withFound(admitting)
  }

  /** Never throws: if the response cannot become a page, that is reported as a failure of the URL. */
  #startExtraction(
    request: CrawlRequest,
    response: FetchedResponse,
    timing: FetchTiming,
    made: Page | undefined,
  ): StartedExtraction | ExtractionProblem {
    try {
      const page = made ?? this.#parts.extraction.pageOf(request, response, timing)
      return new StartedExtraction(page, this.#parts.extraction.run(page))
    } catch (cause) {
      return { code: 'extract-failed', message: `the page could not be read: ${messageOf(cause)}`, cause }
    }
  }
}

function withFound(found: readonly CrawlRequest[] | undefined): ProcessedPage {
  return { delivered: true, found }
}

/** A page whose extraction has started. A class, not an object literal: see docs/decisions/0008. */
class StartedExtraction {
  constructor(
    readonly page: Page,
    readonly running: MaybePromise<Extracted>,
  ) {}
}
