import { messageOf } from '../../errors.js'
import type { CrawlRequest, Failure, FailureCode, PageRequest } from '../../types.js'
import { isIdempotent } from '../../url/methods.js'
import { pageRequest } from '../../url/page-request.js'

/** A failure that may be retried, as `retries({ when })` sees it. */
export type RetriedFailure = Pick<Failure, 'url' | 'code' | 'message' | 'status' | 'attempt'>

/** True: retry it. False: give it up. Undefined: as without the function. */
export type RetryWhen = (failure: RetriedFailure, request: PageRequest) => boolean | undefined

/** How often a URL is retried, and after which statuses. */
export interface RetryCounts {
  readonly times: number
  /** Undefined: `isTransientStatus`. */
  readonly statuses?: ReadonlySet<number> | undefined
}

export interface RetryRules {
  /** How often a failure is retried. */
  readonly retries: number
  /** The statuses that are retried, instead of the usual ones. */
  readonly retryStatuses?: ReadonlySet<number> | undefined
  readonly retryWhen?: RetryWhen | undefined
  /** Other numbers and statuses for some hosts. */
  readonly hostRetries?: ((host: string) => Partial<RetryCounts> | undefined) | undefined
}

/** What follows from a failure. */
export interface RetryDecision {
  /** The host may be in trouble: it gets a rest, whether the URL is retried or not. */
  readonly transient: boolean
  /** The URL is given up. */
  readonly final: boolean
  /** What happened, with the reason if the user's function failed. */
  readonly message: string
}

/** Failures that may not recur. Everything else would fail the same way again. */
const TRANSIENT: ReadonlySet<FailureCode> = new Set([
  'timeout',
  'dns-failed',
  'connect-failed',
  'connection-lost',
  'proxy-failed',
])
/** The server has not received the request. */
const NOT_SENT: ReadonlySet<FailureCode> = new Set(['dns-failed', 'connect-failed', 'proxy-failed'])
/** Server errors that will recur: the method or the HTTP version is not supported. */
const PERMANENT_5XX: ReadonlySet<number> = new Set([501, 505])
const TRANSIENT_4XX: ReadonlySet<number> = new Set([408, 425, 429])

/**
 * Whether a failed request is sent again. A request that the server may have received is repeated only if that does no
 * harm, or if the user's function allows it. Pure, apart from that function.
 */
export function decideRetry(
  request: CrawlRequest,
  code: FailureCode,
  message: string,
  status: number | undefined,
  rules: RetryRules,
): RetryDecision {
  const transient = status === undefined ? TRANSIENT.has(code) : isTransientStatus(status)
  const own = rules.hostRetries?.(request.host)
  if (request.attempt >= (own?.times ?? rules.retries)) return { transient, final: true, message }
  const usual = isUsuallyRetried(request, code, status, transient, own?.statuses ?? rules.retryStatuses)
  // Sitemaps and robots.txt are not the program's requests.
  if (rules.retryWhen === undefined || request.purpose !== undefined)
    return { transient, final: !usual, message }
  try {
    const { url, attempt } = request
    const answer = rules.retryWhen({ url, code, message, status, attempt }, pageRequest(request))
    if (answer !== undefined && typeof answer !== 'boolean')
      throw new TypeError(`it returned ${typeof answer} instead of true, false or undefined`)
    return { transient, final: !(answer ?? usual), message }
  } catch (error) {
    const why = `${message}; it is not retried, because the function of retries({ when }) failed: ${messageOf(error)}`
    return { transient, final: true, message: why }
  }
}

function isUsuallyRetried(
  { extras }: CrawlRequest,
  code: FailureCode,
  status: number | undefined,
  transient: boolean,
  statuses: ReadonlySet<number> | undefined,
): boolean {
  const isListed = status === undefined || statuses === undefined ? transient : statuses.has(status)
  return isListed && (NOT_SENT.has(code) || isIdempotent(extras?.method))
}

function isTransientStatus(status: number): boolean {
  return status >= 500 && status < 600 ? !PERMANENT_5XX.has(status) : TRANSIENT_4XX.has(status)
}
