/** The words that every room shares. What belongs to one room is defined in that room's contract. */

/** A value, or the promise of one: memory answers at once, a disk later, and nobody pays for a promise in vain. */
export type MaybePromise<T> = T | Promise<T>

/** A URL on its way through the crawl: what the frontier keeps and hands out. */
export interface CrawlRequest {
  /** Canonical absolute URL (see `url/canonicalizeUrl`). */
  readonly url: string
  /** The politeness unit: host name, with the port if it is not the scheme's default. One host, one clock. */
  readonly host: string
  /** Links followed from a seed to here; a seed has 0, a redirect keeps the depth of its source. */
  readonly depth: number
  /** Larger goes first within a host. Default 0. */
  readonly priority: number
  /** How often this URL has been tried before. */
  readonly attempt: number
  /** Redirects followed to get here. */
  readonly redirects: number
  /** The page on which the link was found, if any. */
  readonly parent: string | undefined
  /** Absent for a page. A frontier hands it back as it took it. */
  readonly purpose?: Purpose | undefined
  /** The URLs that redirected here, first to last; absent if none did. */
  readonly via?: readonly string[] | undefined
  /** What a sitemap said about the page. */
  readonly hint?: SitemapHint | undefined
  /** The page is known and is visited to see whether it changed. A frontier sets it when it is told `again.revisit`. */
  readonly revisit?: boolean | undefined
  /** On a leased request: how its host has fared, if not well. It is the frontier's to fill in. */
  readonly hostTrouble?: HostTrouble | undefined
}

/**
 * What became of a page since it was last visited. `new`: it had not been visited, or it was gone and is back. `gone`: the
 * server says so, or it could not be had several times in a row.
 */
export type Change = 'new' | 'changed' | 'unchanged' | 'gone'

/** What a sitemap says about a page; of use to a schedule, and often wrong. */
export interface SitemapHint {
  /** Milliseconds since the epoch. */
  readonly lastmod?: number | undefined
  readonly changefreq?: string | undefined
  /** 0 to 1. */
  readonly priority?: number | undefined
}

/** Failures of a host in a row. Those of visits that were under way at the same time are one incident. */
export interface HostTrouble {
  /** 0: it is over. */
  readonly incidents: number
  /** When the last one was noticed. */
  readonly since: number
}

/**
 * Why a URL is fetched, if not for the page behind it: a sitemap (`nested` is the number of indexes above it), or the
 * rules of another origin, whose robots.txt redirected here.
 */
export type Purpose =
  | {
      readonly kind: 'sitemap'
      readonly nested: number
      /** The host for whose sake it is read. */
      readonly of: string
      /** Nobody named it: that it is not there is no failure. */
      readonly guessed?: boolean | undefined
    }
  | { readonly kind: 'robots'; readonly origin: string }
  | RobotsArrived

/**
 * Not to be fetched: the answer to a request of kind `robots`, on its way to the shard that asked for it. No frontier
 * ever holds one.
 */
export interface RobotsArrived {
  readonly kind: 'rules'
  readonly origin: string
  /** The URL that was asked for. */
  readonly fetched: string
  readonly answer: PlainAnswer
}

/** What came of a fetch, as data that JSON can hold. */
export type PlainAnswer =
  | {
      readonly ok: true
      readonly status: number
      readonly headers: readonly (readonly [name: string, value: string])[]
      /** A character a byte. */
      readonly body: string
      readonly skippedBody: boolean
      readonly truncated: boolean
    }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string }

/** A link as written in a page, not yet resolved. */
export interface Link {
  /** As written, entities decoded; relative to the page's base. */
  readonly href: string
  /** Where it stood. A plugin may use any word of its own. */
  readonly tag: string
  /** The `rel` attribute, as written. */
  readonly rel?: string | undefined
  /** Larger is fetched earlier within its host. */
  readonly priority?: number | undefined
}

