import type { Exchange } from '../exchange/contract.js'
import type { ExtractionStep, Page } from '../extract/contract.js'
import type { FeedTools, FollowRules } from '../feeds/follow/contract.js'
import type { PollBudget, PollScheduler } from '../feeds/schedule/contract.js'
import type { Fetcher } from '../fetch/contract.js'
import type { RobotsGate } from '../fetch/robots/contract.js'
import type { Frontier } from '../frontier/contract.js'
import type { SessionGate } from '../hooks/session/contract.js'
import type { HostPartitioner, Ownership } from '../partition/contract.js'
import type { RefreshScheduler } from '../refresh/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Handover, Membership, OpenStore, StateStore } from '../stores/contract.js'
import type { Clock, Random } from '../time.js'
import type { CrawlRequest, MaybePromise, SkipReason } from '../types.js'
import type { RequestSpec } from '../url/request-options.js'
import type { Priorities } from '../url/scope/priorities.js'
import type { RuleUse } from '../url/scope/rule-use.js'
import type { ScopeTest } from '../url/scope/scope.js'
import type { AbortGrace } from './abort-grace.js'
import type { Budget } from './budget.js'
import type { Delivery } from './delivery.js'
import type { HealthRules } from './visit/host-health.js'
import type { VerdictRules } from './visit/verdict.js'

/** Everything a shard consists of. The engine builds none of it: see `run/plan.ts`. */
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
  /** `block()`: checked before everything else. Absent: nothing is blocked. */
  readonly blocked?: ScopeTest | undefined
  /** The language of a page, for a scope that depends on it. */
  languageOf(page: Page): string | undefined
  /** Which of the user's rules have matched. Absent: nobody asks. */
  readonly ruleUse?: RuleUse | undefined
  /** `prioritize()`: the priorities of links. Absent: all have the same. */
  readonly priorities?: Priorities | undefined
  /** Removes query parameters that do not affect the content from a canonical URL. */
  readonly withoutParameters?: ((url: string) => string) | undefined
  /**
   * `urls({ rewrite })`, which also removes those parameters. Throws an error for a URL that cannot be rewritten. Absent:
   * there are no rules.
   */
  readonly rewrite?: ((url: string) => string) | undefined
  /** Why a new URL looks like part of an endless site; undefined if it does not. */
  readonly trap?: ((url: string) => SkipReason | undefined) | undefined
  /** Whether the host has shown this content so often that the page's links are not followed. */
  readonly sameContent?: ((host: string, page: Page) => boolean) | undefined
  /** The site of a host; called only if pages are limited per site. */
  siteOf(host: string): string
  /** Called for every seed, so that guards know which hosts the user named. `isOwn`: this shard admits it. */
  readonly onSeed?: ((url: string, isOwn: boolean) => void) | undefined
  readonly delivery: Delivery
  /** State that outlives the run, if the store is durable. */
  readonly storeState: StoreAccess
  /** The page and byte budget that all shards share. Absent: there is only this shard. */
  readonly budget?: Budget | undefined
  /** The same for requests. */
  readonly requestBudget?: Budget | undefined
  /** Results of earlier runs, if the main thread has read them for all shards. */
  readonly earlierRuns?: EarlierRuns | undefined
  /** If the store does not outlive this shard: receives the page counts of hosts in the turn that settles them. */
  readonly reportCounts?: ((counts: PageCounts) => void) | undefined
  /** Moves partitions to and from other shards, if the store supports it. */
  readonly handover?: Handover | undefined
  /** Present if other processes share the crawl: they may take partitions over at any time. */
  readonly membership?: Membership | undefined
  /** Called when hosts have moved to another shard, so that nothing about them is kept in memory. */
  readonly onHostsLeft?: ((isGone: (host: string) => boolean) => void) | undefined
  /** Logins of origins that need one. Absent: none does. */
  readonly sessions?: SessionGate | undefined
  /** Revisits of known pages. Absent: pages are visited once. */
  readonly refresh?: RefreshParts | undefined
  /** Feeds that are followed. Absent: none are. */
  readonly feeds?: FeedParts | undefined
  /** Shows the visits in flight to the thread that supervises this one. */
  readonly inFlight?: InFlightLog | undefined
  /** Requests that were in transit between shards when an earlier run ended. */
  readonly leftovers?: AsyncIterable<readonly CrawlRequest[]> | undefined
  /** Called when processing of a page has ended, successfully or not. */
  readonly onPageDone?: ((page: Page) => void) | undefined
  /** Batches of seeds. Pulled on demand. */
  readonly seeds: AsyncIterator<readonly Seed[]> | Iterator<readonly Seed[]>
  /** Closes all parts; called once, after the loop. A part that takes longer than the grace period is abandoned. */
  close(grace: AbortGrace): MaybePromise<void>
}

