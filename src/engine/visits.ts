import { messageOf } from '../errors.js'
import type { Extracted, ExtractionProblem, FetchTiming, Page } from '../extract/contract.js'
import type { FetchedResponse, Outcome } from '../fetch/contract.js'
import type { RobotsVerdict } from '../fetch/robots-contract.js'
import type { Settlement } from '../frontier/contract.js'
import type { CrawlRequest, Failure, FailureCode, MaybePromise, SkipReason } from '../types.js'
import type { Admission } from './admit.js'
import { Deadlines } from './deadlines.js'
import { VisitContext } from './fetch-context.js'
import type { HostQuota } from './host-quota.js'
import type { Meters } from './meters.js'
import { UNREAD } from './outlet.js'
import type { EngineRules, Parts } from './parts.js'
import { judge, type Verdict } from './settle.js'
import type { Tally } from './tally.js'

/** robots.txt is wanted whatever media type it claims. */
const WANTS_ALL = () => true

/**
 * The way of one request: robots gate → fetch → extract → hooks → admit, and at the end a settlement that says what
 * becomes of it. Whatever the network or the user's code does ends in a settlement; only a store that fails rejects.
 */
export class Visits {
  readonly #parts: Parts
  readonly #rules: EngineRules
  readonly #admission: Admission
  readonly #meters: Meters
  readonly #tally: Tally
  readonly #quota: HostQuota
  readonly #fetching: Deadlines<VisitContext>
  /** robots.txt files on their way, so that parallel connections to a host do not each ask for it. */
  readonly #robotsUnderWay = new Map<string, Promise<void>>()
  readonly #wants: (mediaType: string) => boolean
  #aborted = false

  constructor(
    parts: Parts,
    rules: EngineRules,
    admission: Admission,
    meters: Meters,
    tally: Tally,
    quota: HostQuota,
  ) {
    this.#parts = parts
    this.#rules = rules
    this.#admission = admission
    this.#meters = meters
    this.#tally = tally
    this.#quota = quota
    this.#fetching = new Deadlines(parts.clock, rules.fetchTimeoutMs)
    this.#wants = (mediaType) => parts.extraction.wants(mediaType)
  }

