import { KumoError, messageOf } from '../../errors.js'
import type { FeedMemory } from '../../feeds/contract.js'
import type { FeedRecord, FeedReport, FeedStats } from '../../feeds/follow/contract.js'
import type { NextPoll, PollObservation, PollReport } from '../../feeds/schedule/contract.js'
import type { StateSpace, StateStore } from '../../stores/contract.js'
import { every, type Timer } from '../../time.js'
import { hostOf } from '../../url/canonicalize.js'
import type { EngineParts, FeedParts } from '../parts.js'
import { addFeedCounts, byLoss, NO_FEEDS } from '../stats/feed-stats.js'
import type { VisitResult } from '../visit/visit-result.js'
import { memoryText } from './feed-settlement.js'
import { SharedReports } from './shared-reports.js'

/** The names of the store's spaces for records, for what is remembered of entries, and for facts about all feeds. */
const RECORDS = 'feeds'
const MEMORIES = 'feed-memory'
const FACTS = 'follow'
const MODE = 'mode'
const FOLLOWED = 'followed'

/** How often the price of a poll follows the budget. With a short least interval, as often as a feed may be polled. */
const LONGEST_PRICE_MS = 60_000

/** Longer than hosts are made to wait for politeness. */
const LONGEST_SOON_MS = 120_000

/** Feeds that statistics list, and recently polled ones to choose them from. */
const LISTED = 20
const RECENT = 1000
/** Choosing takes a moment, and statistics are asked for often. */
const CACHE_MS = 1000

/**
 * The feeds that this shard follows: their records in the store, their schedule and their counts. Each feed has one request,
 * which waits in the frontier for its next poll, and a record and a memory that change in the commit of a settlement.
 */
export class FollowedFeeds {
  readonly #feeds: FeedParts
  readonly #parts: EngineParts
  readonly #records: StateSpace
  readonly #memories: StateSpace
  /** When this run began. */
  readonly openedAt: number
  /** With `once`: what is due within this time is waited for. */
  readonly soonMs: number
  #counts: FeedStats['total'] = NO_FEEDS.total
  #ended = 0
  #failing = 0
  /** Feeds that were polled last, for statistics. The oldest comes first and leaves first. */
  readonly #recent = new Map<string, FeedRecord>()
  #listed: { readonly at: number; readonly feeds: readonly FeedReport[] } | undefined = undefined
  #timer: Timer | undefined = undefined
  /** What the processes that share the crawl report. */
  #others: SharedReports | undefined = undefined

  constructor(feeds: FeedParts, parts: EngineParts, delayMs: number) {
    this.soonMs = delayMs + Math.min(LONGEST_SOON_MS, feeds.rules.polls.minMs)
    this.#feeds = feeds
    this.#parts = parts
    this.openedAt = parts.clock.now()
    this.#records = feeds.state.space(RECORDS)
    this.#memories = feeds.state.space(MEMORIES)
  }

