/** Feeds whose posts follow known processes, and a server's true account of what its polls showed. */

import { seededRandom } from '../../src/time.js'

export const DAY_MS = 86_400_000

export interface LiveFeedsOptions {
  readonly feeds: number
  /** Entries that feeds show, in turn. */
  readonly windows: readonly number[]
  /** Articles per day, equally many feeds in each octave between these. */
  readonly slowest: number
  readonly fastest: number
  /** Every second feed posts in bursts of this mean size. */
  readonly burst: number
  readonly days: number
  readonly seed: number
}

/** Counts since the start. */
export interface TrueCounts {
  readonly polls: number
  /** Polls that showed nothing new, first polls left out. */
  readonly futile: number
  /** Articles that came and went between two polls. */
  readonly lost: number
}

/** What a server answers to one poll. */
export interface FeedAnswer {
  /** Changes with every post. */
  readonly etag: string
  readonly xml: string
}

/** Feeds have posted for a while when they are first polled. */
const HISTORY_DAYS = 60

export class LiveFeeds {
  readonly #options: LiveFeedsOptions
  readonly #start: number
  /** The times of all posts of each feed, ascending, in ms since the start. */
  readonly #posts: readonly (readonly number[])[]
  /** Posts of each feed at its last poll; undefined before the first. */
  readonly #counts: (number | undefined)[]
  /** Every entry that was in a window which was polled. */
  readonly shown = new Set<string>()
  #polls = 0
  #futile = 0
  #lost = 0

  constructor(options: LiveFeedsOptions, start: number) {
    this.#options = options
    this.#start = start
    this.#posts = posts(options)
    this.#counts = this.#posts.map(() => undefined)
  }

  get counts(): TrueCounts {
    return { polls: this.#polls, futile: this.#futile, lost: this.#lost }
  }

  /** Articles per day over the whole time. */
  get perDay(): number {
    const all = this.#posts.flat().filter((at) => at > 0).length
    return all / this.#options.days
  }

  poll(feed: number, now: number): FeedAnswer {
    const times = this.#posts[feed]!
    const { windows } = this.#options
    const window = windows[feed % windows.length]!
    const count = countUntil(times, now - this.#start)
    const before = this.#counts[feed]
    this.#counts[feed] = count
    this.#polls++
    if (before !== undefined) {
      if (count === before) this.#futile++
      this.#lost += Math.max(0, count - before - window)
    }
    const items: string[] = []
    for (let post = count - 1; post >= Math.max(0, count - window); post--) {
      const id = `${feed}-${post}`
      this.shown.add(id)
      const date = new Date(this.#start + times[post]!).toUTCString()
      items.push(`<item><guid>${id}</guid><title>Post ${id}</title><pubDate>${date}</pubDate></item>`)
    }
    const xml = `<rss version="2.0"><channel><title>Feed ${feed}</title>${items.join('')}</channel></rss>`
    return { etag: `"${feed}-${count}"`, xml }
  }
}

function countUntil(times: readonly number[], at: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! <= at) low = middle + 1
    else high = middle
  }
  return low
}

function posts({ feeds, slowest, fastest, burst, days, seed }: LiveFeedsOptions): number[][] {
  const random = seededRandom(seed)
  return Array.from({ length: feeds }, (_, feed) => {
    const perDay = slowest * (fastest / slowest) ** random.next()
    const size = feed % 2 === 0 ? 1 : burst
    const times: number[] = []
    let at = -HISTORY_DAYS * DAY_MS
    while (at < days * DAY_MS) {
      at -= (Math.log(1 - random.next()) * size * DAY_MS) / perDay
      // A geometric number of articles, a minute apart.
      for (let more = 0; ; more++) {
        times.push(at + more * 60_000)
        if (random.next() >= 1 - 1 / size) break
      }
    }
    return times.sort((a, b) => a - b)
  })
}
