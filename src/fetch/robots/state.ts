/**
 * What a crawl knows about an origin's robots.txt: its rules, or how far the attempts to fetch them have come. A state
 * changes only when a fetch ends, and `stateAfter` decides how; the gate keeps the states and acts on them. Every known
 * state converts to a plain record and back, so that a store can keep it.
 */

import { retryAfterMs } from '../../time.js'
import type { FailureCode } from '../../types.js'
import { canonicalizeUrl } from '../../url/canonicalize.js'
import type { FetchedResponse, Outcome } from '../contract.js'
import { canonicalPattern, type Group, groupFor, groupText } from './group.js'
import { byteText, MAX_TEXT_BYTES } from './lines.js'

/** The rules must be fetched: from which URL, and after how many attempts. */
export interface Unknown {
  readonly kind: 'unknown'
  readonly ask: string
  readonly hops: number
  readonly failures: number
  readonly notBefore: number
  /** The rules that have expired. They are used again while no newer ones can be fetched. */
  readonly before?: Open | undefined
}

/** The origin has answered. `failures` counts the attempts to refresh the answer that have failed since. */
export type Open =
  | { readonly kind: 'rules'; readonly group: Group; readonly until: number; readonly failures: number }
  | { readonly kind: 'allow'; readonly until: number; readonly failures: number }

/** robots.txt is unreachable, so everything counts as disallowed (RFC 9309, 2.3.1.4). */
export type Closed =
  | { readonly kind: 'deny'; readonly until: number; readonly failures: number }
  | {
      readonly kind: 'unreachable'
      readonly failed: { readonly code: FailureCode; readonly message: string }
      readonly until: number
      readonly failures: number
    }

export type Known = Open | Closed
export type RobotsState = Unknown | Known

/** What the decisions depend on besides the outcome of a fetch. */
export interface RobotsPolicy {
  /** The product token that groups are matched with. */
  readonly productName: string
  readonly cacheMs: number
  readonly maxTries: number
  /** Uniform in [0, 1). */
  chance(): number
}

/**
 * A known state as plain data, for a store: the group that applies to this crawler as text, times in ms since the epoch.
 * An unknown state is not stored.
 */
export interface RobotsRecord {
  readonly origin: string
  /** The product token that the group was chosen for; it means nothing to a crawler with another one. */
  readonly product: string
  readonly kind: Known['kind']
  readonly until: number
  readonly failures: number
  /** A robots.txt with one group, if `kind` is `rules`. */
  readonly lines?: string | undefined
  /** If `kind` is `unreachable`. */
  readonly failed?: { readonly code: FailureCode; readonly message: string } | undefined
}

/** RFC 9309 (2.3.1.2) requires at least five. */
const MAX_HOPS = 5

/** The first retries follow within seconds, because the host's pages wait for them: after 1 s, then 4 s, 16 s, … */
const FIRST_RETRY_MS = 1000
const RETRY_FACTOR = 4
/** After `maxTries` the pages no longer wait, so the next attempts follow after 1 h, then 4 h, 16 h, … */
const FIRST_CLOSURE_MS = 3_600_000
/** Up to this share is added to a delay, so that hosts that failed together are not retried together. */
const JITTER = 0.25

/** A longer `Retry-After` counts as this. */
const LONGEST_RETRY_AFTER_MS = 3_600_000

const TOO_MANY_REQUESTS = 429

/** Characters of an error message that are kept. */
const MAX_MESSAGE = 300

/** The state of an origin whose rules are not known, or have expired. */
export function unknown(origin: string, was?: Known): Unknown {
  const before = was?.kind === 'rules' || was?.kind === 'allow' ? was : undefined
  const ask = `${origin}/robots.txt`
  return { kind: 'unknown', ask, hops: 0, failures: was?.failures ?? 0, notBefore: 0, before }
}

