/**
 * The rule for pages that are missing. A 410 is meant as such; a 404 may come from a server in the middle of a move, so
 * it takes two of them; and a failure says nothing about the page at all, so it takes the most. A page that is gone is
 * not forgotten: it is visited less and less often, because many pages come back.
 */

import type { PageRecord } from './contract.js'

/** What a visit got instead of a page: 410, 404, or no usable response after all retries. */
export type CountedMiss = 'gone' | 'not-found' | 'failed'

/**
 * The weight of a miss, and the total of consecutive misses that makes a page gone: one 410, two 404s or four failures.
 */
const WEIGHTS: Readonly<Record<CountedMiss, number>> = { gone: 4, 'not-found': 2, failed: 1 }
const GONE = 4

/**
 * A page that was missed is visited again after its interval divided by this: its absence may be a change, but is often
 * an accident.
 */
const MISSED_DIVISOR = 8

/** The first interval of a gone page is at least the longest interval divided by this. */
const GONE_DIVISOR = 4
/** The interval of a gone page is at most the longest interval times this. */
const GONE_FACTOR = 16

/** The record's counts after a visit found no page. A page that is gone stays gone. */
export function missed(record: PageRecord, how: CountedMiss): { misses: number; isGone: boolean } {
  const misses = (record.misses ?? 0) + WEIGHTS[how]
  return { misses, isGone: record.gone !== undefined || misses >= GONE }
}

/**
 * The time until the next visit to a page that was missed but is not gone yet. `everyMs`: its interval while it exists.
 */
export function missedIntervalMs(everyMs: number, minMs: number): number {
  return Math.max(everyMs / MISSED_DIVISOR, minMs)
}

/**
 * The time until the next visit to a gone page; it doubles with each try. `tries`: those since it is gone, 0 at first.
 */
export function goneIntervalMs(tries: number, everyMs: number, maxMs: number): number {
  const first = Math.max(everyMs, maxMs / GONE_DIVISOR)
  return Math.min(first * 2 ** Math.min(tries, 64), GONE_FACTOR * maxMs)
}
