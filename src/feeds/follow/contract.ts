import type { FailureCode } from '../../types.js'
import type {
  Feed,
  FeedDifference,
  FeedKind,
  FeedLoss,
  FeedMemory,
  FeedPage,
  FoundFeed,
  MissingEntry,
  NamedEntry,
  NoFeed,
} from '../contract.js'
import type {
  PollAccount,
  PollFeasibility,
  PollObservation,
  PollOptions,
  PollOutlook,
  PollRecord,
  PollRules,
} from '../schedule/contract.js'

/** Options of `feeds()`. */
export interface FeedsOptions extends PollOptions {
  /**
   * Follows the feeds that pages declare or link to. Default false. `anchors: false` ignores links, `guess: true` tries
   * common paths of pages that name none, and `perHost` bounds the feeds that the pages of one host may add.
   */
  readonly discover?: boolean | DiscoverRules | undefined
  /**
   * `'fetch'` fetches each new article as a page with the label `article` and the entry as `page.request.data`. An object sets
   * another label. Default: articles are not fetched.
   */
  readonly articles?: 'fetch' | false | { readonly label?: string | undefined } | undefined
  /** Ends the run once every feed that is due was polled. Default false: the run goes on until it is stopped. */
  readonly once?: boolean | undefined
}

/** Where to look for feeds. */
export interface DiscoverRules {
  /** Links that look like a feed, on the host of the page. Default true. */
  readonly anchors?: boolean | undefined
  /** Common paths on the host of a page that names no feed; their redirects are not followed. Default false. */
  readonly guess?: boolean | undefined
  /** Feeds that the pages of one host may add. Default 10. */
  readonly perHost?: number | undefined
}

/** `FeedsOptions`, validated and in their final units. */
export interface FollowRules {
  readonly polls: PollRules
  readonly discover:
    | { readonly [Name in keyof DiscoverRules]-?: NonNullable<DiscoverRules[Name]> }
    | undefined
  readonly articles: { readonly label: string } | undefined
  readonly once: boolean
}

/** What changed in a feed since its last poll: the argument of the event `feed`, and of the hook of that name. */
export interface FeedEvent {
  readonly feed: FollowedFeed
  /** In order of publication, oldest first. Each comes once; after a crash again, with the same `key`. */
  readonly new: readonly NamedEntry[]
  /** Known entries with another title or text, oldest first. */
  readonly changed: readonly NamedEntry[]
  /** Entries that were removed. Those that made room for new ones are not listed. */
  readonly missing: readonly MissingEntry[]
  /** How many articles were published and scrolled off since the last poll, estimated: `poll.loss` says how. */
  readonly lost: number
  /** Of the new entries, those that were found on older pages of the feed. */
  readonly recovered: number
  readonly poll: FeedPoll
}

/** A feed that a crawl follows. */
export interface FollowedFeed {
  readonly url: string
  readonly kind: FeedKind | undefined
  readonly title: string | undefined
  /** URL of the site. */
  readonly link: string | undefined
  /** The URL under which it was followed until it moved, in this poll, for good. */
  readonly movedFrom?: string | undefined
}

/** One poll of a feed. */
export interface FeedPoll {
  /** When the response came, in ms since the epoch. */
  readonly at: number
  /** What was fetched: the URL of the feed, or the one to which it redirected. */
  readonly url: string
  readonly status: number
  /** The first poll: every entry is new. */
  readonly first: boolean
  /** The server sent only what is new (status 226). */
  readonly delta: boolean
  /** Number of entries that the feed shows. */
  readonly window: number
  readonly loss: FeedLoss
  /** Older pages that were read, because entries were missing. */
  readonly pages: number
}

/** What is stored about a followed feed, apart from the memory of its entries. */
export interface FeedRecord extends Omit<FollowedFeed, 'url' | 'movedFrom'> {
  readonly poll: PollRecord
  /** Validators of the last response that had a body. */
  readonly etag?: string | undefined
  readonly modified?: string | undefined
  /** When that response came, and how many articles a day the feed posted by then. */
  readonly fullAt?: number | undefined
  readonly fullPerDay?: number | undefined
  /** As `PollOutlook` says: for readers of the store, which do not know the estimator. */
  readonly perDay: number
  readonly burst: number
  /** The last poll failed. */
  readonly failure?:
    | {
        readonly code: FailureCode
        readonly message: string
        readonly status?: number | undefined
      }
    | undefined
  /** Polls in a row whose entries could not be delivered, because a hook or listener failed. */
  readonly undelivered?: number | undefined
  /** The server said that there is no such feed any more (status 410): it is not polled again. */
  readonly ended?: true | undefined
}

