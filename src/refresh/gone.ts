/**
 * The rule for pages that are not there. A server that says 410 means it; one that says 404 may be in the middle of a
 * move, so it is asked twice; and one that fails says nothing of the page at all, so it is given the longest time.
 * A page that is gone is not forgotten: it is tried ever more rarely, since many come back.
 */

import type { PageRecord } from './contract.js'

/** What a visit met with instead of a page: 410, 404, or no answer that counts after all its retries. */
export type Miss = 'gone' | 'not-found' | 'failed'

/** What a miss weighs, and how much in a row makes a page gone: a word from the server, two that it is not there, or four failures. */
const WEIGHTS: Readonly<Record<Miss, number>> = { gone: 4, 'not-found': 2, failed: 1 }
const GONE = 4

/** A missed page is looked for after this part of its interval: its absence may be a change, and often is a mishap. */
const PART_UNTIL_NEXT_LOOK = 8

/** The first interval of a gone page is at least this part of the longest interval. */
const PART_WHEN_GONE = 4
/** No gone page waits longer than so many times the longest interval. */
const MOST_WHEN_GONE = 16

/** What a record says once a visit has found no page. A page that is gone already stays so. */
export function missed(record: PageRecord, how: Miss): { misses: number; isGone: boolean } {
  const misses = (record.misses ?? 0) + WEIGHTS[how]
  return { misses, isGone: record.gone !== undefined || misses >= GONE }
}

/** How long a page that was missed, but is not gone yet, is left alone. `everyMs`: its interval while it is there. */
export function missedIntervalMs(everyMs: number, minMs: number): number {
  return Math.max(everyMs / PART_UNTIL_NEXT_LOOK, minMs)
}

/** How long a gone page is left alone: twice as long after each try. `tries`: those since it is gone, 0 at first. */
export function goneIntervalMs(tries: number, everyMs: number, maxMs: number): number {
  const first = Math.max(everyMs, maxMs / PART_WHEN_GONE)
  return Math.min(first * 2 ** Math.min(tries, 64), MOST_WHEN_GONE * maxMs)
}
