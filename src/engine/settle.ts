import type { Outcome } from '../fetch/contract.js'
import type { CrawlRequest, FailureCode, SkipReason } from '../types.js'
import { baseFor, resolve } from '../url/resolve.js'

/**
 * What an outcome means. The one place that decides between page, redirect, skip, retry and giving up: pure, so
 * that its tests are a table.
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
      /** Milliseconds from now until the next try; undefined: given up. */
      readonly retryInMs: number | undefined
    }

export interface RetryRules {
  /** How often a transient failure is tried again. */
  readonly retries: number
  /** Wait before the first retry; doubles with each. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  readonly maxRedirects: number
}

/** Trouble that may be over by the next try. Everything else would fail the same way again. */
const TRANSIENT: ReadonlySet<FailureCode> = new Set([
  'timeout',
  'dns-failed',
  'connect-failed',
  'connection-lost',
])
const TRANSIENT_STATUS: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])
const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** `chance` is a number in [0, 1) that spreads retries, so that hosts which failed together do not return together. */
export function judge(request: CrawlRequest, outcome: Outcome, rules: RetryRules, chance: number): Verdict {
  if (!outcome.ok) {
    const again = TRANSIENT.has(outcome.code)
    return failure(
      outcome.code,
      outcome.message,
      undefined,
      again ? retryInMs(request, rules, chance) : undefined,
    )
  }
  const { status } = outcome
  if (status >= 200 && status < 300) {
    return outcome.skippedBody ? { kind: 'skip', reason: 'media-type' } : { kind: 'page' }
  }
  if (REDIRECT_STATUS.has(status))
    return judgeRedirect(request, status, outcome.headers.get('location') ?? undefined, rules)
  const again = TRANSIENT_STATUS.has(status) ? retryInMs(request, rules, chance) : undefined
  return failure('http-status', `${request.host} answered with status ${status}`, status, again)
}

function judgeRedirect(
  request: CrawlRequest,
  status: number,
  location: string | undefined,
  rules: RetryRules,
): Verdict {
  if (request.redirects >= rules.maxRedirects) {
    const message = `redirected more than ${rules.maxRedirects} times in a row`
    return failure('too-many-redirects', message, status, undefined)
  }
  const to = location === undefined ? undefined : resolve(location, baseFor(request.url))
  if (to !== undefined) return { kind: 'redirect', to }
  const message =
    location === undefined
      ? `status ${status} without a Location header`
      : `Location is not an http(s) URL: ${location}`
  return failure('bad-redirect', message, status, undefined)
}

function retryInMs(request: CrawlRequest, rules: RetryRules, chance: number): number | undefined {
  if (request.attempt >= rules.retries) return undefined
  const full = Math.min(rules.backoffMs * 2 ** request.attempt, rules.maxBackoffMs)
  return full * (0.5 + chance / 2)
}

function failure(
  code: FailureCode,
  message: string,
  status: number | undefined,
  retryInMs: number | undefined,
): Verdict {
  return { kind: 'failure', code, message, retryInMs, ...(status === undefined ? {} : { status }) }
}
