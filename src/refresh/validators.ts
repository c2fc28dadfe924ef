/**
 * Conditional requests to servers that may not tell the truth. A 304 saves a download, but a server whose validators do
 * not change with the page would hide all changes for ever. So from time to time a page is fetched without its
 * validators, and its digest shows whether a 304 would have been correct.
 *
 * `trust` accumulates the results of such checks. Below 0 the validators have proved wrong, and are not used until
 * enough unconditional visits have agreed with them. At `PROVED` and above, checks are rarer.
 */

import { parseHttpDate } from '../time.js'
import type { PageRecord } from './contract.js'

const LEAST_TRUST = -8
const MOST_TRUST = 8
/** From this trust on, a server is checked rarely. */
const PROVED = 4
/** What a wrong validator costs: this many unchanged visits that agree must follow before validators are sent again. */
const COST_OF_MISMATCH = 4
/** A page and validators that stay the same prove little; if both change together, they prove more. */
const GAIN_IF_QUIET = 1
const GAIN_IF_CHANGED = 2

const CHECKS_UNTIL_PROVED = 1 / 4
const CHECKS_ONCE_PROVED = 1 / 16

/** What a conditional request sends: `etag` as If-None-Match, `modified` as If-Modified-Since. */
export interface Condition {
  etag?: string
  modified?: string
}

/** The parts of a response that matter for validators. */
export interface Answer {
  readonly status: number
  /** Digest of the canonical content; absent if there was no body to read. */
  readonly digest?: string | undefined
  readonly etag?: string | undefined
  readonly modified?: string | undefined
}

/**
 * The validators to send with the next visit; undefined for an unconditional request, because none are known, because
 * they have proved wrong, or because it is time for a check. `chance` is uniform in [0, 1).
 */
export function conditionOf(record: PageRecord, chance: number): Condition | undefined {
  const { etag, modified, trust = 0 } = record
  if ((!etag && !modified) || trust < 0) return undefined
  const checks = trust >= PROVED ? CHECKS_ONCE_PROVED : CHECKS_UNTIL_PROVED
  // Without a digest, an unconditional response has nothing to be compared with.
  if (record.digest !== undefined && chance < checks) return undefined
  return { ...(etag ? { etag } : {}), ...(modified ? { modified } : {}) }
}

/**
 * What a response says about the page and about the server. The digests decide; if one is missing, the validators do;
 * if those are missing too, the page counts as changed.
 *
 * Validators that differ although the content is the same (an ETag of the time, or of the machine that answered) are of
 * no use, but they hide nothing, so trust does not change.
 */
export function checked(
  record: PageRecord,
  sight: Answer,
  asked: 'conditional' | 'plain',
): { change: 'changed' | 'unchanged'; trust: number | undefined } {
  const { trust } = record
  // This proves nothing: a server with wrong validators answers in the same way.
  if (sight.status === 304) return { change: 'unchanged', trust }
  const validators = compareValidators(record, sight)
  if (record.digest === undefined || sight.digest === undefined) {
    return { change: validators === 'same' ? 'unchanged' : 'changed', trust }
  }
  const change = record.digest === sight.digest ? 'unchanged' : 'changed'
  return { change, trust: trustAfter(trust, change, validators, asked) }
}

function trustAfter(
  trust: number | undefined,
  change: 'changed' | 'unchanged',
  validators: 'same' | 'different' | 'unknown',
  asked: 'conditional' | 'plain',
): number | undefined {
  const before = trust ?? 0
  if (change === 'changed' && validators === 'different')
    return Math.min(before + GAIN_IF_CHANGED, MOST_TRUST)
  // A server that received its validators and sent the page anyway ignores them, which does no harm.
  if (validators !== 'same' || asked === 'conditional') return trust
  if (change === 'unchanged') return Math.min(before + GAIN_IF_QUIET, MOST_TRUST)
  // Trust falls further if validators prove wrong again before it has recovered.
  return Math.max(Math.min(before, 0) - COST_OF_MISMATCH, LEAST_TRUST)
}

/**
 * Whether a server would have answered 304. By RFC 9110 (13.1.3) If-None-Match has precedence and compares weakly, so
 * the date counts only if there is no ETag.
 */
function compareValidators(record: PageRecord, sight: Answer): 'same' | 'different' | 'unknown' {
  if (record.etag && sight.etag) return weak(record.etag) === weak(sight.etag) ? 'same' : 'different'
  if (record.modified && sight.modified) return record.modified === sight.modified ? 'same' : 'different'
  return 'unknown'
}

function weak(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}

/** The web is not older; a date before it is that of a clock which was never set. */
const FIRST_BELIEVED_MS = Date.UTC(1990, 0, 1)
/** A server that reports "now" at every visit does not know when the page changed. */
const AS_GOOD_AS_NOW_MS = 2000

/**
 * The time of a Last-Modified header, if it can be the time of a page's last change. Undefined if it is absent, not an
 * HTTP date, in the future, within two seconds of `now`, or before 1990.
 */
export function lastModifiedMs(header: string | undefined, now: number): number | undefined {
  const ms = header === undefined ? undefined : parseHttpDate(header)
  return ms === undefined || ms < FIRST_BELIEVED_MS || ms >= now - AS_GOOD_AS_NOW_MS ? undefined : ms
}