/** A feed in statistics. */
export interface FeedReport extends PollOutlook {
  readonly url: string
  readonly title: string | undefined
  readonly failure: FeedRecord['failure']
}

/** What a crawl with `feeds()` has done for its feeds. */
export interface FeedStats {
  /** Feeds that are followed, and of them those whose last poll failed. */
  readonly feeds: number
  readonly failing: number
  /** Feeds that ended: their server answered 410. */
  readonly ended: number
  /** Counts of all polls, earlier runs included. */
  readonly total: PollAccount
  /** What one more poll must save, in articles: see docs/feeds.md. */
  readonly price: number
  /** What the budget buys; undefined until it is known. */
  readonly feasibility: PollFeasibility | undefined
  /** Up to 20 feeds, those that lost most articles first. */
  readonly listed: readonly FeedReport[]
}

/** The feeds that a crawl follows. */
export interface FeedsInspection {
  readonly followed: number
  /** Of them, those whose last poll failed. */
  readonly failing: number
  /** Feeds that ended: their server answered 410. */
  readonly ended: number
  /** Counts of all polls. */
  readonly total: PollAccount
  /** Those that lost most articles first, then those that post most. */
  readonly listed: readonly FeedReport[]
}

/** What the engine needs of this room to follow feeds. `run/` passes it in. */
export interface FeedTools {
  /** Reads a response. Never throws. */
  parse(response: FeedResponse): Feed | NoFeed
  /** Feeds that a page names and that may be followed, best first. */
  discover(page: FeedPage, rules: DiscoverRules): readonly FoundFeed[]
  /** How to ask for a feed; `record` is undefined for the first poll. */
  ask(record: FeedRecord | undefined, now: number): FeedQuestion
  /** Compares the pages of a feed with its memory, or says which older page must be read first. */
  compare(memory: FeedMemory | undefined, pages: readonly [Feed, ...Feed[]], poll: PolledFeed): PollResult
  /** The observation of a poll without a feed. */
  nothing(
    outcome: 'not-modified' | 'failed',
    poll: Pick<PolledFeed, 'at' | 'notBefore' | 'visitIntervalMs'>,
  ): PollObservation
  /** Cache-Control and Retry-After: the feed must not be polled before this time. At most `maxMs` from now. */
  notBefore(headers: HeaderLookup, at: number, maxMs: number): number | undefined
}

/** The part of a response that reading a feed needs. */
export interface FeedResponse {
  readonly url: string
  readonly headers: HeaderLookup
  readonly body: Uint8Array
  /** The body is only the beginning of what the server sent. */
  readonly truncated?: boolean | undefined
}

/** Names of headers are in lower case. */
export interface HeaderLookup {
  get(name: string): string | undefined
}

/** Headers and validators of a poll. */
export interface FeedQuestion {
  readonly headers: Readonly<Record<string, string>>
  /** Absent: the whole feed is asked for. */
  readonly known?: { readonly etag?: string | undefined; readonly modified?: string | undefined } | undefined
}

/** What is known about a poll besides the feed. */
export interface PolledFeed {
  /** What was fetched. */
  readonly url: string
  readonly at: number
  readonly delta: boolean
  /** The last poll that showed what the feed has, also by a 304. */
  readonly seenAt: number | undefined
  readonly notBefore: number | undefined
  /** The pause between two visits to its host. */
  readonly visitIntervalMs: number
  /** False: entries that are missing are not looked for on older pages. */
  readonly recovers: boolean
}

/** Either the URL of an older page to read first, or what the poll showed. */
export type PollResult =
  | { readonly older: string; readonly difference?: undefined }
  | { readonly older?: undefined; readonly difference: FeedDifference; readonly observation: PollObservation }
