import type { Exchange } from '../exchange/contract.js'
import type { ExtractionStep, Page } from '../extract/contract.js'
import type { Fetcher } from '../fetch/contract.js'
import type { RobotsGate } from '../fetch/robots/contract.js'
import type { Frontier } from '../frontier/contract.js'
import type { HostPartitioner, Ownership } from '../partition/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Handover, OpenStore } from '../stores/contract.js'
import type { Clock, Random } from '../time.js'
import type { CrawlRequest, MaybePromise, SkipReason } from '../types.js'
import type { ScopeTest } from '../url/scope/scope.js'
import type { AbortGrace } from './abort-grace.js'
import type { Budget } from './budget.js'
import type { Delivery } from './delivery.js'
import type { RefreshParts } from './refresh/known-pages.js'
import type { EarlierRuns, PageCounts } from './stats/ledger.js'
import type { HealthRules } from './visit/host-health.js'
import type { RetryRules } from './visit/verdict.js'

/** Everything a shard is made of. The engine builds none of it: see `plan.ts`. */
export interface EngineParts {
  readonly clock: Clock
  readonly random: Random
  readonly frontier: Frontier
  readonly seen: SeenStore
  readonly partitioner: HostPartitioner
  readonly ownership: Ownership
  readonly exchange: Exchange
  readonly robots: RobotsGate
  readonly fetcher: Fetcher
  readonly extraction: ExtractionStep
  readonly scope: ScopeTest
  /** What the operator has closed, before anybody else is asked; absent if nothing. */
  readonly blocked?: ScopeTest | undefined
  /** Takes parameters out of a canonical URL that do not choose its content. */
  readonly withoutParameters?: ((url: string) => string) | undefined
  /** Whether a new URL looks like one of an endless supply. */
  readonly trap?: ((url: string) => SkipReason | undefined) | undefined
  /** Whether the host has shown this content so often that its links are not worth following. */
  readonly sameContent?: ((host: string, page: Page) => boolean) | undefined
  /** The site of a host; asked only if pages are limited per site. */
  siteOf(host: string): string
  /** Told every seed, so that the guards know whom the caller named; its own, if this shard is to admit it. */
  readonly onSeed?: ((url: string, isOwn: boolean) => void) | undefined
  readonly delivery: Delivery
  /** What is to be remembered beyond the run, if the store remembers anything. */
  readonly memory: CrawlMemory
  /** What all shards together may fetch. Absent: this shard is alone. */
  readonly budget?: Budget | undefined
  readonly requestBudget?: Budget | undefined
  /** What earlier runs left behind, if somebody else has taken it up for all shards. */
  readonly earlierRuns?: EarlierRuns | undefined
  /** Told how many pages hosts have given, in the turn that settles them, if this shard's store does not outlive it. */
  readonly reportCounts?: ((counts: PageCounts) => void) | undefined
  /** How partitions go to other shards and come from them, if the store knows how. */
  readonly handover?: Handover | undefined
  /** When known pages are visited again. Absent: they are not. */
  readonly refresh?: RefreshParts | undefined
  /** Where the visits under way are noted for whoever looks after this thread. */
  readonly inFlight?: InFlightLog | undefined
  /** Requests that an earlier run had on the way between its shards. */
  readonly leftovers?: AsyncIterable<readonly CrawlRequest[]> | undefined
  /** Told when a page is done with, whatever came of it. */
  readonly pageOver?: ((page: Page) => void) | undefined
  /** Batches of seed URLs in canonical form, or of what could not be read as one. Pulled as they are needed. */
  readonly seeds: AsyncIterator<readonly Seed[]> | Iterator<readonly Seed[]>
  /** Closes all parts; called once, when the loop is over. Whoever outlasts the run's grace is left behind. */
  close(grace: AbortGrace): MaybePromise<void>
}

/**
 * The visits under way as somebody outside of this thread can see them, also once it is dead. A visit is noted
 * here from its start until it is settled.
 */
export interface InFlightLog {
  start(request: CrawlRequest): void
  /** A request is about to be sent. `total` counts all that this shard has sent, including this one. */
  sent(total: number): void
  /** The user's code is called for this visit, from now until `leave`, unless it asks for time. */
  enter(request: CrawlRequest): void
  leave(): void
  /** It is settled. */
  end(request: CrawlRequest): void
  /** So many requests wait, and so many pages are settled. */
  stands(waiting: number, pages: number): void
  /** Why a URL is not to be tried any more: whoever visited it died of it. */
  fatal(url: string): string | undefined
}

/** What the engine uses of an opened store besides frontier and seen-set. */
export type CrawlMemory = Required<Pick<OpenStore, 'state' | 'condition' | 'onCommit'>>

export type Seed = { readonly url: string } | { readonly invalid: string; readonly message: string }

/** What the engine itself must know. All times in ms. */
export interface EngineRules extends RetryRules, HealthRules {
  readonly concurrency: number
  readonly fetchTimeoutMs: number
  /** The visit interval of the crawl. */
  readonly delayMs: number
  /** Whether URLs that earlier runs gave up are tried again. */
  readonly retryFailed: boolean
  /** Links followed from a seed; Infinity for no bound. */
  readonly maxDepth: number
  /** With several connections to one host, the gap between visits says nothing and is not reported. */
  readonly connectionsPerHost: number
  /** The pause after a visit grows with the time that the visit took. */
  readonly adaptive: { readonly factor: number; readonly maxMs: number } | undefined
  /** Whether of a page that is too large the beginning is used. */
  readonly truncateBodies: boolean
  /** Links of one page beyond this are not looked at. */
  readonly maxLinksPerPage: number
  /** Whether links marked rel=nofollow, and all links of pages that ask for it, are left alone. */
  readonly nofollow: boolean
  /** Whether the canonical URL that a page names is followed. */
  readonly followCanonical: boolean
  /** Entries of sitemaps taken for one host; 0: sitemaps are not read. */
  readonly sitemapEntriesPerHost: number
  readonly limit: {
    readonly pagesPerSite: number
    readonly pages: number
    readonly requests: number
    readonly bytes: number
    readonly timeMs: number
    readonly pagesPerHost: number
  }
}
