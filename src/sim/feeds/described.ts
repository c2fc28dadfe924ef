import { invalidOption } from '../../errors.js'
import { seededRandom } from '../../time.js'
import { normalQuantile } from '../refresh/chance.js'
import type { FeedWorld, SimulatedFeed } from './contract.js'
import { type PostingHabits, postTimes } from './posting.js'

/** A short description of feeds. */
export interface FeedDescription {
  readonly feeds: number
  /** Articles per day: the median over feeds, and the standard deviation of the logarithms. Default 0.1 and 1.5. */
  readonly perDay?: number | undefined
  readonly spread?: number | undefined
  /** Share of feeds that never post. Default 0.4. */
  readonly silent?: number | undefined
  /** Entries that a feed shows. Default 10. */
  readonly window?: number | undefined
  /** How many feeds share a host. Default 1. */
  readonly feedsPerHost?: number | undefined
  /** How irregular posting is. Default: rates that change every 50 days on average, a few pauses, small bursts. */
  readonly habits?: PostingHabits | undefined
  readonly days: number
  /** Default 1. */
  readonly seed?: number | undefined
}

const USUAL_HABITS: PostingHabits = { steadyDays: 50, spread: 0.6, pauses: 0.1, burst: 1.15 }
/** More articles than this would not fit in memory. */
const MOST_ARTICLES = 50_000_000

/**
 * Generates feeds from a description; the same seed gives the same feeds.
 *
 * ```ts
 * const world = describeFeeds({ feeds: 1000, perDay: 0.5, window: 10, days: 90 })
 * ```
 */
export function describeFeeds(description: FeedDescription): FeedWorld {
  const { feeds, perDay = 0.1, spread = 1.5, silent = 0.4, window = 10, feedsPerHost = 1, days } = description
  const random = seededRandom(description.seed ?? 1)
  const habits = description.habits ?? USUAL_HABITS
  let total = 0
  return {
    days,
    feeds: Array.from({ length: feeds }, (_, at): SimulatedFeed => {
      const rate = random.next() < silent ? 0 : perDay * Math.exp(spread * normal(random.next()))
      const count = poisson(rate * days, random.next())
      total += count
      if (total > MOST_ARTICLES)
        throw invalidOption('perDay', perDay, `at most ${MOST_ARTICLES.toLocaleString('en')} articles in all`)
      return {
        host: `host-${Math.floor(at / feedsPerHost) + 1}.example`,
        window,
        posts: postTimes(random, count, days, habits),
      }
    }),
  }
}

/** The spread of feeds is bounded, so that one of them does not post more than all others. */
function normal(share: number): number {
  return Math.min(3.5, Math.max(-3.5, normalQuantile(Math.min(1 - 1e-9, Math.max(1e-9, share)))))
}

/** A Poisson number: exact for small means, rounded from a normal one for large means. */
function poisson(mean: number, share: number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(share)))
  let n = 0
  let chance = Math.exp(-mean)
  let below = chance
  while (share > below && n < 1000) {
    n++
    chance *= mean / n
    below += chance
  }
  return n
}
