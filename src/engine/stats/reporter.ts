import { owned } from '../../owned.js'
import type { Clock } from '../../time.js'
import type { CrawlRequest, Failure, FailureCode, SkipReason } from '../../types.js'
import { redirectedFrom } from '../../url/known-as.js'
import { type Asked, pageRequest } from '../../url/page-request.js'
import type { AdmissionReport } from '../admission/admission-filter.js'
import { type Delivery, USER_CODE_FAILURES } from '../delivery.js'
import type { HostQuota } from '../visit/host-quota.js'
import { UnheardReasons } from './no-page.js'
import type { Tally, VisitEvent } from './tally.js'

/** Records an event of a visit; without a request, it belongs to no visit. */
type RecordEvent = (event: VisitEvent, request: CrawlRequest | undefined) => void

/** Counts and emits everything that did not become a page: skips, failures, retries and redirects. */
export class Reporter {
  readonly #delivery: Delivery
  readonly #tally: Tally
  readonly #clock: Clock
  readonly #note: RecordEvent
  /** What happened before the first page and was reported to nobody. */
  readonly unheard = new UnheardReasons()

  constructor(delivery: Delivery, tally: Tally, clock: Clock, note: RecordEvent) {
    this.#clock = clock
    this.#delivery = delivery
    this.#tally = tally
    this.#note = note
  }

  /** `asked` is the request, or the link that would have become one. */
  skipped(url: string, reason: SkipReason, parent: string | undefined, asked: Asked): void {
    this.#tally.skip(reason)
    if (this.#delivery.hearsSkips)
      this.#delivery.deliverSkip(() => ({ url: owned(url), reason, parent, request: pageRequest(asked) }))
    else if (this.#tally.pages === 0) this.unheard.note({ url: owned(url), kind: 'skip', code: reason })
  }

  /** Counts a skip like `skipped`, if nobody wants to know its URL; otherwise false. */
  skippedAgain(reason: SkipReason): boolean {
    if (this.#tally.pages === 0 || this.#delivery.hasListeners('skip')) return false
    this.#tally.skip(reason)
    return true
  }

  async failed(failure: Failure, request?: CrawlRequest): Promise<void> {
    if (failure.final) {
      if (this.#tally.pages === 0 && !this.#delivery.hearsFailures) this.#noteUnheard(failure, request)
      this.#tally.failure(failure.code)
      this.#note({ kind: 'failure', failure, at: this.#clock.now() }, request)
    } else {
      this.#tally.retries++
      this.#note({ kind: 'retry' }, request)
    }
    await this.#delivery.deliverFailure(failure)
  }

  #noteUnheard({ url, code, message }: Failure, request: CrawlRequest | undefined): void {
    // The delivery warns about user code at once.
    if (USER_CODE_FAILURES.has(code)) this.unheard.clear()
    else if (request?.purpose === undefined && request?.revisit !== true)
      this.unheard.note({ url, kind: 'failure', code, message })
  }

  redirected(request: CrawlRequest, to: string, status: number): Promise<void> {
    this.#tally.redirects++
    this.#note({ kind: 'redirect' }, request)
    return this.#delivery.deliverRedirect(() => ({ url: request.url, to, status, ...originOf(request) }))
  }

  /** Reports the failure of a request. */
  failure(
    request: CrawlRequest,
    problem: { code: FailureCode; message: string; status?: number | undefined; cause?: unknown },
    final: boolean,
  ): Promise<void> {
    const { code, message, status, cause } = problem
    const { url, attempt } = request
    const failure = { url, code, message, status, attempt, final, cause, ...originOf(request) }
    return this.failed(failure, request)
  }
}

/** Where a request came from. */
type Origin = Pick<Failure, 'parent' | 'depth' | 'redirectedFrom' | 'request'>

function originOf(request: Pick<CrawlRequest, 'parent' | 'depth' | 'via'> & Asked): Origin {
  const { parent, depth } = request
  return { parent, depth, redirectedFrom: redirectedFrom(request), request: pageRequest(request) }
}

/** The failure of a URL that did not become a request. */
export function unvisited(
  failure: Pick<Failure, 'url' | 'code' | 'message' | 'cause'>,
  from: Pick<CrawlRequest, 'parent' | 'depth'> & Asked = { parent: undefined, depth: 0 },
): Failure {
  return { ...failure, attempt: 0, final: true, ...originOf(from) }
}

/** Connects admission to the reporter and to the page limits. */
export function admissionReport(
  reports: Reporter,
  quotas: { readonly host: HostQuota; readonly site: HostQuota },
  siteOf: (host: string) => string,
): AdmissionReport {
  return {
    skipped: (url, reason, parent, asked) => reports.skipped(url, reason, parent, asked),
    skippedAgain: (reason) => reports.skippedAgain(reason),
    scopeFailed: (url, message, cause, from) =>
      reports.failed(unvisited({ url, code: 'scope-failed', message, cause }, from)),
    rewriteFailed: (url, message, cause, from) =>
      reports.failed(unvisited({ url, code: 'rewrite-failed', message, cause }, from)),
    isFull(host) {
      if (quotas.host.isFull(host)) return 'host-limit'
      return quotas.site.isFull(siteOf(host)) ? 'site-limit' : undefined
    },
  }
}
