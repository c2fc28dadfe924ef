/**
 * Polling of feeds in virtual time: the schedule and the budget are those of a real crawl, only the feeds are simulated. The
 * result is a forecast, and the truth beside what the crawl would believe.
 */

import type { PollAccount, PollFeasibility, PollRules } from '../../feeds/schedule/contract.js'

/** A feed and everything that it posts. */
export interface SimulatedFeed {
  readonly host: string
  /** Entries that it shows. */
  readonly window: number
  /** When it posts, in days from the start, in rising order. */
  readonly posts: Float64Array
}

/** All feeds, for some time. */
export interface FeedWorld {
  readonly days: number
  readonly feeds: readonly SimulatedFeed[]
}

/** How a world is polled. */
export interface FeedSimulation {
  /** From `pollRules({ … })`. */
  readonly rules: PollRules
  /** Time at the start that is not scored. Default 0. */
  readonly learnDays?: number
  /** In that time, all feeds are polled at every step, whatever the budget. Default false. */
  readonly watch?: boolean
  /** Polls happen at multiples of this time. Default: the shortest interval of the rules. */
  readonly stepMs?: number
  /** Whether entries carry dates. Default true. */
  readonly dated?: boolean
  /** The visit interval of hosts. Default 1 second. It is reported, not simulated. */
  readonly visitIntervalMs?: number
}

/** What came of it in the scored time. */
export interface FeedForecast {
  readonly days: number
  readonly feeds: number
  /** Articles posted. */
  readonly articles: number
  readonly polls: number
  /** LA and FA as they are. */
  readonly lost: number
  readonly futile: number
  /** LA as the crawl estimates it. */
  readonly lostEstimate: number
  /** Mean time from publication to poll of the articles that were seen, in ms. */
  readonly delayMs: number
  /** What the crawl counted. */
  readonly account: PollAccount
  /** Forecast at the start of the scored time. */
  readonly feasibility: PollFeasibility
}
