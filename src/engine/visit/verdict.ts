import { pluralize } from '../../errors.js'
import type { Outcome } from '../../fetch/contract.js'
import type { CrawlRequest, FailureCode, SkipReason } from '../../types.js'
import { baseFor, resolve } from '../../url/resolve.js'

/**
 * What an outcome means. The only place that decides between page, redirect, skip, retry and giving up: a pure function,
 * so that its tests are a table.
 */
export type Verdict =
  | { readonly kind: 'page' }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'skip'; readonly reason: SkipReason }
  | {
      readonly kind: 'failure'
      readonly code: FailureCode
      readonly message: string
      readonly status?: number
      /** The next attempt may succeed. */
      readonly transient: boolean
      /** There are no attempts left. */
      readonly final: boolean
    }

export interface RetryRules {
  /** How often a transient failure is retried. */
  readonly retries: number
  readonly maxRedirects: number
  /** Whether redirect loops are followed, up to `maxRedirects`: with cookies the second response may differ. */
  readonly followsLoops: boolean
}

/** Failures that may not recur. Everything else would fail the same way again. */
const TRANSIENT: ReadonlySet<FailureCode> = new Set([
  'timeout',
  'dns-failed',
  'connect-failed',
  'connection-lost',
  'proxy-failed',
])
/** Server errors that will recur: the method or the HTTP version is not supported. */
const PERMANENT_5XX: ReadonlySet<number> = new Set([501, 505])
const TRANSIENT_4XX: ReadonlySet<number> = new Set([408, 425, 429])
const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const PAGE: Verdict = Object.freeze({ kind: 'page' })

export function judge(request: CrawlRequest, outcome: Outcome, rules: RetryRules): Verdict {
  if (!outcome.ok) {
    return failure(
      request,
      outcome.code,
      outcome.message,
      undefined,
      TRANSIENT.has(outcome.code) ? rules : undefined,
    )
  }
  const { status } = outcome
  if (status >= 200 && status < 300) {
    return outcome.skippedBody ? { kind: 'skip', reason: 'media-type' } : PAGE
  }
  if (REDIRECT_STATUS.has(status))
    return judgeRedirect(request, status, outcome.headers.get('location') ?? undefined, rules)
  const message = `${request.host} answered with status ${status}`
  return failure(request, 'http-status', message, status, isTransient(status) ? rules : undefined)
}

/** The machine lacks a resource such as sockets: the failure says nothing about the host or the URL. */
export function isLocalShortage(outcome: Outcome): boolean {
  return !outcome.ok && outcome.shortage === true
}

function isTransient(status: number): boolean {
  return status >= 500 && status < 600 ? !PERMANENT_5XX.has(status) : TRANSIENT_4XX.has(status)
}

function judgeRedirect(
  request: CrawlRequest,
  status: number,
  location: string | undefined,
  rules: RetryRules,
): Verdict {
  if (request.redirects >= rules.maxRedirects) {
    const message = `redirected more than ${pluralize(rules.maxRedirects, 'time')} in a row`
    return failure(request, 'too-many-redirects', message, status)
  }
  const to = location === undefined ? undefined : resolve(location, baseFor(request.url))
  if (to !== undefined && !rules.followsLoops && (to === request.url || request.via?.includes(to))) {
    const message = `redirect loop: ${[...(request.via ?? []), request.url, to].join(' → ')}`
    return failure(request, 'redirect-loop', message, status)
  }
  if (to !== undefined) return { kind: 'redirect', to }
  const message =
    location === undefined
      ? `status ${status} without a Location header`
      : `Location is not an http(s) URL: ${location}`
  return failure(request, 'bad-redirect', message, status)
}

/** With `retry`, the failure is transient. */
function failure(
  request: CrawlRequest,
  code: FailureCode,
  message: string,
  status?: number,
  retry?: RetryRules,
): Verdict {
  const final = retry === undefined || request.attempt >= retry.retries
  const transient = retry !== undefined
  return { kind: 'failure', code, message, transient, final, ...(status === undefined ? {} : { status }) }
}
