import { messageOf } from '../../errors.js'
import type { Extracted, ExtractionProblem, FetchTiming, Page } from '../../extract/contract.js'
import type { FetchedResponse } from '../../fetch/contract.js'
import type { SharedDocument } from '../../frontier/contract.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import type { RequestSpec } from '../../url/request-options.js'
import type { Admission } from '../admission/admission.js'
import {
  type Delivered,
  type DeliveryProblem,
  LeftToOthers,
  type QueueAnswer,
  UNDELIVERED,
} from '../hooks/delivered.js'
import type { EngineParts, EngineRules } from '../parts.js'
import type { Meters } from '../stats/meters.js'
import { type Reporter, unvisited } from '../stats/reporter.js'
import type { Tally } from '../stats/tally.js'

/** The result of processing a page. */
export interface ProcessedPage {
  /** The page counts against limits: it was delivered, or its extraction failed, which must not make a crawl endless. */
  readonly delivered: boolean
  /** New requests, which the settlement of the visit adds to the frontier. */
  readonly found: readonly CrawlRequest[] | undefined
  /** When the page left its slot, if that was before the end of its processing. */
  readonly releasedAt?: number | undefined
  /** What hooks of other processes get with the settlement. */
  readonly documents?: readonly SharedDocument[] | undefined
}

const IS_HTML = /html/

/**
 * Ends the visit of a page that waits for hooks: its slot is free, and its host if the frontier can hold the request.
 * Returns whether the frontier takes over what was found; if not, the settlement must.
 */
export type ReleaseVisit = (
  request: CrawlRequest,
  timing: FetchTiming,
  found: readonly CrawlRequest[] | undefined,
) => boolean

export const NO_PAGE: ProcessedPage = { delivered: false, found: undefined }
const DELIVERED: ProcessedPage = { delivered: true, found: undefined }

/** Processes a fetched page: extract → hooks → admit → hooks with a queue. */
export class PageProcessor {
  readonly #parts: EngineParts
  readonly #rules: Pick<EngineRules, 'nofollow'>
  readonly #admission: Admission
  readonly #meters: Meters
  readonly #tally: Tally
  readonly #reports: Reporter
  readonly #release: ReleaseVisit

  constructor(
    parts: EngineParts,
    rules: Pick<EngineRules, 'nofollow'>,
    admission: Admission,
    meters: Meters,
    tally: Tally,
    reports: Reporter,
    release: ReleaseVisit,
  ) {
    this.#release = release
    this.#parts = parts
    this.#rules = rules
    this.#admission = admission
    this.#meters = meters
    this.#tally = tally
    this.#reports = reports
    // Its host is another process's, so nothing about it is recorded here.
    parts.delivery.offload?.onProblem((page, problem) =>
      reports.failed(unvisited({ url: page.url, ...problem }, page)),
    )
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
    const processing = this.#finish(request, started, timing, extractAt)
    if (pageOver === undefined || !(started instanceof StartedExtraction)) return processing
    return processing.finally(() => pageOver(started.page))
  }

