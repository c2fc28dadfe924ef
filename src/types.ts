/** Types that every room shares. What belongs to one room is defined in that room's contract. */

/** A value, or a promise of it: memory answers synchronously, a disk does not, and memory pays for no promise. */
export type MaybePromise<T> = T | Promise<T>

/** A URL to fetch: what the frontier queues and leases. */
export interface CrawlRequest {
  /** Canonical absolute URL (see `canonicalizeUrl`). */
  readonly url: string
  /** Host name, with the port if it is not the scheme's default. Rate limits apply per host. */
  readonly host: string
  /** Number of links followed from a seed; a seed has 0, a redirect target has the depth of its source. */
  readonly depth: number
  /** Within a host, requests with a larger number come first. Default 0. */
  readonly priority: number
  /** Number of earlier attempts to fetch this URL. */
  readonly attempt: number
  /** Number of redirects followed to this URL. */
  readonly redirects: number
  /** The page that links here, if any. */
  readonly parent: string | undefined
  /** Absent for a page. A frontier returns it unchanged. */
  readonly purpose?: Purpose | undefined
  /** What redirected here, first to last, by the names of `redirectName`: for a GET, the URL. Absent if nothing did. */
  readonly via?: readonly string[] | undefined
  /** What a sitemap says about the page. */
  readonly hint?: SitemapHint | undefined
  /** What the program asked for beyond a GET of the URL. A frontier returns it unchanged. */
  readonly extras?: RequestExtras | undefined
  /** On a request that is added: it is not handed out before this time, in ms since the epoch. */
  readonly notBefore?: number | undefined
  /** The page is known and is visited to check for changes. A frontier sets it when a settlement has `again.revisit`. */
  readonly revisit?: boolean | undefined
  /** On a leased request: recent failures of its host. Set by the frontier. */
  readonly hostTrouble?: HostTrouble | undefined
}

/** The parts of a request that most requests do without. Plain data, at least one field. */
export interface RequestExtras {
  /** In upper case. Absent: GET. */
  readonly method?: string | undefined
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** True: `body` is base64 of bytes. Otherwise it is sent as UTF-8. */
  readonly binary?: true | undefined
  readonly label?: string | undefined
  /** As JSON text: it is small, cannot be changed from outside, and is parsed only if it is read. */
  readonly data?: string | undefined
  /** With `pageLanguage(…, { around })`: how many links ago the last page in the scope was. Absent: it links here. */
  readonly outside?: number | undefined
}

/** The request behind a page, failure, skip or redirect, as the program made it. */
export interface PageRequest {
  /** `GET` unless another was asked for. */
  readonly method: string
  readonly label: string | undefined
  /** A fresh copy of what was given; undefined if nothing was. */
  readonly data: unknown
  readonly priority: number
}

/**
 * How a page differs from the last visit. `new`: this is the first visit, or the page was gone and is back. `gone`: the
 * server says so, or several visits in a row failed.
 */
export type Change = 'new' | 'changed' | 'unchanged' | 'gone'

/** What a sitemap says about a page: useful for scheduling, and often wrong. */
export interface SitemapHint {
  /** Milliseconds since the epoch. */
  readonly lastmod?: number | undefined
  readonly changefreq?: string | undefined
  /** 0 to 1. */
  readonly priority?: number | undefined
}

/** Consecutive failures of a host. Failures of visits that ran at the same time count as one incident. */
export interface HostTrouble {
  /** 0: the host has recovered. */
  readonly incidents: number
  /** When the last incident was noticed. */
  readonly since: number
}

/**
 * Why a URL is fetched if not as a page: it is a sitemap (`nested` is the number of indexes above it), the robots.txt of
 * another origin redirected here, or it is a feed.
 */
export type Purpose =
  | {
      readonly kind: 'sitemap'
      readonly nested: number
      /** The host whose sitemap it is. */
      readonly of: string
      /** The URL was guessed, so a missing file is not a failure. */
      readonly guessed?: boolean | undefined
    }
  | { readonly kind: 'robots'; readonly origin: string }
  | RobotsArrived
  | FeedPurpose

