import type { FeedReport, FeedStats } from '../../feeds/follow/contract.js'
import type { PollAccount } from '../../feeds/schedule/contract.js'

const NO_POLLS: PollAccount = Object.freeze({
  polls: 0,
  failed: 0,
  fresh: 0,
  recovered: 0,
  futile: 0,
  notModified: 0,
  lostByDates: 0,
  lostByRate: 0,
  gaps: 0,
  delayMs: 0,
  delays: 0,
})

export const NO_FEEDS: FeedStats = Object.freeze({
  feeds: 0,
  failing: 0,
  ended: 0,
  total: NO_POLLS,
  price: 0,
  feasibility: undefined,
  listed: [],
})

/** Feeds to list in all. */
const LISTED = 20

/** Adds the counts of a feed, or takes them away. */
export function addFeedCounts(sum: PollAccount, account: PollAccount, sign: 1 | -1): PollAccount {
  const added: { -readonly [Name in keyof PollAccount]: number } = { ...sum }
  for (const name of Object.keys(NO_POLLS) as (keyof PollAccount)[]) added[name] += sign * account[name]
  return added
}

/** The statistics of all shards. The feasibility is that of the whole crawl, which no shard knows. */
export function mergeFeedStats(all: readonly FeedStats[]): FeedStats | undefined {
  if (all.length === 0) return undefined
  return all.reduce((one, other) => ({
    feeds: one.feeds + other.feeds,
    failing: one.failing + other.failing,
    ended: one.ended + other.ended,
    total: addFeedCounts(one.total, other.total, 1),
    price: Math.max(one.price, other.price),
    feasibility: one.feasibility ?? other.feasibility,
    listed: [...one.listed, ...other.listed].sort(byLoss).slice(0, LISTED),
  }))
}

/** The order in which feeds are listed. */
export function byLoss(one: FeedReport, other: FeedReport): number {
  return other.lost - one.lost || other.account.fresh - one.account.fresh
}
