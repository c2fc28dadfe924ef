/** How to ask for a feed, and how long to leave it alone: what HTTP says about it. */

import { retryAfterMs } from '../../time.js'
import type { FeedQuestion, FeedRecord, HeaderLookup } from './contract.js'

const DAY_MS = 86_400_000
const SECOND_MS = 1000

/** Feeds first: some servers choose between a page and a feed at one URL. */
const ACCEPT =
  'application/atom+xml,application/rss+xml,application/feed+json,application/rdf+xml,application/xml;q=0.9,text/xml;q=0.9,*/*;q=0.8'

/**
 * A feed that should have posted this often since its last full response, and answered 304 to all polls since then, is asked
 * for all of it: the chance that it posted nothing is 1 in 20,000, and servers and caches that answer 304 by mistake exist.
 */
const SUSPICIOUS_POSTS = 10

/**
 * The conditions of a poll. They are those of the last response that had a body: a validator that a later response did not
 * repeat is stale, and a server that gets it would answer for a version that nobody has.
 */
export function askFor(record: FeedRecord | undefined, now: number): FeedQuestion {
  const headers: Record<string, string> = record?.kind === undefined ? {} : { accept: ACCEPT }
  if (record === undefined) return { headers }
  const { etag, modified, fullAt = now, fullPerDay = 0 } = record
  if (etag === undefined && modified === undefined) return { headers }
  if ((fullPerDay * (now - fullAt)) / DAY_MS >= SUSPICIOUS_POSTS) return { headers }
  // A delta (RFC 3229) is relative to a version, which only an entity tag names.
  if (etag !== undefined) headers['a-im'] = 'feed'
  return { headers, known: { etag, modified } }
}

/** Cache-Control and Retry-After as an instant; undefined if neither asks for anything. */
export function leastPause(headers: HeaderLookup, at: number, maxMs: number): number | undefined {
  const cached = maxAgeMs(headers.get('cache-control'), headers.get('age'))
  const asked = retryAfterMs(headers.get('retry-after'), at) ?? 0
  const pauseMs = Math.min(Math.max(cached, asked), maxMs)
  return pauseMs > 0 ? at + pauseMs : undefined
}

/** How long a response is fresh. What must be validated each time may also be asked for each time. */
function maxAgeMs(cacheControl: string | undefined, age: string | undefined): number {
  if (cacheControl === undefined || /\bno-(?:cache|store)\b/i.test(cacheControl)) return 0
  const seconds = /(?:^|[\s,])max-age\s*=\s*"?(\d+)/i.exec(cacheControl)?.[1]
  if (seconds === undefined) return 0
  const used = age !== undefined && /^\d+$/.test(age.trim()) ? Number(age) : 0
  return Math.max(0, Number(seconds) - used) * SECOND_MS
}
