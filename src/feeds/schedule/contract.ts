import type { Duration } from '../../time.js'
import type { FeedHints, FeedLoss } from '../contract.js'

/**
 * When feeds are polled again. A feed shows only its newest entries: polled too rarely it loses articles (LA), polled too
 * often it brings nothing new (FA, futile accesses). The steps for a feed: what a poll observed → how it posts
 * (estimator) → its index, which grows with the time since the last poll → it is due when its index reaches the price ν.
 * One price for all feeds divides the budget so that one more poll saves the same everywhere.
 *
 * Nothing here knows a clock, a socket or a store: times are passed in, records are passed in and out. So the simulator
 * runs the same objects. Times are in ms, rates per day.
 *
 * Who does what:
 * - A shard has one `PollScheduler`. The engine calls `remember` for each stored record at the start, `polled` at each
 *   settlement, and stores the record together with the settlement.
 * - The program's side has one `PollBudget` for all shards. From time to time (a minute is a good period) it gets
 *   `report()` from each shard and sends back `price(now)`, which the shard passes to `setPrice`.
 * - A run on one thread has both.
 */

/** `complete`: lose few articles. `fresh`: report them soon. `gentle`: ask for nothing in vain. */
export type PollAim = 'complete' | 'fresh' | 'gentle'

/** What a user may say about polling: the part of `.feeds({ … })` that `pollRules` reads. */
export interface PollOptions {
  /** Polls of all feeds together: `'2000/day'`, `'10/minute'`. Without it, `lost` decides. */
  readonly budget?: string | undefined
  /** The share of articles that may be lost, instead of a budget: `'1%'` or 0.01. Default 1 %. */
  readonly lost?: string | number | undefined
  /** Shortest time between two polls of a feed. Default 15 minutes. */
  readonly min?: Duration | undefined
  /** Longest time between two polls of a feed. Default 30 days. */
  readonly max?: Duration | undefined
  /** Default `complete`. */
  readonly aim?: PollAim | undefined
}

/** The same, validated and in its final unit. */
export interface PollRules {
  /** Undefined: `lost` decides. */
  readonly budgetPerDay: number | undefined
  /** Share of articles, above 0 and below 1. Undefined if there is a budget. */
  readonly lost: number | undefined
  readonly minMs: number
  readonly maxMs: number
  readonly aim: PollAim
}

/**
 * Why a feed is polled at that time. `learning`: nothing is known about it yet. `index`: one more poll is worth its price.
 * `min`, `max`: the shortest or longest interval. `notBefore`: Cache-Control or Retry-After. `hint`: the feed says that it
 * does not change earlier (ttl, skipHours, skipDays, update period). `backoff`: the last polls failed.
 */
export type PollReason = 'learning' | 'index' | 'min' | 'max' | 'notBefore' | 'hint' | 'backoff'

/** What one poll showed. `observationOf` makes it from a `FeedDifference`. */
export interface PollObservation {
  /** When the response came. */
  readonly at: number
  /**
   * `feed`: its window. `not-modified`: 304, nothing new. `delta`: 226, only what is new, so nothing is lost. `failed`: the
   * poll shows nothing about the feed; retries of the same poll count as one.
   */
  readonly outcome: 'feed' | 'not-modified' | 'delta' | 'failed'
  /** There was nothing to compare with: what the feed shows is not what it posted since the last poll. */
  readonly first: boolean
  /** New entries since the last poll, those recovered from older pages included. On the first poll: entries shown. */
  readonly fresh: number
  /** Of them, recovered from older pages. */
  readonly recovered: number
  /** Entries that the feed shows. 0: not known (failed, not modified, an empty feed). */
  readonly window: number
  /**
   * Whether the window has an entry in common with the last one. False: the observation is censored, at least `fresh` entries were
   * posted. Always true after a successful recovery, and where nothing can scroll off (`delta`, complete feeds).
   */
  readonly overlaps: boolean
  /** The feed shows all entries, or shows them in no order: losses cannot be seen, and are not planned for. */
  readonly unbounded: boolean
  /** What `compareFeed` says was lost. */
  readonly loss?: FeedLoss | undefined
  /** Publication of the new entries (on the first poll: of all) in ms; wrong and unreadable ones do no harm. */
  readonly published: readonly number[]
  /** Cache-Control and Retry-After: never poll it before this time. */
  readonly notBefore?: number | undefined
  /** What the feed says about itself: weak advice, which only ever delays a poll, and not by much. */
  readonly hints?: Pick<FeedHints, 'intervalMs' | 'skipHours' | 'skipDays'> | undefined
  /** The visit interval of the host (its own if that is longer than the crawl's). Feeds of a host share it. */
  readonly visitIntervalMs?: number | undefined
}