/** The state of an origin after a fetch of its robots.txt. */
export function stateAfter(
  origin: string,
  asked: Unknown,
  outcome: Outcome,
  now: number,
  policy: RobotsPolicy,
): RobotsState {
  if (!isConclusive(outcome)) return failed(origin, asked, outcome, now, policy)
  const allow: Open = { kind: 'allow', until: now + policy.cacheMs, failures: 0 }
  if (outcome.status >= 400) return allow
  if (outcome.status >= 300) return redirected(asked, outcome) ?? allow
  const bytes = byteText(outcome.body)
  const group = groupFor(bytes, policy.productName, canonicalPattern)
  return isEmpty(group) ? allow : { ...allow, kind: 'rules', group }
}

/**
 * Whether the response settles the rules. A truncated file does not: the missing part may disallow what the rest allows.
 * The exception is a file that is longer than the part that is read of any file.
 */
function isConclusive(outcome: Outcome): outcome is FetchedResponse {
  if (!outcome.ok || outcome.skippedBody) return false
  if (outcome.status >= 500 || outcome.status === TOO_MANY_REQUESTS) return false
  return outcome.truncated !== true || outcome.body.length > MAX_TEXT_BYTES
}

function failed(
  origin: string,
  state: Unknown,
  outcome: Outcome,
  now: number,
  policy: RobotsPolicy,
): RobotsState {
  const failures = state.failures + 1
  const asked = (outcome.ok && retryAfterMs(outcome.headers.get('retry-after'), now)) || 0
  const later = (firstMs: number, times: number) => {
    const waitMs = firstMs * RETRY_FACTOR ** (times - 1) * (1 + JITTER * policy.chance())
    return now + Math.min(Math.max(waitMs, Math.min(asked, LONGEST_RETRY_AFTER_MS)), policy.cacheMs)
  }
  // Expired rules are a better guess than none, for as long as robots.txt is unreachable.
  if (state.before !== undefined) return { ...state.before, until: later(FIRST_RETRY_MS, failures), failures }
  if (failures < policy.maxTries) {
    return { ...unknown(origin), failures, notBefore: later(FIRST_RETRY_MS, failures) }
  }
  const until = later(FIRST_CLOSURE_MS, failures - policy.maxTries + 1)
  if (outcome.ok) return { kind: 'deny', until, failures }
  const message = outcome.message.slice(0, MAX_MESSAGE)
  return { kind: 'unreachable', failed: { code: outcome.code, message }, until, failures }
}

/** Follows a redirect, also to another host; undefined if it has no usable target, or is one too many. */
function redirected(asked: Unknown, { headers }: FetchedResponse): Unknown | undefined {
  const location = headers.get('location')
  const ask = location === undefined ? undefined : canonicalizeUrl(location, asked.ask)
  if (ask === undefined || asked.hops >= MAX_HOPS) return undefined
  return { ...asked, ask, hops: asked.hops + 1, notBefore: 0 }
}

function isEmpty({ rules, delay }: Group): boolean {
  return rules.size === 0 && delay === undefined
}

/** The memory that a state takes beyond a small fixed size, in bytes. */
export function weightOf(state: RobotsState): number {
  switch (state.kind) {
    case 'rules':
      return state.group.rules.weight
    case 'unreachable':
      return state.failed.message.length
    case 'unknown':
      return state.ask.length + (state.before === undefined ? 0 : weightOf(state.before))
    default:
      return 0
  }
}

export function recordOf(origin: string, state: Known, product: string): RobotsRecord {
  const { kind, until, failures } = state
  return {
    origin,
    product,
    kind,
    until,
    failures,
    lines: kind === 'rules' ? groupText(state.group) : undefined,
    failed: kind === 'unreachable' ? state.failed : undefined,
  }
}

/** The state that a record describes; undefined if it is incomplete, or was made for another product token. */
export function stateFrom(record: RobotsRecord, product: string): Known | undefined {
  const { kind, until, failures, lines, failed } = record
  if (record.product !== product || !Number.isFinite(until) || !Number.isInteger(failures)) return undefined
  switch (kind) {
    case 'rules':
      return lines === undefined
        ? undefined
        : { kind, group: groupFor(lines, product, canonicalPattern), until, failures }
    case 'unreachable':
      return failed === undefined ? undefined : { kind, failed, until, failures }
    case 'allow':
    case 'deny':
      return { kind, until, failures }
    default:
      return undefined
  }
}
