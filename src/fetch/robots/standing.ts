/**
 * How an origin stands with us: what it publishes in robots.txt, or how far we got in finding out. A standing changes
 * only by what came of a fetch, and `standingAfter` decides that; the gate keeps standings and acts on them. Each can be
 * written down as a plain record and read again, so that a store may keep what a crawl has learned.
 */

import { retryAfterMs } from '../../time.js'
import type { FailureCode } from '../../types.js'
import { canonicalizeUrl } from '../../url/canonicalize.js'
import type { FetchedResponse, Outcome } from '../contract.js'
import { canonicalPattern, type Group, groupFor, groupText } from './group.js'
import { byteText, MAX_TEXT_BYTES } from './lines.js'

/** Rules that are still to be had: from where, and what was tried so far. */
export interface Unknown {
  readonly kind: 'unknown'
  readonly ask: string
  readonly hops: number
  readonly failures: number
  readonly notBefore: number
  /** What was believed before its time was over; it serves again if nothing newer can be had. */
  readonly before?: Open | undefined
}

/** The origin has answered. `failures` counts the attempts in vain to hear something newer. */
export type Open =
  | { readonly kind: 'rules'; readonly group: Group; readonly until: number; readonly failures: number }
  | { readonly kind: 'allow'; readonly until: number; readonly failures: number }

/** The origin could not be heard, so it may forbid anything (RFC 9309, 2.3.1.4). */
export type Closed =
  | { readonly kind: 'deny'; readonly until: number; readonly failures: number }
  | {
      readonly kind: 'unreachable'
      readonly failed: { readonly code: FailureCode; readonly message: string }
      readonly until: number
      readonly failures: number
    }

export type Known = Open | Closed
export type Standing = Unknown | Known

/** What the decisions depend on besides the outcome. */
export interface Habits {
  /** The name that is looked for in the groups. */
  readonly product: string
  readonly cacheMs: number
  readonly maxTries: number
  /** Uniform in [0, 1). */
  chance(): number
}

/**
 * A standing as plain data, for a store: the lines that apply to us as text, and instants in ms since the epoch. One
 * that was still unknown is not worth keeping.
 */
export interface RobotsRecord {
  readonly origin: string
  /** The name for which the lines were chosen; a crawler of another name has to ask for itself. */
  readonly product: string
  readonly kind: Known['kind']
  readonly until: number
  readonly failures: number
  /** A robots.txt with one group. Only where `kind` is `rules`. */
  readonly lines?: string | undefined
  /** Only where `kind` is `unreachable`. */
  readonly failed?: { readonly code: FailureCode; readonly message: string } | undefined
}

/** RFC 9309 (2.3.1.2) asks for at least five. */
const MAX_HOPS = 5

/** First tries come within seconds, because the pages of the host wait for the answer: after 1 s, then 4 s, 16 s, … */
const FIRST_RETRY_MS = 1000
const RETRY_FACTOR = 4
/** A host that stayed silent is left alone for this long, then four times as long, and so on. Its pages are not waiting. */
const FIRST_CLOSURE_MS = 3_600_000
/** Up to this share is added to a wait, so that hosts that failed together do not come back together. */
const JITTER = 0.25

/** A host that asks for more is asked after this. */
const LONGEST_RETRY_AFTER_MS = 3_600_000

const TOO_MANY_REQUESTS = 429

/** Characters that are kept of what went wrong. */
const MAX_MESSAGE = 300

/** Nothing is known; or only what was, when its time was over. */
export function unknown(origin: string, was?: Known): Unknown {
  const before = was?.kind === 'rules' || was?.kind === 'allow' ? was : undefined
  const ask = `${origin}/robots.txt`
  return { kind: 'unknown', ask, hops: 0, failures: was?.failures ?? 0, notBefore: 0, before }
}

/** Where an origin stands once the fetch that it was asked for has ended. */
export function standingAfter(
  origin: string,
  asked: Unknown,
  outcome: Outcome,
  now: number,
  habits: Habits,
): Standing {
  if (!isHeard(outcome)) return failed(origin, asked, outcome, now, habits)
  const allow: Open = { kind: 'allow', until: now + habits.cacheMs, failures: 0 }
  if (outcome.status >= 400) return allow
  if (outcome.status >= 300) return redirected(asked, outcome) ?? allow
  const bytes = byteText(outcome.body)
  const group = groupFor(bytes, habits.product, canonicalPattern)
  return saysNothing(group) ? allow : { ...allow, kind: 'rules', group }
}

/**
 * Whether the origin has said what its rules are. A file that broke off has not: what is missing may forbid what the
 * beginning allows. Only of a file that is longer than what is read of any, the beginning is enough.
 */
function isHeard(outcome: Outcome): outcome is FetchedResponse {
  if (!outcome.ok || outcome.skippedBody) return false
  if (outcome.status >= 500 || outcome.status === TOO_MANY_REQUESTS) return false
  return outcome.truncated !== true || outcome.body.length > MAX_TEXT_BYTES
}

function failed(origin: string, standing: Unknown, outcome: Outcome, now: number, habits: Habits): Standing {
  const failures = standing.failures + 1
  const asked = (outcome.ok && retryAfterMs(outcome.headers.get('retry-after'), now)) || 0
  const later = (firstMs: number, times: number) => {
    const waitMs = firstMs * RETRY_FACTOR ** (times - 1) * (1 + JITTER * habits.chance())
    return now + Math.min(Math.max(waitMs, Math.min(asked, LONGEST_RETRY_AFTER_MS)), habits.cacheMs)
  }
  // What was believed is a better guess than silence, for as long as the silence lasts.
  if (standing.before !== undefined)
    return { ...standing.before, until: later(FIRST_RETRY_MS, failures), failures }
  if (failures < habits.maxTries) {
    return { ...unknown(origin), failures, notBefore: later(FIRST_RETRY_MS, failures) }
  }
  const until = later(FIRST_CLOSURE_MS, failures - habits.maxTries + 1)
  if (outcome.ok) return { kind: 'deny', until, failures }
  const message = outcome.message.slice(0, MAX_MESSAGE)
  return { kind: 'unreachable', failed: { code: outcome.code, message }, until, failures }
}

/** On to the next place, on whatever host it is; undefined if that leads nowhere or too far. */
function redirected(asked: Unknown, { headers }: FetchedResponse): Unknown | undefined {
  const location = headers.get('location')
  const ask = location === undefined ? undefined : canonicalizeUrl(location, asked.ask)
  if (ask === undefined || asked.hops >= MAX_HOPS) return undefined
  return { ...asked, ask, hops: asked.hops + 1, notBefore: 0 }
}

function saysNothing({ rules, delay }: Group): boolean {
  return rules.size === 0 && delay === undefined
}

/** The memory that a standing takes beyond the few words that each one does, in bytes. */
export function weightOf(standing: Standing): number {
  switch (standing.kind) {
    case 'rules':
      return standing.group.rules.weight
    case 'unreachable':
      return standing.failed.message.length
    case 'unknown':
      return standing.ask.length + (standing.before === undefined ? 0 : weightOf(standing.before))
    default:
      return 0
  }
}

/** Writes a standing down. */
export function recordOf(origin: string, standing: Known, product: string): RobotsRecord {
  const { kind, until, failures } = standing
  return {
    origin,
    product,
    kind,
    until,
    failures,
    lines: kind === 'rules' ? groupText(standing.group) : undefined,
    failed: kind === 'unreachable' ? standing.failed : undefined,
  }
}

/** Reads a record; undefined if it is incomplete, or was made for another name. */
export function standingFrom(record: RobotsRecord, product: string): Known | undefined {
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
