import type { Page } from '../extract/contract.js'

/** What a feed is written in. `rdf` is RSS 0.90 and 1.0, `cdf` the Channel Definition Format, `json` JSON Feed. */
export type FeedKind = 'rss' | 'rdf' | 'atom' | 'json' | 'cdf'

/** How to read a feed. */
export interface FeedOptions {
  /** URL of the feed, after redirects: the base of relative links. Without it they stay as written. */
  readonly url?: string | undefined
  /** The Content-Type header. Its charset counts more than the one in the XML declaration. */
  readonly contentType?: string | undefined
  /** The Content-Location header, if the response has one: the base of relative links, itself relative to `url`. */
  readonly contentLocation?: string | undefined
  /** Entries to read; the rest is ignored. Default 100,000. */
  readonly maxEntries?: number | undefined
  /** Bytes (of a text: characters) to read; the rest is ignored. Default 52,428,800. */
  readonly maxBytes?: number | undefined
}

/** A feed. Texts are trimmed; what the feed does not say is undefined, or an empty list. */
export interface Feed {
  readonly kind: FeedKind
  /** `2.0`, `1.0`, `0.91`; undefined if the feed does not say. */
  readonly version: string | undefined
  /** As text or as HTML, whichever the feed has written: RSS does not say which it is. */
  readonly title: string | undefined
  /** URL of the site. */
  readonly link: string | undefined
  /** As written: it is a name, even if it looks like a URL. RSS has none. */
  readonly id: string | undefined
  /** Description or subtitle. */
  readonly description: string | undefined
  readonly author: string | undefined
  /** BCP 47 tag, as written. */
  readonly language: string | undefined
  /** When the feed was published, in the form of `FeedEntry.published`. */
  readonly published: string | undefined
  /** When the feed last changed, in the same form. Many feeds give the time of the request. */
  readonly updated: string | undefined
  /** The program that wrote it, as written. */
  readonly generator: string | undefined
  /** In document order. */
  readonly entries: readonly FeedEntry[]
  readonly hints: FeedHints
  /** Why entries may be missing, and what had to be repaired; empty if all is well. */
  readonly problems: readonly FeedProblem[]
}

/** An entry (item, article, episode) of a feed. */
export interface FeedEntry {
  /** `id` or `guid`, as written: two ids are equal only if every character is. */
  readonly id: string | undefined
  /** Absolute URL of the article. */
  readonly url: string | undefined
  readonly title: string | undefined
  /**
   * When it was published, in ISO 8601 and UTC: `2024-05-01T10:00:00.000Z`. A time without a zone is taken as UTC. Undefined
   * if the feed gives none, or one that cannot be read or cannot be true (before 1970-01-02, after 2099).
   */
  readonly published: string | undefined
  /** When it last changed, in the same form. */
  readonly updated: string | undefined
  /** Names, each followed by its mail address in parentheses if there is one; several are separated by commas. */
  readonly author: string | undefined
  /** Description or summary, as HTML or text, with absolute links. */
  readonly summary: string | undefined
  /** The full content, as HTML or text, with absolute links. */
  readonly content: string | undefined
  /** Attached files: episodes, images, videos. */
  readonly enclosures: readonly FeedEnclosure[]
  readonly categories: readonly string[]
}

/** A file that belongs to an entry. */
export interface FeedEnclosure {
  /** Absolute URL. */
  readonly url: string
  /** Media type, in lower case. */
  readonly type: string | undefined
  /** Size in bytes. */
  readonly length: number | undefined
}

/** What a feed says about polling it and about its other pages. All of it is advice, and some of it is wrong. */
export interface FeedHints {
  /** RSS `ttl`: minutes for which it may be cached. */
  readonly ttl: number | undefined
  /** Hours of the day in UTC, 0 to 23, in which it does not change. */
  readonly skipHours: readonly number[]
  /** Days on which it does not change: `Monday` to `Sunday`. */
  readonly skipDays: readonly string[]
  /** `sy:updatePeriod`: `hourly`, `daily`, `weekly`, `monthly` or `yearly`. */
  readonly updatePeriod: string | undefined
  /** `sy:updateFrequency`: updates in that period. */
  readonly updateFrequency: number | undefined
  /** The longer of `ttl` and of the update period divided by its frequency, in ms. */
  readonly intervalMs: number | undefined
  /** URL of a WebSub hub. */
  readonly hub: string | undefined
  /** The URL that the feed gives as its own. */
  readonly self: string | undefined
  /** The next page, which has older entries (RFC 5005, JSON Feed `next_url`). */
  readonly next: string | undefined
  /** The page before this one, which has newer entries. */
  readonly previous: string | undefined
  /** The archive document with the next older entries (RFC 5005 `prev-archive`). */
  readonly prevArchive: string | undefined
  /** The feed holds all entries there are (RFC 5005 `fh:complete`): one that disappears was removed. */
  readonly complete: boolean
  /** The document is an archive, which does not change any more (RFC 5005 `fh:archive`). */
  readonly archive: boolean
  /** JSON Feed `expired`, `itunes:complete`: there will be no more entries. */
  readonly expired: boolean
}

/** What is wrong with a feed that could be read nevertheless. */
export type FeedProblem =
  /** It ends in the middle; what came before is there. */
  | 'truncated'
  /** More than `maxBytes`. */
  | 'too-large'
  /** More than `maxEntries`. */
  | 'too-many-entries'
  /** Its entities would expand beyond the limit; they stay as written. */
  | 'too-many-entities'
  /** Dates that cannot be read, or cannot be true. */
  | 'bad-date'
  /** JSON with mistakes that were repaired. */
  | 'bad-json'