/**
 * A poll of a feed. One such request belongs to each feed and waits in the frontier for the next poll; it is a revisit
 * once the feed is known. If a poll is redirected, what is known about the feed travels with it, so that exactly one shard
 * has it.
 */
export interface FeedPurpose {
  readonly kind: 'feed'
  /** The program named the URL: if it is no feed, it is a page. Absent: a page declares it, or links to it. */
  readonly seed?: true | undefined
  /** A common path that nobody named: that it is no feed is no failure, and its redirects lead elsewhere. */
  readonly guess?: true | undefined
  /** The feed that redirected here. */
  readonly of?: string | undefined
  /** All redirects on the way here were permanent. */
  readonly moved?: boolean | undefined
  /** What is known about the feed, as `FollowedFeeds` stores it; absent before its first poll. */
  readonly state?: { readonly record: object; readonly memory?: string | undefined } | undefined
  /** Not a poll: `state` comes back to the feed that redirected. */
  readonly returns?: true | undefined
}

/**
 * Never fetched: the response to a request of kind `robots`, sent to the shard that asked for it. No frontier contains
 * one.
 */
export interface RobotsArrived {
  readonly kind: 'rules'
  readonly origin: string
  /** The URL that was fetched. */
  readonly fetched: string
  readonly answer: PlainAnswer
}

/** The outcome of a fetch as JSON. */
export type PlainAnswer =
  | {
      readonly ok: true
      readonly status: number
      readonly headers: readonly (readonly [name: string, value: string])[]
      /** One character per byte. */
      readonly body: string
      readonly skippedBody: boolean
      readonly truncated: boolean
    }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string }

/** A link as written in a page, before it is resolved. */
export interface Link {
  /** As written, with entities decoded; relative to the page's base URL. */
  readonly href: string
  /** The element that contained it. An extractor may use any word. */
  readonly tag: string
  /** The `rel` attribute, as written. */
  readonly rel?: string | undefined
  /** Within a host, links with a larger number are fetched first. It outweighs the rules of `prioritize()`. */
  readonly priority?: number | undefined
}

/** Why a URL was not fetched, or its response not used. Counted in `stats().skips`. */
export type SkipReason =
  /** Out of scope. */
  | 'scope'
  /** Deeper than `.depth(n)`. */
  | 'depth'
  /** Disallowed by robots.txt. */
  | 'robots'
  /** The page asks crawlers not to follow its links, or this one (robots meta, X-Robots-Tag, rel). */
  | 'nofollow'
  /** Matched by `.block()`. */
  | 'blocked'
  /** The page is not written in a language of the scope: see `pageLanguage()`. */
  | 'language'
  /** No extractor wants this media type; only the headers were read. */
  | 'media-type'
  /** The host has reached `limit({ pagesPerHost })`. */
  | 'host-limit'
  /** The site has reached `limit({ pagesPerSite })`. */
  | 'site-limit'
  /** Trap: the URL is too long. */
  | 'url-too-long'
  /** Trap: the path has too many directories. */
  | 'path-too-deep'
  /** Trap: the path repeats the same segments (`/a/b/a/b/a/b`). */
  | 'path-repeats'
  /** Trap: too many different queries for one path. */
  | 'query-variety'
  /** Trap: the page has more links than are read from one page. */
  | 'too-many-links'
  /** Trap: the host shows the same content under more and more URLs; the links of this one are not followed. */
  | 'same-content'
  /** Not an absolute http(s) URL once resolved (`mailto:`, `javascript:`, a malformed host). */
  | 'not-http'

