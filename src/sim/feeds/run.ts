import type { FeedLoss } from '../../feeds/contract.js'
import { lossSince } from '../../feeds/difference/loss.js'
import { addAccounts, EMPTY_ACCOUNT, lostOf } from '../../feeds/schedule/account.js'
import type { PollAccount, PollObservation, PollRecord } from '../../feeds/schedule/contract.js'
import { FeedBudget } from '../../feeds/schedule/feed-budget.js'
import { PollSchedule } from '../../feeds/schedule/poll-schedule.js'
import { CalendarQueue } from './calendar-queue.js'
import type { FeedForecast, FeedSimulation, FeedWorld, SimulatedFeed } from './contract.js'
import { PackedPolls } from './packed-polls.js'

const DAY_MS = 86_400_000
/** Virtual time starts here, so that no time is 0. */
const START = 1_000_000_000_000
/** How often the price is set. */
const PRICE_MS = DAY_MS / 4

/** Polls a world by the rules; the result is for the time after `learnDays`. */
export function simulateFeeds(world: FeedWorld, options: FeedSimulation): FeedForecast {
  return new FeedRun(world, options).run()
}

class FeedRun {
  readonly #world: FeedWorld
  readonly #options: FeedSimulation
  readonly #stepMs: number
  readonly #schedule: PollSchedule
  readonly #budget: FeedBudget
  readonly #records: PackedPolls
  /** Articles posted until the last poll, by feed. */
  readonly #seen: Int32Array
  readonly #queue: CalendarQueue
  #polls = 0
  #lost = 0
  #futile = 0
  #delayDays = 0
  #delays = 0
  #before: PollAccount = EMPTY_ACCOUNT

  constructor(world: FeedWorld, options: FeedSimulation) {
    const { rules, visitIntervalMs = 1000 } = options
    this.#world = world
    this.#options = options
    this.#stepMs = options.stepMs ?? rules.minMs
    this.#schedule = new PollSchedule(rules, { visitIntervalMs })
    this.#budget = new FeedBudget(rules)
    this.#records = new PackedPolls(world.feeds.length)
    this.#seen = new Int32Array(world.feeds.length)
    this.#queue = new CalendarQueue(world.feeds.length, this.#stepOf(world.days) + 1)
  }