  /** Ends every fetch now; their requests stay pending. */
  abort(): void {
    this.#aborted = true
    for (const context of this.#fetching.running()) context.abort()
    this.#parts.outlet.abort()
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#fetching.close()
  }

  async visit(request: CrawlRequest): Promise<Settlement> {
    const turn = this.#quota.claim(request.host)
    if (turn === 'full') {
      this.skipped(request.url, 'host-limit', request.parent)
      return { request, visitedAt: undefined }
    }
    if (turn === 'wait') {
      const at = this.#quota.askAgainAt(this.#parts.clock.now())
      return { ...this.#again(request, at), hostNotBefore: at }
    }
    let delivered = false
    try {
      const permission = this.#parts.robots.check(request, this.#parts.clock.now())
      if (permission !== 'allow') return await this.#heedRobots(request, permission)
      const startedAt = this.#parts.clock.now()
      const outcome = await this.#fetch(request, this.#wants)
      const endedAt = this.#parts.clock.now()
      const verdict = this.#judge(request, outcome)
      if (verdict.kind === 'page') {
        const timing = { fetchedAt: endedAt, fetchMs: endedAt - startedAt }
        const handled = await this.#handle(request, outcome as FetchedResponse, timing)
        if (handled === UNREAD) return { ...this.#again(request, endedAt), visitedAt: endedAt }
        delivered = handled
        return { request, visitedAt: endedAt, hostDelayMs: this.#parts.robots.delayMs(request) }
      }
      return await this.#conclude(request, outcome, verdict, endedAt)
    } finally {
      this.#quota.release(request.host, delivered)
    }
  }

  skipped(url: string, reason: SkipReason, parent: string | undefined): void {
    this.#tally.skip(reason)
    if (this.#parts.outlet.hears('skip')) void this.#parts.outlet.tell('skip', { url, reason, parent })
  }

  async failed(failure: Failure): Promise<void> {
    if (failure.final) this.#tally.failure(failure.code)
    else this.#tally.retries++
    await this.#parts.outlet.fail(failure)
  }

  /** The visit ends here: denied, put off, or spent on robots.txt itself. */
  async #heedRobots(request: CrawlRequest, verdict: Exclude<RobotsVerdict, 'allow'>): Promise<Settlement> {
    const { robots, clock } = this.#parts
    if (verdict === 'deny') {
      this.skipped(request.url, 'robots', request.parent)
      return { request, visitedAt: undefined }
    }
    if ('failed' in verdict) {
      await this.#report(request, verdict.failed, true)
      return { request, visitedAt: undefined }
    }
    if ('retryAt' in verdict)
      return { ...this.#again(request, verdict.retryAt), hostNotBefore: verdict.retryAt }
    const underWay = this.#robotsUnderWay.get(verdict.fetch)
    if (underWay !== undefined) {
      await underWay
      return this.#again(request, clock.now())
    }
    const fetching = this.#fetchRobots(request, verdict.fetch)
    this.#robotsUnderWay.set(verdict.fetch, fetching)
    await fetching
    this.#robotsUnderWay.delete(verdict.fetch)
    return {
      ...this.#again(request, clock.now()),
      visitedAt: clock.now(),
      hostDelayMs: robots.delayMs(request),
    }
  }

  async #fetchRobots(request: CrawlRequest, url: string): Promise<void> {
    const outcome = await this.#fetch({ ...plainly(request), url }, WANTS_ALL)
    this.#tally.robots++
    this.#parts.robots.learn(request, url, outcome, this.#parts.clock.now())
  }

  #again(request: CrawlRequest, at: number): Settlement {
    return { request, visitedAt: undefined, again: { at, attempt: request.attempt } }
  }

  /** One exchange with the server, ended by its answer, the deadline or the abort of the crawl. */
  async #fetch(request: CrawlRequest, wants: (mediaType: string) => boolean): Promise<Outcome> {
    const { clock } = this.#parts
    const startedAt = clock.now()
    this.#meters.enter('fetch', startedAt)
    this.#tally.visitStarts(request.host, startedAt)
    const context = new VisitContext(wants)
    this.#fetching.start(context, startedAt)
    if (this.#aborted) context.abort()
    const outcome = await this.#race(request, context)
    this.#fetching.done(context)
    const endedAt = clock.now()
    this.#meters.leave('fetch', endedAt)
    this.#tally.visitEnds(request.host, endedAt)
    this.#tally.bytes += outcome.wireBytes ?? 0
    if (outcome.ok) this.#tally.status(outcome.status)
    return outcome
  }

  #race(request: CrawlRequest, context: VisitContext): Promise<Outcome> {
    const { fetcher } = this.#parts
    const { fetchTimeoutMs } = this.#rules
    return new Promise((resolve) => {
      context.onExpire = () =>
        resolve({ ok: false, code: 'timeout', message: `no complete answer within ${fetchTimeoutMs} ms` })
      const done = (outcome: Outcome) => {
        resolve(isOutcome(outcome) ? outcome : { ok: false, code: 'fetcher-failed', message: NO_OUTCOME })
      }
      const threw = (error: unknown) => {
        // What a fetcher throws because it was told to stop is no defect.
        const code = context.aborted ? 'aborted' : 'fetcher-failed'
        done({ ok: false, code, message: `the fetcher threw: ${messageOf(error)}`, cause: error })
      }
      try {
        const answer = fetcher.fetch(request, context)
        if (answer instanceof Promise) answer.then(done, threw)
        else if (isOutcome(answer)) resolve(answer)
        else Promise.resolve(answer).then(done, threw)
      } catch (error) {
        threw(error)
      }
    })
  }

  /** A fetcher of the user's own may return what nobody can read: that is its failure, not the crawl's. */
  #judge(request: CrawlRequest, outcome: Outcome): Verdict {
    try {
      return judge(request, outcome, this.#rules, this.#parts.random.next())
    } catch (error) {
      const message = `the fetcher's answer could not be read: ${messageOf(error)}`
      return { kind: 'failure', code: 'fetcher-failed', message, retryInMs: undefined }
    }
  }

  /** Never throws: what cannot be made a page is reported as that page's failure. */
  #extract(
    request: CrawlRequest,
    response: FetchedResponse,
    timing: FetchTiming,
  ): { page: Page; running: MaybePromise<Extracted> } | ExtractionProblem {
    try {
      const page = this.#parts.extraction.pageOf(request, response, timing)
      return { page, running: this.#parts.extraction.run(page) }
    } catch (cause) {
      return { code: 'extract-failed', message: `the page could not be read: ${messageOf(cause)}`, cause }
    }
  }

  /** Extracts, delivers and admits the links. True if the page was delivered. */
  async #handle(
    request: CrawlRequest,
    response: FetchedResponse,
    timing: FetchTiming,
  ): Promise<boolean | typeof UNREAD> {
    const { clock, outlet } = this.#parts
    const extractAt = clock.now()
    this.#meters.enter('extract', extractAt)
    const begun = this.#extract(request, response, timing)
    if ('code' in begun) {
      this.#meters.leave('extract', clock.now())
      await this.#report(request, begun, true)
      return false
    }
    const { page, running } = begun
    const busyUntil = clock.now()
    this.#meters.worked('extract', busyUntil - extractAt)
    const extracted = running instanceof Promise ? await running : running
    const hooksAt = running instanceof Promise ? clock.now() : busyUntil
    this.#meters.leave('extract', hooksAt)

    let delivered = false
    if (extracted.problem === undefined) {
      this.#meters.enter('hooks', hooksAt)
      const delivering = outlet.deliver(page)
      this.#meters.worked('hooks', clock.now() - hooksAt)
      const problem = delivering instanceof Promise ? await delivering : delivering
      this.#meters.leave('hooks', clock.now())
      if (problem === UNREAD) return UNREAD
      delivered = true
      this.#tally.page(clock.now())
      if (problem !== undefined) await this.#report(request, problem, true)
    } else {
      await this.#report(request, extracted.problem, true)
    }
    if (page.robots.nofollow) {
      if (extracted.links.length > 0) this.skipped(page.url, 'nofollow', page.parent)
      return delivered
    }
    const admitAt = clock.now()
    const admitting = this.#admission.links(extracted, request)
    this.#meters.worked('admit', clock.now() - admitAt, extracted.links.length)
    if (admitting instanceof Promise) await admitting
    return delivered
  }

  async #conclude(
    request: CrawlRequest,
    outcome: Outcome,
    verdict: Exclude<Verdict, { kind: 'page' }>,
    endedAt: number,
  ): Promise<Settlement> {
    const settlement = { request, visitedAt: endedAt, hostDelayMs: this.#parts.robots.delayMs(request) }
    switch (verdict.kind) {
      case 'skip':
        this.skipped(request.url, verdict.reason, request.parent)
        return settlement
      case 'redirect': {
        this.#tally.redirects++
        const status = (outcome as FetchedResponse).status
        await this.#parts.outlet.tell('redirect', { url: request.url, to: verdict.to, status })
        await this.#admission.redirect(verdict.to, request)
        return settlement
      }
      case 'failure':
        break
    }
    if (this.#aborted && verdict.code === 'aborted') {
      return { ...settlement, again: { at: endedAt, attempt: request.attempt } }
    }
    const final = verdict.retryInMs === undefined
    await this.#report(request, { ...verdict, cause: (outcome as { cause?: unknown }).cause }, final)
    if (final) return settlement
    const at = endedAt + verdict.retryInMs
    return { ...settlement, again: { at, attempt: request.attempt + 1 }, hostNotBefore: at }
  }

  #report(
    request: CrawlRequest,
    problem: { code: FailureCode; message: string; status?: number | undefined; cause?: unknown },
    final: boolean,
  ): Promise<void> {
    const { code, message, status, cause } = problem
    return this.failed({ url: request.url, code, message, status, attempt: request.attempt, final, cause })
  }
}

const NO_OUTCOME =
  'the fetcher did not return an outcome: { ok: true, status, headers, body, … } or { ok: false, code, message }'

/** Fetchers may be the user's own, and a shape that nobody can read must not pass for a broken store. */
function isOutcome(value: Outcome | undefined): boolean {
  if (value?.ok === true) return value.body instanceof Uint8Array && typeof value.headers?.get === 'function'
  return value?.ok === false && typeof value.code === 'string'
}

/** A copy without what a frontier may have hung on its own object. */
function plainly(request: CrawlRequest): CrawlRequest {
  const { url, host, depth, priority, attempt, redirects, parent } = request
  return { url, host, depth, priority, attempt, redirects, parent }
}
