/**
 * A world drawn to the published statistics of Soejima et al. (2007): 10,000 sites, 200 days, 223,569 articles, 58.6 % of
 * sites that post, at most 1,081 articles, and the sizes of groups in tables 1 to 3. How articles spread over time is not
 * published; it is drawn with rates that change and bursts, so that regrouping helps as much as in the paper.
 */

import type { FeedWorld } from '../../src/sim/feeds/contract.js'
import { type PostingHabits, postTimes } from '../../src/sim/feeds/posting.js'
import { seededRandom } from '../../src/time.js'

export const SITES = 10_000
export const DAYS = 200
const ARTICLES = 223_569
const POSTING = 5860
const MOST = 1081

const HABITS: PostingHabits = { steadyDays: 50, spread: 0.6, pauses: 0.1, burst: 1.15 }

/**
 * Points of the curve of articles by rank that follow from tables 1 to 3: slices of the maximum (split b) count the sites
 * above 216, 270, 432, …; groups of equal totals (split c) give the means between ranks.
 */
const RANKS: readonly (readonly [rank: number, articles: number])[] = [
  [1, 1081],
  [2, 850],
  [3, 480],
  [12, 275],
  [36, 217],
  [231, 155],
  [309, 142],
  [592, 104],
  [830, 85],
  [1124, 68],
  [1739, 43],
  [2023, 36],
  [3000, 17.5],
  [4000, 7.6],
  [5000, 3],
  [5860, 0.9],
]

/** The number of articles of each site, busiest first. */
function counts(jitter: () => number): number[] {
  const numbers: number[] = []
  for (let rank = 1; rank <= POSTING; rank++) {
    const next = RANKS.findIndex(([at]) => at >= rank)
    const [toRank, to] = RANKS[next]!
    const [fromRank, from] = RANKS[Math.max(0, next - 1)]!
    const share = toRank === fromRank ? 0 : Math.log(rank / fromRank) / Math.log(toRank / fromRank)
    numbers.push(from * (to / from) ** share * (rank <= 3 ? 1 : 1 + 0.1 * (jitter() - 0.5)))
  }
  // Rounding and jitter change the total; the middle of the curve makes up for it.
  for (let round = 0; round < 20; round++) {
    const total = numbers.reduce((sum, each) => sum + Math.max(1, Math.round(each)), 0)
    const factor = 1 + (ARTICLES - total) / numbers.slice(36).reduce((sum, each) => sum + each, 0)
    for (let at = 36; at < numbers.length; at++) numbers[at]! *= factor
  }
  const rounded = numbers.map((each) => Math.min(MOST, Math.max(1, Math.round(each))))
  const missing = ARTICLES - rounded.reduce((sum, each) => sum + each, 0)
  for (let at = 0; at < Math.abs(missing); at++) rounded[1000 + (at % 2000)]! += Math.sign(missing)
  return [...rounded, ...Array.from({ length: SITES - POSTING }, () => 0)]
}

/** The same seed gives the same world. Sites are in no order. */
export function weblogs(seed: number, window: number, habits: PostingHabits = HABITS): FeedWorld {
  const random = seededRandom(seed)
  const numbers = counts(() => random.next())
  for (let at = numbers.length - 1; at > 0; at--) {
    const other = Math.floor(random.next() * (at + 1))
    ;[numbers[at], numbers[other]] = [numbers[other]!, numbers[at]!]
  }
  const feeds = numbers.map((count, at) => ({
    host: `site-${at}.example`,
    window,
    posts: postTimes(random, count, DAYS, habits),
  }))
  return { days: DAYS, feeds }
}
