import { pluralize } from '../../errors.js'
import type { Outcome } from '../../fetch/contract.js'
import type { CrawlRequest, FailureCode, RequestExtras, SkipReason } from '../../types.js'
import { knownAs, redirectedFrom, redirectName } from '../../url/known-as.js'
import { baseFor, resolve } from '../../url/resolve.js'
import { afterRedirect } from './redirect.js'
import { decideRetry, type RetryDecision, type RetryRules } from './retry.js'

/**
 * What an outcome means. The only place that decides between page, redirect, skip, retry and giving up: a pure function,
 * so that its tests are a table.
 */
export type Verdict =
  | { readonly kind: 'page' }
  | {
      readonly kind: 'redirect'
      readonly to: string
      /** What is left of the request: see `afterRedirect`. */
      readonly extras: RequestExtras | undefined
    }
  | { readonly kind: 'skip'; readonly reason: SkipReason }
  | FailureVerdict

export interface FailureVerdict extends RetryDecision {
  readonly kind: 'failure'
  readonly code: FailureCode
  readonly status?: number
}

export interface VerdictRules extends RetryRules {
  readonly maxRedirects: number
  /** Whether redirect loops are followed, up to `maxRedirects`: with cookies the second response may differ. */
  readonly followsLoops: boolean
}

const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const PAGE: Verdict = Object.freeze({ kind: 'page' })

/** An archive gives the same answer each time, and its answers say nothing about the host now. */
const NEVER_AGAIN = { transient: false, final: true } as const

export function judge(request: CrawlRequest, outcome: Outcome, rules: VerdictRules): Verdict {
  if (!outcome.ok) {
    const { code, message } = outcome
    // Neither says anything about the URL, so there is nothing for the user's function to decide.
    const isOurs = code === 'aborted' || isLocalShortage(outcome)
    const applied = isOurs ? { ...rules, retryWhen: undefined } : rules
    if (outcome.archived) return { kind: 'failure', code, message, ...NEVER_AGAIN }
    return { kind: 'failure', code, ...decideRetry(request, code, message, undefined, applied) }
  }
  const { status } = outcome
  if (status >= 200 && status < 300) {
    return outcome.skippedBody ? { kind: 'skip', reason: 'media-type' } : PAGE
  }
  if (REDIRECT_STATUS.has(status))
    return judgeRedirect(request, status, outcome.headers.get('location') ?? undefined, rules)
  const message = `${request.host} answered with status ${status}`
  if (outcome.archived) return { kind: 'failure', code: 'http-status', status, message, ...NEVER_AGAIN }
  const decision = decideRetry(request, 'http-status', message, status, rules)
  return { kind: 'failure', code: 'http-status', status, ...decision }
}

/** The machine lacks a resource such as sockets: the failure says nothing about the host or the URL. */
export function isLocalShortage(outcome: Outcome): boolean {
  return !outcome.ok && outcome.shortage === true
}

function judgeRedirect(
  request: CrawlRequest,
  status: number,
  location: string | undefined,
  rules: VerdictRules,
): Verdict {
  if (request.redirects >= rules.maxRedirects) {
    const message = `redirected more than ${pluralize(rules.maxRedirects, 'time')} in a row`
    return broken('too-many-redirects', message, status)
  }
  const to = location === undefined ? undefined : resolve(location, baseFor(request.url))
  if (to !== undefined) {
    const extras = afterRedirect(request.extras, status, request.url, to)
    if (!rules.followsLoops && isLoop(request, to, extras)) {
      const message = `redirect loop: ${[...redirectedFrom(request), request.url, to].join(' → ')}`
      return broken('redirect-loop', message, status)
    }
    return { kind: 'redirect', to, extras }
  }
  const message =
    location === undefined
      ? `status ${status} without a Location header`
      : `Location is not an http(s) URL: ${location}`
  return broken('bad-redirect', message, status)
}

/** Whether the target has already redirected here. A POST that redirects to its own URL as a GET has not. */
function isLoop(request: CrawlRequest, to: string, extras: RequestExtras | undefined): boolean {
  const target = request.purpose === undefined ? knownAs({ url: to, extras }) : to
  return target === redirectName(request) || request.via?.includes(target) === true
}

/** A redirect that cannot be followed, and never will be. */
function broken(code: FailureCode, message: string, status: number): Verdict {
  return { kind: 'failure', code, message, transient: false, final: true, status }
}