/** What `parseFeed` returns for anything else than a feed. It has the fields of a feed, all of them empty. */
export interface NoFeed {
  readonly kind: 'none'
  /** `html`: a page, usually an error page or a login. `empty`: nothing. `unknown`: neither that nor a feed. */
  readonly reason: 'html' | 'empty' | 'unknown'
  readonly title: undefined
  readonly link: undefined
  readonly entries: readonly []
  readonly hints: FeedHints
}

/** A page to search for feeds: one of a crawl, or HTML from elsewhere. */
export type FeedPage = Pick<Page, 'url' | 'content'> | { readonly url: string; readonly html: string }

/** Where `discoverFeeds` looks. */
export interface DiscoverOptions {
  /** Links that look like a feed: their path, their type or their text says so. Default true. */
  readonly anchors?: boolean | undefined
  /** Common paths at the root of the site and in the directory of the page. Default false. */
  readonly guess?: boolean | undefined
}

/** A URL that is, or may be, a feed. */
export interface FoundFeed {
  /** Canonical, absolute URL. */
  readonly url: string
  /** Media type that the link names, in lower case. */
  readonly type: string | undefined
  readonly title: string | undefined
  /**
   * `link`: the page declares it. `anchor`: a link that looks like a feed. `guess`: a common path, of which most do not
   * exist. Check the last two by fetching and parsing them.
   */
  readonly from: 'link' | 'anchor' | 'guess'
}

/**
 * What is remembered of a feed between polls: about 40 bytes an entry, at most 100,000 entries. Store the bytes as they
 * are; they carry a version.
 */
export type FeedMemory = Uint8Array

/** How to compare a feed with its memory. */
export interface CompareOptions {
  /** The feed is a delta (RFC 3229, status 226): what it does not have is not missing, and it is no window. */
  readonly delta?: boolean | undefined
  /** Entries at the start of the feed that are its window; those after it come from older pages. Default: all. */
  readonly window?: number | undefined
  /** When the feed was last seen, if it was not modified since the poll of the memory (304): nothing was posted until then. */
  readonly seenAt?: number | undefined
}

/** An entry with the name under which the memory knows it. */
export interface NamedEntry extends FeedEntry {
  /** 16 hexadecimal digits: stays the same as long as the entry is remembered, even if the feed changes its id. */
  readonly key: string
}

/** An entry that disappeared; only its name and date are remembered. */
export interface MissingEntry {
  readonly key: string
  /** In the form of `FeedEntry.published`, without fractions of a second. */
  readonly published: string | undefined
}

/** What changed since the last poll of a feed. */
export interface FeedDifference {
  /** For the next poll. */
  readonly memory: FeedMemory
  /** There was no memory, or none that could be read: every entry is new. */
  readonly first: boolean
  /** In order of publication, oldest first. */
  readonly new: readonly NamedEntry[]
  /** Known entries with another title or text, oldest first. */
  readonly changed: readonly NamedEntry[]
  /** Entries of the last window that were removed: older ones are still there, or the feed is complete. */
  readonly missing: readonly MissingEntry[]
  /** Entries of the last window that made room for new ones. */
  readonly scrolledOff: number
  /** Known entries that did not change. */
  readonly unchanged: number
  /** Of the new entries, those that were found on older pages. */
  readonly recovered: number
  /** Number of different entries in the window. */
  readonly window: number
  /** Publication of the newest and the oldest entry of the window, in ms since the epoch; undefined without dates. */
  readonly newestAt: number | undefined
  readonly oldestAt: number | undefined
  readonly loss: FeedLoss
}

/** Whether entries were published and scrolled off between two polls. */
export interface FeedLoss {
  /** Entries in common with the last window; undefined if there was no window to compare with. */
  readonly overlap: number | undefined
  /** True if the window has nothing in common with the last one, so that entries may have been lost. */
  readonly possible: boolean
  /** How many were lost, estimated: 0 if the windows overlap. May have a fraction. */
  readonly estimate: number
  /**
   * What the estimate is based on. `overlap`: nothing was lost. `dates`: rate of posting × time without entries. `rate`:
   * expected number beyond the window, from earlier polls. `unknown`: it cannot be said, because this is the first poll or
   * a delta, because the feed is complete, or because it is not ordered by time.
   */
  readonly basis: 'overlap' | 'dates' | 'rate' | 'unknown'
  /** With `dates`: the time of which no entry is known, in ms. */
  readonly gapMs: number | undefined
}

/** How to look for entries that scrolled off. */
export interface RecoverOptions {
  /** URL of the feed, after redirects. Older pages on other hosts are not read. */
  readonly url: string
  /** Pages to read, the first one included. Default 10. */
  readonly maxPages?: number | undefined
}

/** Several pages of a feed as one. */
export interface RecoveredFeed {
  /** The first page with the entries of the others behind its own. */
  readonly feed: Feed
  /** For `CompareOptions.window`: entries of the first page. */
  readonly window: number
  /** Fetch this page and call again with it; undefined if there is nothing more to read. */
  readonly next: string | undefined
  /** The pages reach back to entries that are known. */
  readonly overlaps: boolean
}