/** What went wrong with a URL. The codes are stable; docs/errors.md explains each. */
export type FailureCode =
  /** No complete response within `.timeout()`. */
  | 'timeout'
  /** The host name has no address. */
  | 'dns-failed'
  /** The connection failed: refused, unreachable or no route. */
  | 'connect-failed'
  /** The host resolves to a private address, and is neither a seed nor allowed by `.allowPrivate()`. */
  | 'address-refused'
  /** The proxy could not be reached, or refused the connection. */
  | 'proxy-failed'
  /** The connection broke before the response was complete. */
  | 'connection-lost'
  /** The TLS handshake failed, or the certificate was rejected. */
  | 'tls-failed'
  /** The response is not valid HTTP. */
  | 'bad-response'
  /** The response headers exceed the limit. */
  | 'headers-too-large'
  /** The body exceeds `.maxBodyBytes()`, on the wire or decoded. */
  | 'body-too-large'
  /** The body could not be decompressed. */
  | 'decode-failed'
  /** A status outside 2xx and 3xx; see `status`. */
  | 'http-status'
  /** The host failed so often in a row that its remaining URLs are given up without a visit. */
  | 'host-down'
  /** A redirect without a usable `Location`. */
  | 'bad-redirect'
  /** More consecutive redirects than the limit. */
  | 'too-many-redirects'
  /** A redirect to a URL that already redirected here. */
  | 'redirect-loop'
  /** `warcReplay()` or `cache()` has no answer to the request, and nothing was sent. */
  | 'not-archived'
  /** The crawl was aborted during the fetch; the URL stays pending. */
  | 'aborted'
  /** The fetcher threw instead of returning an outcome. */
  | 'fetcher-failed'
  /** An extractor threw. */
  | 'extract-failed'
  /** An extractor did not return in time. */
  | 'extract-timeout'
  /** A field of `select()` is missing, or its schema rejects it. */
  | 'invalid-data'
  /** A hook or a `page` listener threw. */
  | 'hook-failed'
  /** A hook or a `page` listener did not return in time. */
  | 'hook-timeout'
  /** `routes()` has no handler for the page. */
  | 'no-route'
  /** A scope rule threw for this URL, so it was not followed. */
  | 'scope-failed'
  /** `urls({ rewrite })` threw for this URL, returned no http(s) URL, or would rewrite its result again. */
  | 'rewrite-failed'
  /** The login of a session failed, so pages of its origin are not fetched. */
  | 'session-failed'
  /** The page shows that the session is over. It is fetched again after a new login. */
  | 'session-over'
  /** A seed from an iterable is not an http(s) URL. */
  | 'invalid-seed'
  /** A URL that is followed as a feed answered with something else, usually a page. */
  | 'not-a-feed'
  /** Worker threads crashed or hung repeatedly while they processed this page. */
  | 'worker-crashed'

/** A failure, as listeners and hooks receive it. */
export interface Failure {
  readonly url: string
  readonly code: FailureCode
  /** What happened, as a sentence. */
  readonly message: string
  readonly status?: number | undefined
  readonly attempt: number
  /** True if the crawl gives the URL up; false if it will retry. */
  readonly final: boolean
  readonly cause?: unknown
  /** The page that links here; undefined for a seed. */
  readonly parent: string | undefined
  /** Number of links followed from a seed. */
  readonly depth: number
  /** URLs that redirected here, first to last; empty if none did. */
  readonly redirectedFrom: readonly string[]
  /** The request that failed. */
  readonly request: PageRequest
}

/** A URL that was not fetched, or whose response was not used. */
export interface Skip {
  readonly url: string
  readonly reason: SkipReason
  /** The page with the link, if any. */
  readonly parent: string | undefined
  /** The request that was skipped; for a link, the request that it would have been. */
  readonly request: PageRequest
}

/** A URL that redirected. */
export interface Redirect {
  readonly url: string
  readonly to: string
  readonly status: number
  /** The page that links to `url`; undefined for a seed. */
  readonly parent: string | undefined
  /** Number of links followed from a seed. */
  readonly depth: number
  /** URLs that redirected to `url`, first to last; empty if none did. */
  readonly redirectedFrom: readonly string[]
  /** The request that was redirected. */
  readonly request: PageRequest
}
