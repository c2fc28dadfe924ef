/** How many entries were published and scrolled off between two polls. Nothing says so; the windows and dates suggest it. */

import type { FeedLoss } from '../contract.js'
import type { FeedState } from './memory.js'

/** After this time a count weighs half. */
const HALF_LIFE_MS = 20 * 24 * 3_600_000
/** A mistake in a date must not become a million articles. */
const MOST_LOST = 100_000

/** What is known about the window of a poll. */
export interface WindowFacts {
  readonly now: number
  /** Entries in the window, and on older pages if they were read. */
  readonly entries: number
  /** Entries in common with the last window. */
  readonly overlap: number
  /** Dates of the entries, pinned ones excepted; undefined without dates. */
  readonly oldestAt: number | undefined
  readonly newestAt: number | undefined
  /** How far the clock of the feed is ahead of ours. */
  readonly aheadMs: number
}

export const UNKNOWN_LOSS: FeedLoss = {
  overlap: undefined,
  possible: false,
  estimate: 0,
  basis: 'unknown',
  gapMs: undefined,
}

/** What an earlier poll showed. */
type EarlierPoll = Pick<FeedState, 'window' | 'polledAt' | 'newestAt' | 'oldestAt' | 'posts' | 'observedMs'>

/** What was lost since the poll of `state`, which had a window. */
export function lossSince(state: EarlierPoll, facts: WindowFacts): FeedLoss {
  const { overlap } = facts
  if (overlap > 0) return { overlap, possible: false, estimate: 0, basis: 'overlap', gapMs: undefined }
  const gapMs = gapOf(state, facts)
  if (gapMs !== undefined) {
    const estimate = Math.min(MOST_LOST, ratePerMs(state, facts) * gapMs)
    return { overlap, possible: true, estimate, basis: 'dates', gapMs }
  }
  const expected = expectedPosts(state, facts)
  const estimate = Math.min(MOST_LOST, excess(expected, facts.entries))
  return { overlap, possible: true, estimate, basis: 'rate', gapMs: undefined }
}

/** From the last poll, at which nothing newer was there, to the oldest entry of now. */
function gapOf(state: EarlierPoll, facts: WindowFacts): number | undefined {
  const { newestAt } = state
  const { oldestAt, aheadMs } = facts
  const wasEmpty = state.window === 0
  if (oldestAt === undefined || (newestAt === undefined && !wasEmpty)) return undefined
  const polledAt = state.polledAt + aheadMs
  if (!isLate(state, facts)) return Math.max(0, oldestAt - Math.max(polledAt, newestAt ?? 0))
  // From one entry to the next nothing is lost.
  return Math.max(0, oldestAt - newestAt! - 1 / ratePerMs(state, facts))
}

/**
 * Whether new entries are dated before the last poll, which did not show them: the feed is late, and its dates can only be
 * compared with each other.
 */
function isLate({ polledAt, newestAt }: EarlierPoll, { oldestAt, aheadMs }: WindowFacts): boolean {
  return newestAt !== undefined && oldestAt! < polledAt + aheadMs && oldestAt! > newestAt
}

/** An entry that is dated further ahead announces something; that is not the clock. */
const FURTHEST_AHEAD_MS = 14 * 3_600_000

/** How far a feed's clock is ahead of ours, from what earlier polls showed and the newest entry of this one. */
export function clockAhead(knownMs: number, newestAt: number | undefined, now: number): number {
  const aheadMs = newestAt === undefined ? 0 : newestAt - now
  return aheadMs > FURTHEST_AHEAD_MS ? knownMs : Math.max(knownMs, aheadMs)
}

/**
 * From both windows: the last of n entries counted back from now is as old as n intervals, so n − 1 is unbiased. A late feed
 * has one interval less, because the time behind its newest entry is not known.
 */
function ratePerMs(state: EarlierPoll, facts: WindowFacts): number {
  const { now, entries, oldestAt, aheadMs } = facts
  const late = isLate(state, facts)
  let posts = Math.max(0, entries - 1)
  let ms = Math.max(1, (late ? facts.newestAt! : now + aheadMs) - oldestAt!)
  const until = late ? state.newestAt! : state.polledAt + aheadMs
  const spanMs = state.oldestAt === undefined ? 0 : until - state.oldestAt
  if (state.window > 1 && spanMs > 0) {
    posts += state.window - 1
    ms += spanMs
  }
  return (late ? Math.max(1, posts - 1) : posts) / ms
}

/** Entries to be expected since the last poll. Without experience: as many as there are. */
function expectedPosts({ posts, observedMs, polledAt }: EarlierPoll, { now, entries }: WindowFacts): number {
  const rate = observedMs > 0 && posts > 0 ? posts / observedMs : undefined
  return rate === undefined ? entries : Math.max(rate * (now - polledAt), entries / 2)
}

/** Terms of the sum beyond the window: the rest is smaller than what can be known. */
const MOST_TERMS = 10_000

/** E[N − w | N ≥ w] for a Poisson count N. Each term follows from the one before, so nothing overflows. */
export function excess(mean: number, window: number): number {
  if (!(mean > 0)) return 0
  let term = 1
  let chance = 0
  let sum = 0
  for (let beyond = 0; beyond < MOST_TERMS; beyond++) {
    chance += term
    sum += beyond * term
    term *= mean / (window + beyond + 1)
    if (term < chance * 1e-12 && window + beyond > mean) break
    // Large means: scale, because only the ratio counts.
    if (chance > 1e200) {
      term /= chance
      sum /= chance
      chance = 1
    }
  }
  return sum / chance
}

/** Counts with those of another poll. Old counts fade, so that the rate follows the feed. */
export function counted(
  state: Pick<FeedState, 'posts' | 'observedMs'>,
  posts: number,
  ms: number,
): Pick<FeedState, 'posts' | 'observedMs'> {
  const keep = 0.5 ** (Math.max(0, ms) / HALF_LIFE_MS)
  return { posts: state.posts * keep + posts, observedMs: state.observedMs * keep + Math.max(0, ms) }
}