  run(): FeedForecast {
    const { feeds, days } = this.#world
    const { learnDays = 0, watch = false } = this.#options
    const last = this.#stepOf(days)
    const scoredFrom = this.#stepOf(learnDays)
    const pricedEvery = Math.max(1, Math.round(PRICE_MS / this.#stepMs))
    // All feeds are met at once; later their polls spread by themselves.
    for (let feed = 0; feed < feeds.length; feed++) this.#queue.put(feed, watch ? 1 : 0)
    let feasibility = this.#budget.feasibility()
    for (let step = 0; step <= last; step++) {
      const now = START + step * this.#stepMs
      const isWatching = watch && step <= scoredFrom
      if (step === scoredFrom + 1 || (step > 0 && step % pricedEvery === 0 && !isWatching))
        this.#setPrice(now)
      if (step === scoredFrom + 1) feasibility = this.#budget.feasibility()
      this.#pollAll(step, now, isWatching)
      if (step === scoredFrom) this.#startScore(scoredFrom)
    }
    return this.#forecast(days - learnDays, learnDays, feasibility)
  }

  #stepOf(day: number): number {
    return Math.round((day * DAY_MS) / this.#stepMs)
  }

  #setPrice(now: number): void {
    this.#budget.report(0, this.#schedule.report())
    this.#schedule.setPrice(this.#budget.price(now))
  }

  #pollAll(step: number, now: number, isWatching: boolean): void {
    // A poll can only be at a step: take the nearest one.
    const nearly = now + this.#stepMs / 2
    for (const feed of this.#queue.takeAll(step)) {
      const record = this.#records.get(feed)
      if (!isWatching && record !== undefined && !this.#schedule.isDue(record, nearly)) {
        this.#queue.put(feed, Math.max(step + 1, this.#near(this.#schedule.dueAt(record))))
        continue
      }
      const next = this.#schedule.polled(
        this.#world.feeds[feed]!.host,
        record,
        this.#poll(feed, record, step, now),
      )
      this.#records.set(feed, next.record)
      this.#queue.put(feed, isWatching ? step + 1 : Math.max(step + 1, this.#near(next.at)))
    }
  }

  #near(at: number): number {
    return Math.round((at - START) / this.#stepMs)
  }

  #poll(feed: number, record: PollRecord | undefined, step: number, now: number): PollObservation {
    const { window, posts } = this.#world.feeds[feed]!
    const { dated = true } = this.#options
    const day = (step * this.#stepMs) / DAY_MS
    const before = this.#seen[feed]!
    const count = postedBy(posts, day, before)
    this.#seen[feed] = count
    const first = record === undefined
    const posted = first ? 0 : count - before
    const fresh = first ? Math.min(window, count) : Math.min(window, posted)
    this.#polls++
    this.#lost += posted - fresh
    if (!first && posted === 0) this.#futile++
    const published: number[] = []
    for (let at = count - fresh; at < count; at++) {
      if (!first) this.#delayDays += day - posts[at]!
      if (dated) published.push(START + posts[at]! * DAY_MS)
    }
    if (!first) this.#delays += fresh
    return {
      at: now,
      outcome: 'feed',
      first,
      fresh,
      recovered: 0,
      window,
      overlaps: posted < window,
      unbounded: false,
      published,
      loss:
        dated && record !== undefined && posted >= window
          ? lossByDates(this.#world.feeds[feed]!, before, count, record.at, now)
          : undefined,
    }
  }

  /** What came before does not count. */
  #startScore(scoredFrom: number): void {
    if (scoredFrom === 0) return
    this.#polls = 0
    this.#lost = 0
    this.#futile = 0
    this.#delayDays = 0
    this.#delays = 0
    this.#before = this.#schedule.report().account
  }

  #forecast(days: number, from: number, feasibility: FeedForecast['feasibility']): FeedForecast {
    const { feeds } = this.#world
    const total = this.#schedule.report().account
    const negative = Object.fromEntries(Object.entries(this.#before).map(([key, value]) => [key, -value]))
    const account = addAccounts(total, negative)
    return {
      days,
      feeds: feeds.length,
      articles: feeds.reduce((sum, { posts }) => sum + posts.length - postedBy(posts, from, 0), 0),
      polls: this.#polls,
      lost: this.#lost + this.#outOfSight(),
      futile: this.#futile,
      lostEstimate: lostOf(account),
      delayMs: this.#delays === 0 ? 0 : (this.#delayDays / this.#delays) * DAY_MS,
      account,
      feasibility,
    }
  }

  /** Articles that are lost already and will be missed by the next poll. */
  #outOfSight(): number {
    return this.#world.feeds.reduce(
      (sum, { posts, window }: SimulatedFeed, feed) =>
        sum + Math.max(0, posts.length - this.#seen[feed]! - window),
      0,
    )
  }
}

/** Articles posted up to a day, given that `from` of them were before. */
function postedBy(posts: Float64Array, day: number, from: number): number {
  let count = from
  while (count < posts.length && posts[count]! <= day) count++
  return count
}

/** What the dates of two windows say about the time between them. */
function lossByDates(
  { posts, window }: SimulatedFeed,
  before: number,
  count: number,
  polledAt: number,
  now: number,
): FeedLoss {
  const time = (at: number) => START + posts[Math.max(0, at)]! * DAY_MS
  const earlier = {
    window: Math.min(window, before),
    polledAt,
    // A feed that was empty has neither.
    newestAt: before === 0 ? undefined : time(before - 1),
    oldestAt: before === 0 ? undefined : time(before - window),
    posts: 0,
    observedMs: 0,
  }
  const dates = { oldestAt: time(count - window), newestAt: time(count - 1) }
  return lossSince(earlier, { now, entries: window, overlap: 0, ...dates, aheadMs: 0 })
}
