import { KumoError } from '../../errors.js'
import { postingOf } from '../../feeds/posting/estimator.js'
import type { PollRecord } from '../../feeds/schedule/contract.js'
import { readState } from '../../stores/level/opening/read-state.js'
import { seededRandom } from '../../time.js'
import { hostOf } from '../../url/canonicalize.js'
import type { FeedWorld, SimulatedFeed } from './contract.js'
import { type PostingHabits, postTimes } from './posting.js'

/** The window of a feed whose records do not say. */
const USUAL_WINDOW = 10
const USUAL_HABITS: PostingHabits = { steadyDays: 50, spread: 0.6, pauses: 0.1, burst: 1.15 }

/** How a crawl's feeds go on. */
export interface RecordedFeeds {
  readonly days: number
  /** Default 1. */
  readonly seed?: number | undefined
}

/** The feeds that a crawl knows, by URL: its estimates are taken as the truth. */
export async function feedsOf(
  records: Iterable<readonly [string, PollRecord]> | AsyncIterable<readonly [string, PollRecord]>,
  { days, seed = 1 }: RecordedFeeds,
): Promise<FeedWorld> {
  const random = seededRandom(seed)
  const feeds: SimulatedFeed[] = []
  for await (const [url, { posting, window }] of records) {
    const { rate } = postingOf(posting, 0, { rate: 0, shape: 1 })
    const mean = rate * days
    const count = Math.floor(mean) + (random.next() < mean % 1 ? 1 : 0)
    feeds.push({
      host: hostOf(url),
      window: window > 0 ? window : USUAL_WINDOW,
      posts: postTimes(random, count, days, USUAL_HABITS),
    })
  }
  if (feeds.length > 0) return { days, feeds }
  throw new KumoError('KUMO_STORE_MISMATCH', 'the crawl follows no feeds: run it with .feeds({ … }) first')
}

/** The feeds that the crawl in a folder follows; those that ended are left out. The crawl may be running. */
export function crawledFeeds(path: string, options: RecordedFeeds): Promise<FeedWorld> {
  return readState(path, async (state) => {
    const stored = state.space('feeds').entries() as AsyncIterable<readonly [string, StoredFeed]>
    return feedsOf(polls(stored), options)
  })
}

/** As much of a stored feed as matters here. */
interface StoredFeed {
  readonly poll: PollRecord
  readonly ended?: true | undefined
}

async function* polls(
  stored: AsyncIterable<readonly [string, StoredFeed]>,
): AsyncGenerator<readonly [string, PollRecord]> {
  for await (const [url, { poll, ended }] of stored) if (ended !== true) yield [url, poll]
}