  /**
   * Delivers a page without extraction: it has not changed, or it is gone. Without `timing`, its visit was not an ordinary
   * one, and it keeps its slot until all hooks are done.
   */
  async deliver(
    request: CrawlRequest,
    page: Page,
    timing?: FetchTiming,
  ): Promise<ProcessedPage | typeof UNDELIVERED> {
    const delivering = this.#deliver(request, page, this.#parts.clock.now())
    const delivered = delivering instanceof Promise ? await delivering : delivering
    if (delivered !== UNDELIVERED && this.#parts.delivery.queued.length > 0) {
      const queued = this.#queue(request, page, timing, () => DELIVERED)
      return queued.finally(() => this.#parts.onPageDone?.(page))
    }
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

  #afterDelivery(request: CrawlRequest, problem: Delivered): MaybePromise<typeof UNDELIVERED | undefined> {
    const now = this.#parts.clock.now()
    this.#meters.leave('hooks', now)
    if (problem === UNDELIVERED) return UNDELIVERED
    // A page with queues counts when the last hook is done.
    if (this.#parts.delivery.queued.length === 0) this.#tally.page(now)
    if (problem !== undefined) return this.#reports.failure(request, problem, true).then(() => undefined)
    return undefined
  }

  async #finish(
    request: CrawlRequest,
    started: StartedExtraction | ExtractionProblem,
    timing: FetchTiming,
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
      if (this.#parts.delivery.queued.length > 0)
        return this.#queue(request, page, timing, () => this.#followLinks(request, page, extracted))
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

  /**
   * Puts the page into the queues of hooks, waiting in its slot while one is full; follows its links and releases the
   * visit; then waits for the hooks. What they follow is found by the settlement.
   */
  async #queue(
    request: CrawlRequest,
    page: Page,
    timing: FetchTiming | undefined,
    followLinks: () => MaybePromise<ProcessedPage>,
  ): Promise<ProcessedPage | typeof UNDELIVERED> {
    const { clock, delivery, extraction } = this.#parts
    const processing: Promise<QueueAnswer>[] = []
    for (const { name, queue, call } of delivery.queued) {
      const entering = queue.enter({
        bytes: page.body.byteLength,
        process: () => this.#callQueued(request, page, call),
        leave: delivery.offload?.leaving(name, page),
      })
      processing.push((entering instanceof Promise ? await entering : entering).done)
    }
    const followed = extraction.takeFollowed(page)
    // First, because the first request of a URL wins.
    const asked = followed.length > 0 ? await this.#admission.admitFollowed(followed, request) : []
    const linked = await followLinks()
    const found = asked.length === 0 ? linked.found : [...asked, ...(linked.found ?? [])]
    const isTaken = timing !== undefined && this.#release(request, timing, found)
    const releasedAt = timing === undefined ? undefined : clock.now()
    const answers = await Promise.all(processing)
    const late = this.#settle(page)
    const left = answers.filter((answer) => answer instanceof LeftToOthers)
    if (answers.includes(UNDELIVERED)) {
      for (const each of left) delivery.offload!.drop(each)
      return UNDELIVERED
    }
    this.#tally.page(clock.now())
    const isProblem = (answer: QueueAnswer) => answer !== undefined && !(answer instanceof LeftToOthers)
    const problem = answers.find(isProblem) as DeliveryProblem | undefined
    if (problem !== undefined) await this.#reports.failure(request, problem, true)
    const more = late === undefined ? [] : await this.#admission.admitFollowed(late, request)
    const all = isTaken ? more : [...(found ?? []), ...more]
    const documents = left.length > 0 ? left.map(({ document }) => document) : undefined
    return { delivered: true, found: all, releasedAt, documents }
  }

  #callQueued(
    request: CrawlRequest,
    page: Page,
    call: (page: Page) => MaybePromise<Delivered>,
  ): MaybePromise<Delivered> {
    const { inFlight } = this.#parts
    inFlight?.enter(request)
    const answer = call(page)
    inFlight?.leave()
    return answer
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
    if (this.#admission.feeds !== undefined) return this.#withFeeds(request, page, admitting)
    if (admitting instanceof Promise) return admitting.then(withFound)
    return withFound(admitting)
  }

  /** Adds the feeds that the page names, if they are to be followed. */
  async #withFeeds(
    request: CrawlRequest,
    page: Page,
    admitting: MaybePromise<readonly CrawlRequest[] | undefined>,
  ): Promise<ProcessedPage> {
    const links = await admitting
    const { rules, tools } = this.#parts.feeds!
    if (rules.discover === undefined || !IS_HTML.test(page.mediaType)) return withFound(links)
    const named = tools.discover(page, rules.discover)
    if (named.length === 0) return withFound(links)
    const feeds = await this.#admission.feeds!.admitFound(named, request, rules.discover.perHost)
    return withFound([...(links ?? []), ...feeds])
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
