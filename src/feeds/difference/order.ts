/** The order of entries in a feed: most list the newest first, some the oldest, and some have no order at all. */

import type { Identified } from './identity.js'

/** Pairs in the wrong order, from which there is none: a pinned entry alone breaks only one. */
const LEAST_BREAKS = 2
const BREAK_SHARE = 0.2

export type FeedOrder = 'newest-first' | 'oldest-first' | 'none'

/** The order of the dates; undefined if there are too few to say. */
export function orderOf(entries: readonly Identified[]): FeedOrder | undefined {
  let falling = 0
  let rising = 0
  let last: number | undefined
  for (const { publishedAt } of entries) {
    if (publishedAt === undefined) continue
    if (last !== undefined && publishedAt < last) falling++
    if (last !== undefined && publishedAt > last) rising++
    last = publishedAt
  }
  const breaks = Math.min(falling, rising)
  if (breaks >= LEAST_BREAKS && breaks > BREAK_SHARE * (falling + rising)) return 'none'
  return falling === rising ? undefined : falling > rising ? 'newest-first' : 'oldest-first'
}

/** Whether entries that were there before have changed places: `found` are their places in the last window. */
export function isShuffled(found: readonly number[]): boolean {
  let breaks = 0
  for (let at = 1; at < found.length; at++) if (found[at]! < found[at - 1]!) breaks++
  return breaks >= LEAST_BREAKS && breaks > BREAK_SHARE * (found.length - 1)
}

/** Entries by publication, oldest first. One without a date stays beside its neighbours. */
export function byPublication(entries: readonly Identified[], order: FeedOrder | undefined): Identified[] {
  const sorted = order === 'oldest-first' ? [...entries] : [...entries].reverse()
  let last = Number.NEGATIVE_INFINITY
  const times = new Map(sorted.map((entry) => [entry, (last = entry.publishedAt ?? last)]))
  return sorted.sort((a, b) => compared(times.get(a)!, times.get(b)!))
}

function compared(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}
