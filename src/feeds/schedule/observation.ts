import type { Feed, FeedDifference } from '../contract.js'
import type { PollObservation } from './contract.js'

/** What a poll's response says besides the feed itself. */
export interface PollFacts {
  readonly at: number
  /** The response was a delta (226). */
  readonly delta?: boolean | undefined
  readonly notBefore?: number | undefined
  readonly visitIntervalMs?: number | undefined
}

/** The observation of a poll that was answered with a feed. */
export function observationOf(feed: Feed, difference: FeedDifference, facts: PollFacts): PollObservation {
  const { loss, first } = difference
  // Nothing scrolls off, or nobody can say, because there is no order. A feed that was empty before is neither.
  const isUnordered = loss.basis === 'unknown' && loss.overlap !== undefined
  const unbounded = feed.hints.complete || (!first && !facts.delta && isUnordered && difference.window > 0)
  return {
    at: facts.at,
    outcome: facts.delta ? 'delta' : 'feed',
    first,
    fresh: difference.new.length,
    recovered: difference.recovered,
    window: facts.delta ? 0 : difference.window,
    overlaps: !loss.possible,
    unbounded,
    loss,
    published: difference.new.map(({ published }) =>
      published === undefined ? Number.NaN : Date.parse(published),
    ),
    notBefore: facts.notBefore,
    hints: feed.hints,
    visitIntervalMs: facts.visitIntervalMs,
  }
}

/** The observation of a poll that was answered 304, or not at all. */
export function emptyObservation(outcome: 'not-modified' | 'failed', facts: PollFacts): PollObservation {
  return {
    at: facts.at,
    outcome,
    first: false,
    fresh: 0,
    recovered: 0,
    window: 0,
    overlaps: true,
    unbounded: false,
    published: [],
    notBefore: facts.notBefore,
    visitIntervalMs: facts.visitIntervalMs,
  }
}