  /** Restores what earlier runs have learned, and keeps the price up to date from now on. */
  async open(): Promise<void> {
    this.#feeds.state.space(FACTS).put(MODE, FOLLOWED)
    await this.#remember((host) => this.#isMine(host))
    const { budget, state, rules } = this.#feeds
    if (budget === undefined) return
    const { clock, membership, ownership, delivery } = this.#parts
    const periodMs = pricePeriodMs(rules.polls.minMs)
    if (membership !== undefined)
      this.#others = new SharedReports(state.space(FACTS), ownership.self, budget, clock, periodMs)
    this.#updatePrice()
    this.#timer = every(clock, periodMs, () => {
      this.#others?.update(this.#feeds.schedule.report()).catch((error) => delivery.warn(messageOf(error)))
      this.#updatePrice()
    })
  }

  close(): void {
    this.#timer?.cancel()
    this.#others?.close()
  }

  get feeds(): FeedParts {
    return this.#feeds
  }

  /** The number of pending requests that are not polls that wait for their time. */
  due(pending: number): number {
    return Math.max(0, pending - this.#feeds.schedule.feeds)
  }

  /** With `once`: everything that is pending is due later than a host is made to wait for politeness. */
  isDoneForNow(nextDue: number): boolean {
    return this.#feeds.rules.once && nextDue > this.#parts.clock.now() + this.soonMs
  }

  async record(url: string, host: string): Promise<FeedRecord | undefined> {
    return (await this.#records.get(url, host)) as FeedRecord | undefined
  }

  async memory(url: string, host: string): Promise<string | undefined> {
    return (await this.#memories.get(url, host)) as string | undefined
  }

  /** The record after a poll. `known` is what the poll showed besides. */
  polled(
    host: string,
    before: FeedRecord | undefined,
    observation: PollObservation,
    known: Partial<FeedRecord>,
  ): { readonly record: FeedRecord; readonly next: NextPoll } {
    const { schedule } = this.#feeds
    const next = schedule.polled(host, before?.poll, observation)
    const { perDay, burst } = schedule.outlook(next.record)
    const { failure: _, ...kept } = before ?? UNKNOWN
    return { next, record: { ...kept, ...known, perDay, burst, poll: next.record } }
  }

  /** Must be called in the same turn as the frontier's `settle`, so that both are in one commit. */
  settled(visits: readonly VisitResult[]): void {
    for (const { feed } of visits) {
      if (feed === undefined) continue
      const { url, host, before, after, memory } = feed
      this.#count(before, -1)
      this.#count(after, 1)
      if (after === undefined) {
        this.#recent.delete(url)
        if (before === undefined) continue
        this.#records.delete(url, host)
        this.#memories.delete(url, host)
        continue
      }
      this.#records.put(url, after, host)
      if (memory !== undefined) this.#memories.put(url, memoryText(memory), host)
      this.#recent.delete(url)
      this.#recent.set(url, after)
      if (this.#recent.size > RECENT) this.#recent.delete(this.#recent.keys().next().value!)
    }
  }

  stats(): FeedStats {
    const { schedule, budget } = this.#feeds
    return {
      feeds: schedule.feeds,
      ended: this.#ended,
      failing: this.#failing,
      total: this.#counts,
      price: schedule.price,
      feasibility: budget?.feasibility(),
      listed: this.#list(),
    }
  }

  /** For the side that holds the budget of all shards. */
  report(): PollReport {
    return this.#feeds.schedule.report()
  }

  /** Hosts go to another shard: their records go along in the store, and this schedule forgets them. */
  async release(moves: (host: string) => boolean): Promise<void> {
    for await (const [url, value] of this.#records.entries()) {
      if (moves(hostOf(url))) this.#forgetFeed(url, value as FeedRecord)
    }
  }

  /** Hosts have come from another shard, and their records with them. */
  adopt(came: (host: string) => boolean): Promise<void> {
    return this.#remember(came)
  }

  /** Partitions have come from another process. */
  gain(partitions: readonly number[]): void {
    for (const [url, value] of this.#records.ofPartitions?.(partitions) ?? [])
      this.#rememberFeed(url, value as FeedRecord)
  }

  /** Partitions are another process's now. */
  revoke(partitions: readonly number[]): void {
    for (const [url, value] of this.#records.ofPartitions?.(partitions) ?? [])
      this.#forgetFeed(url, value as FeedRecord)
  }

  async #remember(isOwn: (host: string) => boolean): Promise<void> {
    for await (const [url, value] of this.#records.entries()) {
      if (isOwn(hostOf(url))) this.#rememberFeed(url, value as FeedRecord)
    }
  }

  #rememberFeed(url: string, record: FeedRecord): void {
    this.#count(record, 1)
    if (this.#recent.size < RECENT) this.#recent.set(url, record)
    if (record.ended !== true) this.#feeds.schedule.remember(hostOf(url), record.poll)
  }

  #forgetFeed(url: string, record: FeedRecord): void {
    this.#count(record, -1)
    this.#recent.delete(url)
    if (record.ended !== true) this.#feeds.schedule.forget(hostOf(url), record.poll)
  }

  #count(record: FeedRecord | undefined, sign: 1 | -1): void {
    if (record === undefined) return
    this.#counts = addFeedCounts(this.#counts, record.poll.account, sign)
    if (record.ended === true) this.#ended += sign
    else if (record.failure !== undefined) this.#failing += sign
  }

  #updatePrice(): void {
    const { schedule, budget } = this.#feeds
    budget!.report(this.#parts.ownership.self, schedule.report())
    schedule.setPrice(budget!.price(this.#parts.clock.now()))
  }

  /** Those that lost most, then those that post most. */
  #list(): readonly FeedReport[] {
    const now = this.#parts.clock.now()
    if (this.#listed !== undefined && this.#recent.size > LISTED && now - this.#listed.at < CACHE_MS)
      return this.#listed.feeds
    const feeds = [...this.#recent]
      .map(([url, record]) => this.#reportOf(url, record))
      .sort(byLoss)
      .slice(0, LISTED)
    this.#listed = { at: now, feeds }
    return feeds
  }

  #reportOf(url: string, { title, failure, poll }: FeedRecord): FeedReport {
    return { url, title, failure, ...this.#feeds.schedule.outlook(poll) }
  }

  #isMine(host: string): boolean {
    const { partitioner, ownership } = this.#parts
    return ownership.ownerOf(partitioner.partition(host)) === ownership.self
  }
}

/** How often the price is set. */
export function pricePeriodMs(minMs: number): number {
  return Math.min(LONGEST_PRICE_MS, minMs)
}

/** A feed of which no poll has shown anything yet. */
const UNKNOWN: Omit<FeedRecord, 'poll'> = {
  kind: undefined,
  title: undefined,
  link: undefined,
  perDay: 0,
  burst: 1,
}

/** The bytes of a memory; undefined if there is none. */
export function memoryBytes(text: string | undefined): FeedMemory | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'base64')
}

/** Throws if the store follows feeds: without `feeds()` nobody would poll them. */
export async function assertNotFollowed(state: StateStore): Promise<void> {
  if ((await state.space(FACTS).get(MODE)) !== FOLLOWED) return
  const message =
    'the crawl in this store follows feeds; continue it with .feeds({ … }), or use another store'
  throw new KumoError('KUMO_STORE_MISMATCH', message)
}
