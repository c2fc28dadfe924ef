/** The words that every room shares. What belongs to one room is defined in that room's contract. */

/** A value, or the promise of one: memory answers at once, a disk later, and nobody pays for a promise in vain. */
export type MaybePromise<T> = T | Promise<T>

/** A URL on its way through the crawl: what the frontier keeps and hands out. */
export interface CrawlRequest {
  /** Canonical absolute URL (see `url/canonicalise`). */
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
}

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
  /** The page asked that its links not be followed (robots meta). */
  | 'nofollow'
  /** A media type that no extractor wants; only its headers were read. */
  | 'media-type'
  /** The host has had its `limit({ pagesPerHost })`. */
  | 'host-limit'
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
  /** A redirect without a usable `Location`. */
  | 'bad-redirect'
  /** More redirects in a row than the limit. */
  | 'too-many-redirects'
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