/** What the engine needs to revisit known pages. */
export interface RefreshParts {
  readonly schedule: RefreshScheduler
  /** Stores records of pages and servers, at least for this run. */
  readonly state: StateStore
  /** A digest of a page's content, without the parts that change on every visit. */
  digest(page: Page): string
  /** Whether the main thread starts each round, for all shards. */
  readonly roundsStartedByMain: boolean
  /** Whether this shard replaces one that died. */
  readonly replaces: boolean
}

/** What the engine needs to follow feeds. */
export interface FeedParts {
  readonly schedule: PollScheduler
  /** Absent: the main thread holds the budget of all shards. */
  readonly budget?: PollBudget | undefined
  readonly rules: FollowRules
  readonly tools: FeedTools
  /** Stores records and memories of feeds, at least for this run. */
  readonly state: StateStore
}

/** Results of earlier runs, for a shard that does not read them itself. */
export interface EarlierRuns {
  readonly runs: number
  readonly wasDone: boolean
  /** With `refresh()`: the round to begin with. */
  readonly nextRound?: number | undefined
  /** Page counts of this shard, or of the one it replaces, that its store has lost. */
  readonly counted?: PageCounts | undefined
}

/** Delivered pages by host and by site, where they are limited. */
export interface PageCounts {
  readonly hosts: readonly PageCount[]
  readonly sites: readonly PageCount[]
}

/** The number of pages of a host or site. */
export type PageCount = readonly [name: string, pages: number]

/**
 * The visits in flight, visible to other threads even after this one has died. It contains a visit from its start until
 * it is settled.
 */
export interface InFlightLog {
  start(request: CrawlRequest): void
  /** A request is about to be sent. `total` counts all that this shard has sent, including this one. */
  sent(total: number): void
  /** User code runs synchronously for this visit until `leave`. */
  enter(request: CrawlRequest): void
  leave(): void
  /** The visit is settled. */
  end(request: CrawlRequest): void
  /** The current numbers of pending requests and of settled pages. */
  recordProgress(waiting: number, pages: number): void
  /** Why a request must not be sent again: it crashed the workers that tried. Undefined: it may be sent. */
  fatal(request: CrawlRequest): string | undefined
}

/** What the engine uses of an open store besides frontier and seen-set. */
export type StoreAccess = Required<Pick<OpenStore, 'state' | 'condition' | 'onCommit'>> &
  Pick<OpenStore, 'flush' | 'beforeCommit'> & {
    /** Whether hooks are flushed before each settlement, because the store cannot wait for them before a commit. */
    readonly flushesFirst: boolean
  }

/** A checked request, or what is wrong with one: `invalid` is its URL, or else the request as text. */
export type Seed = RequestSpec | { readonly invalid: string; readonly message: string }

/** The options that the engine itself needs. All times are in ms. */
export interface EngineRules extends VerdictRules, HealthRules {
  readonly concurrency: number
  readonly fetchTimeoutMs: number
  /** The delay between visits to a host. */
  readonly delayMs: number
  /** Whether the crawl goes on until `finish`, even if there is nothing to do. */
  readonly isKeptOpen: boolean
  /** Whether URLs that earlier runs gave up are retried. */
  readonly retryFailed: boolean
  /** Number of links followed from a seed; Infinity for no limit. */
  readonly maxDepth: number
  /** With more than one, the gap between visits means nothing and is not reported. */
  readonly connectionsPerHost: number
  /** The delay after a visit grows with the duration of the visit. */
  readonly adaptive: { readonly factor: number; readonly maxMs: number } | undefined
  /** Whether a body that is too large is truncated instead of rejected. */
  readonly truncateBodies: boolean
  /** Links of a page beyond this number are ignored. */
  readonly maxLinksPerPage: number
  /** Whether rel=nofollow links, and the links of pages that ask for nofollow, are skipped. */
  readonly nofollow: boolean
  /** Whether the canonical URL of a page is followed. */
  readonly followCanonical: boolean
  /** Sitemap entries used per host; 0: sitemaps are not read. */
  readonly sitemapEntriesPerHost: number
  /** The limit of pages of a host that has its own. */
  readonly hostPages?: ((host: string) => number | undefined) | undefined
  readonly limit: {
    readonly pagesPerSite: number
    readonly pages: number
    readonly requests: number
    readonly bytes: number
    readonly timeMs: number
    readonly pagesPerHost: number
    /** Bytes a second. */
    readonly bandwidth: number
  }
}