/** What is stored about the polls of a feed, as JSON: about 250 characters. It carries no URL. */
export interface PollRecord {
  /** The last poll, whether or not it failed. */
  readonly at: number
  /** The last poll that showed what the feed has: the next count starts here. 0: none yet. */
  readonly seenAt: number
  /** When it was planned to be polled, at the price of that time, and why then. */
  readonly due: number
  readonly why: PollReason
  /** Entries that it shows; 0: not known. */
  readonly window: number
  /** Losses cannot be seen: see `PollObservation.unbounded`. */
  readonly unbounded?: true | undefined
  /** What the estimator knows: 9 numbers, or none before the first poll. */
  readonly posting: readonly number[]
  /** Failed polls in a row. */
  readonly failures?: number | undefined
  readonly notBefore?: number | undefined
  /** Soft least interval. */
  readonly hintMs?: number | undefined
  /** Hours (0–23, UTC) and days (0–6 from Sunday) in which the feed says it does not change, as bits. */
  readonly skipHours?: number | undefined
  readonly skipDays?: number | undefined
  /** The last poll may have missed articles: what the next one needs to estimate how many. */
  readonly gap?:
    | readonly [
        days: number,
        shown: number,
        gapDays: number,
        rateBefore: number,
        estimate: number,
        shapeBefore?: number,
        burst?: number,
      ]
    | undefined
  readonly account: PollAccount
}

/** When to poll a feed again. */
export interface NextPoll {
  /** Store it together with the settlement. */
  readonly record: PollRecord
  /**
   * When to lease it. When it is leased, ask `isDue`, because the price may have changed; if it is not due, settle the lease without a
   * visit, at `dueAt`. The time is somewhat before `record.due`, so that a price that fell is noticed; a poll is leased about
   * twice, and visited once.
   */
  readonly at: number
  readonly why: PollReason
}

/** Counts of polls. Those of feeds and shards add up (`addAccounts`). */
export interface PollAccount {
  /** Polls that were answered. */
  readonly polls: number
  /** Polls that failed. */
  readonly failed: number
  /** New entries, recovered ones included; what the first poll shows does not count. */
  readonly fresh: number
  readonly recovered: number
  /** FA: polls that brought nothing new, those answered 304 left out. */
  readonly futile: number
  /** FA at a lower cost: answered 304. */
  readonly notModified: number
  /** LA, estimated: from dates, and from the rate of posting. */
  readonly lostByDates: number
  readonly lostByRate: number
  /** Polls after which entries may have been lost. */
  readonly gaps: number
  /** Sum of the times from publication to poll in ms, and of how many entries: those with a date that can be true. */
  readonly delayMs: number
  readonly delays: number
}

/** What is known about a feed, in words and units for people. */
export interface PollOutlook {
  readonly account: PollAccount
  /** LA: `account.lostByDates + account.lostByRate`. */
  readonly lost: number
  readonly window: number
  /** Articles per day, estimated. */
  readonly perDay: number
  /**
   * The burst term: variance of the number of articles in the next interval ÷ its mean. 1: they come independently; 5: in bursts,
   * or little is known yet.
   */
  readonly burst: number
  /** Mean time from publication to poll; undefined without dates. */
  readonly delayMs: number | undefined
  readonly nextAt: number
  readonly why: PollReason
}

/** Expected per day, at each price of the grid of `prices.ts`: one number a price, rising price. */
export interface PriceCurve {
  readonly polls: readonly number[]
  readonly lost: readonly number[]
  readonly futile: readonly number[]
}

