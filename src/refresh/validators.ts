/**
 * Conditional requests to servers that may not tell the truth. A 304 saves a download, but a server whose validators do
 * not change with the page would hide all its changes for ever. So now and then a page is read as a whole although
 * its validators are known, and its digest shows whether a 304 would have been true.
 *
 * `trust` is what such checks add up to. Below 0 the validators have lied, and are not used until enough plain
 * visits have agreed with them. At `PROVED` and above checks are rarer.
 */

import { parseHttpDate } from '../time.js'
import type { PageRecord } from './contract.js'

const LEAST_TRUST = -8
const MOST_TRUST = 8
/** From here on a server is checked rarely. */
const PROVED = 4
/** What a lie costs: so many quiet visits that agree have to follow it before a validator is sent again. */
const COST_OF_LIE = 4
/** A page and its validators that stay the same prove little, those that change together more. */
const GAIN_IF_QUIET = 1
const GAIN_IF_CHANGED = 2

const CHECKS_UNTIL_PROVED = 1 / 4
const CHECKS_ONCE_PROVED = 1 / 16

/** What a conditional request sends: `etag` as If-None-Match, `modified` as If-Modified-Since. */
export interface Condition {
  etag?: string
  modified?: string
}

/** An answer, as far as validators are concerned. */
export interface Answer {
  readonly status: number
  /** Of the canonical content; absent where there was no body to read. */
  readonly digest?: string | undefined
  readonly etag?: string | undefined
  readonly modified?: string | undefined
}

/**
 * The validators to send with the next visit; undefined for a plain request, because none are known, because they have
 * lied, or because it is time for a check. `chance` is uniform in [0, 1).
 */
export function conditionOf(record: PageRecord, chance: number): Condition | undefined {
  const { etag, modified, trust = 0 } = record
  if ((!etag && !modified) || trust < 0) return undefined
  const checks = trust >= PROVED ? CHECKS_ONCE_PROVED : CHECKS_UNTIL_PROVED
  // Without a digest a plain answer has nothing to be compared with.
  if (record.digest !== undefined && chance < checks) return undefined
  return { ...(etag ? { etag } : {}), ...(modified ? { modified } : {}) }
}

/**
 * What an answer says about the page, and about the server. The digests decide; where one is missing the validators
 * do, and where those are missing too, the page counts as changed.
 *
 * Validators that differ although the content is the same (an ETag of the time, or of the machine that answered) are of
 * no use, but they hide nothing: trust stays as it is.
 */
export function checked(
  record: PageRecord,
  sight: Answer,
  asked: 'conditional' | 'plain',
): { change: 'changed' | 'unchanged'; trust: number | undefined } {
  const { trust } = record
  // It proves nothing: a server that lies answers in the same way.
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
  // A server that was given its validators and sent the page nonetheless does not heed them: no harm is done.
  if (validators !== 'same' || asked === 'conditional') return trust
  if (change === 'unchanged') return Math.min(before + GAIN_IF_QUIET, MOST_TRUST)
  // Who lies again before the last lie is forgotten, falls deeper.
  return Math.max(Math.min(before, 0) - COST_OF_LIE, LEAST_TRUST)
}

/**
 * Whether a server would have answered 304. By RFC 9110 (13.1.3) If-None-Match has precedence, and it compares weakly,
 * so the date counts only where an ETag is missing.
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
/** A server that says "now" at every visit does not know when the page changed. */
const AS_GOOD_AS_NOW_MS = 2000

/**
 * The instant that a Last-Modified header names, if it can be the time of a page's last change: undefined where it is
 * absent, no HTTP date, in the future, within two seconds of `now`, or before 1990.
 */
export function lastModifiedMs(header: string | undefined, now: number): number | undefined {
  const ms = header === undefined ? undefined : parseHttpDate(header)
  return ms === undefined || ms < FIRST_BELIEVED_MS || ms >= now - AS_GOOD_AS_NOW_MS ? undefined : ms
}