/** Why a known URL was not fetched, or its response not used. Counted in `stats().skips`. */
export type SkipReason =
  /** The scope said no. */
  | 'scope'
  /** Deeper than `.depth(n)`. */
  | 'depth'
  /** robots.txt said no. */
  | 'robots'
  /** The page asked that its links, or this one, not be followed (robots meta, X-Robots-Tag, rel). */
  | 'nofollow'
  /** The operator's block-list names it. */
  | 'blocked'
  /** A media type that no extractor wants; only its headers were read. */
  | 'media-type'
  /** The host has had its `limit({ pagesPerHost })`. */
  | 'host-limit'
  /** The site has had its `limit({ pagesPerSite })`. */
  | 'site-limit'
  /** Traps: longer than a URL needs to be. */
  | 'url-too-long'
  /** Traps: more directories than a path needs. */
  | 'path-too-deep'
  /** Traps: the same segments again and again (`/a/b/a/b/a/b`). */
  | 'path-repeats'
  /** Traps: one path with ever new queries. */
  | 'query-variety'
  /** Traps: beyond the number of links that are read of one page. */
  | 'too-many-links'
  /** Traps: the same content under ever new URLs of a host, whose links are therefore not followed. */
  | 'same-content'
  /** Not an absolute http(s) URL once resolved (`mailto:`, `javascript:`, a malformed host). */
  | 'not-http'

/** What went wrong with a URL. Stable words to match on; docs/errors.md explains each. */
export type FailureCode =
  /** No complete answer within `.timeout()`. */
  | 'timeout'
  /** The host name has no address. */
  | 'dns-failed'
  /** No connection: refused, unreachable, no route. */
  | 'connect-failed'
  /** The address is not one of the public internet, and the host was not named by the caller. */
  | 'address-refused'
  /** The proxy could not be reached or refused. */
  | 'proxy-failed'
  /** The connection broke before the answer was complete. */
  | 'connection-lost'
  /** The TLS handshake or the certificate failed. */
  | 'tls-failed'
  /** What came back is not valid HTTP. */
  | 'bad-response'
  /** The response headers exceed the limit. */
  | 'headers-too-large'
  /** The body exceeds `.maxBodyBytes()`, on the wire or decoded. */
  | 'body-too-large'
  /** The body could not be decompressed. */
  | 'decode-failed'
  /** A status outside 2xx and 3xx; `status` tells which. */
  | 'http-status'
  /** The host has failed so often in a row that its remaining URLs were given up without a visit. */
  | 'host-down'
  /** A redirect without a usable `Location`. */
  | 'bad-redirect'
  /** More redirects in a row than the limit. */
  | 'too-many-redirects'
  /** A redirect to a URL that had redirected here. */
  | 'redirect-loop'
  /** The crawl was aborted while this was in flight; the URL stays pending. */
  | 'aborted'
  /** The fetcher threw instead of returning an outcome. */
  | 'fetcher-failed'
  /** An extractor threw. */
  | 'extract-failed'
  /** An extractor did not return in time. */
  | 'extract-timeout'
  /** A hook or a `page` listener threw. */
  | 'hook-failed'
  /** A hook or a `page` listener did not return in time. */
  | 'hook-timeout'
  /** A scope rule threw while it looked at this URL, which was therefore not followed. */
  | 'scope-failed'
  /** A seed from an iterable is not an http(s) URL. */
  | 'invalid-seed'
  /** The worker thread that had this page died, or hung, twice: the user's code cannot cope with it. */
  | 'worker-crashed'

/** A failure as listeners and hooks see it. */
export interface Failure {
  readonly url: string
  readonly code: FailureCode
  /** What happened and to what, in a sentence. */
  readonly message: string
  readonly status?: number | undefined
  readonly attempt: number
  /** True when the crawl gave the URL up; false when it will be tried again. */
  readonly final: boolean
  readonly cause?: unknown
}