/** What a shard reports to the program's side. Plain data; reports of shards add up. */
export interface PollReport {
  readonly feeds: number
  /** Articles per day, estimated. */
  readonly perDay: number
  readonly curve: PriceCurve
  /** The price that the shard has. */
  readonly price: number
  /** Since the shard started: polls of feeds that had been polled before. First polls cost what they must. */
  readonly spent: number
  /** Since the shard started: polls of feeds that had not. */
  readonly firstPolls: number
  /** Since the shard started. */
  readonly account: PollAccount
  /** Hosts with more polls than their visit interval allows, the worst first, 10 at most. */
  readonly crowded: readonly CrowdedHost[]
  readonly crowdedHosts: number
  /** Polls per day that those hosts do not allow. */
  readonly refusedPerDay: number
}

/** A host whose feeds cannot be polled as often as planned. */
export interface CrowdedHost {
  readonly host: string
  readonly feeds: number
  readonly wantedPerDay: number
  readonly possiblePerDay: number
}

/** What the budget buys. */
export interface PollFeasibility {
  readonly feeds: number
  readonly articlesPerDay: number
  /** Polls per day: the budget if there is one, and what is planned. Less is planned if more would bring nothing. */
  readonly budgetPerDay: number | undefined
  readonly pollsPerDay: number
  /** Expected per day, at that number of polls. */
  readonly lostPerDay: number
  readonly futilePerDay: number
  /** The share of articles that is lost. */
  readonly lostShare: number
  /** Polls per day that would lose no more than `lostShare` of the rules (1 % if there is a budget). Infinity: `min` forbids it. */
  readonly budgetForTarget: number
  /** Polls per day that would lose (almost) none: one article in ten thousand. Infinity: `min` forbids it. */
  readonly budgetForNone: number
  /** Polls per day with every feed at `max` and at `min`: less and more is impossible. */
  readonly leastPerDay: number
  readonly mostPerDay: number
  readonly price: number
  /** What can be had for other budgets: the front of (LA, FA), from few polls to many. */
  readonly front: readonly { readonly polls: number; readonly lost: number; readonly futile: number }[]
  readonly crowded: readonly CrowdedHost[]
  readonly crowdedHosts: number
  readonly refusedPerDay: number
  /** Whether the budget (or target) can be kept and the hosts allow it. */
  readonly feasible: boolean
  /** If not, the reason as a sentence, with what to do about it. */
  readonly why: string | undefined
}

/** A shard's schedule of feeds. `PollSchedule` implements it. */
export interface PollScheduler {
  readonly rules: PollRules
  /** Feeds that it knows: `remember`ed or polled, and not forgotten. */
  readonly feeds: number
  readonly price: number
  /** A poll ended. `before` is the record of the feed, undefined if it has none. */
  polled(host: string, before: PollRecord | undefined, observation: PollObservation): NextPoll
  /** When it is due at the current price. Never before `notBefore`, never later than the longest interval allows. */
  dueAt(record: PollRecord): number
  /** `dueAt(record) <= now`. A clock that was set back does not delay a poll by more than the longest interval. */
  isDue(record: PollRecord, now: number): boolean
  /** Takes effect for a feed when it is next polled or leased. */
  setPrice(price: number): void
  /** Counts a feed that was known before this run, or came from another shard. */
  remember(host: string, record: PollRecord): void
  /** The feed ended (410, moved) or goes to another shard. */
  forget(host: string, record: PollRecord): void
  /** For the program's side. Takes a few ms for a million feeds. */
  report(): PollReport
  /** For `inspect` and statistics. */
  outlook(record: PollRecord): PollOutlook
}

/** Holds the budget of all shards. `FeedBudget` implements it. */
export interface PollBudget {
  /** Replaces the last report of that shard. */
  report(shard: number, report: PollReport): void
  /** The shard ended; its feeds are reported by others from now on. */
  left(shard: number): void
  /** The price for all shards. The time is that of a clock which does not go back. */
  price(now: number): number
  feasibility(): PollFeasibility
  /** Of all shards, since the start. */
  account(): PollAccount
}
