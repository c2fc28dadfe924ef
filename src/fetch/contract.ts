import type { CrawlRequest, FailureCode, MaybePromise } from '../types.js'

/**
 * A request → an outcome.
 *
 * What must stay true:
 * - `fetch` resolves with an `Outcome` whatever the network does; it rejects or throws only for a bug.
 * - One call makes one request (`resent` counts exceptions). Redirects are outcomes and not followed here, because the
 *   target of a redirect has its own host, rules and visit interval.
 * - When the context is aborted, the call releases its socket and resolves soon.
 * - After `close` no socket, timer or handle remains.
 */
export interface Fetcher {
  fetch(request: CrawlRequest, context: FetchContext): MaybePromise<Outcome>
  /** How many requests it can run at once now, if that is fewer than usual. The crawl starts no more than this. */
  readonly capacity?: number | undefined
  close?: (() => MaybePromise<void>) | undefined
}

export interface FetchContext {
  /** Whether a body of this media type is wanted. If not, only the headers are read (`skippedBody`). */
  wants(mediaType: string): boolean
  /** Maximum size of this body in bytes, if it differs from the fetcher's own (sitemaps may be larger). */
  readonly maxBodyBytes?: number | undefined
  /** True: a longer body is cut off at the limit (`truncated`) instead of failing with `body-too-large`. */
  readonly cutsBody?: boolean | undefined
  /** Validators of the known version of the page: the server may answer 304 if it has not changed. */
  readonly known?: Validators | undefined
  /** Whether the outcome should have its `exchange`. */
  readonly records?: boolean | undefined
  /** True: the exchange has secrets, e.g. of a login, and must not be kept. */
  readonly isPrivate?: boolean | undefined
  /** Aborted when the deadline passes or the crawl is aborted. Created on first access. */
  readonly signal: AbortSignal
  /** A cheaper way to learn of the abort: called at most once. Set it before the first `await`. */
  onAbort: (() => void) | undefined
  readonly aborted: boolean
  /**
   * Asked immediately before the request is sent, in the same turn: the wait for a connection may have been long. False:
   * the visit has been aborted, and nothing may be sent. Absent: it may be sent whenever the connection is there.
   */
  readonly maySend?: (() => boolean) | undefined
}

/** Response headers that identify a version of a page. */
export interface Validators {
  readonly etag?: string | undefined
  /** As the server wrote it. */
  readonly modified?: string | undefined
}

export type Outcome = FetchedResponse | FetchFailure

/** The server answered, whatever the status. */
export interface FetchedResponse {
  readonly ok: true
  readonly status: number
  readonly headers: ResponseHeaders
  /** The decoded body; empty for redirects and error statuses, and where `skippedBody` is true. */
  readonly body: Uint8Array
  /** Bytes of body read from the wire, before decompression. */
  readonly wireBytes: number
  /** True when the media type is not wanted, so that only the headers were read. */
  readonly skippedBody: boolean
  /** True if the body is only the beginning of what was sent: it was too large, or its compression was broken. */
  readonly truncated?: boolean | undefined
  /** How often the request was resent at once, because a kept-alive connection closed before the server received it. */
  readonly resent?: number | undefined
  /** What went over the wire, if the context asks for it and the server has answered. */
  readonly exchange?: WireExchange | undefined
  /** True: this is the answer of an archive. The host was not contacted, so it need not rest. */
  readonly archived?: boolean | undefined
}

export interface FetchFailure {
  readonly ok: false
  readonly code: FailureCode
  /** What happened, in a sentence. */
  readonly message: string
  /**
   * True: this machine ran out of a resource (file descriptors, ports, memory), which says nothing about the host. It
   * does not count as a failure or retry: the request is queued again unchanged.
   */
  readonly shortage?: boolean | undefined
  /** Bytes read before it failed. */
  readonly wireBytes?: number
  readonly cause?: unknown
  /** How often the request was resent at once, because a kept-alive connection closed before the server received it. */
  readonly resent?: number | undefined
  /** What went over the wire, if the context asks for it and the server has answered. */
  readonly exchange?: WireExchange | undefined
  /** True: this is the answer of an archive. The host was not contacted, so it need not rest. */
  readonly archived?: boolean | undefined
}

/** Header names are lower case. */
export interface ResponseHeaders {
  /** The value; several lines of one name are joined with `, `. */
  get(name: string): string | undefined
  entries(): Iterable<readonly [name: string, value: string]>
  /** A copy that does not keep the received bytes in memory, for users who keep headers. */
  detached?(): ResponseHeaders
}

/** One request and its response as they went over the wire, as far as the fetcher knows. Plain data. */
export interface WireExchange {
  /** HTTP/2 has no text: `request` and `response` say the same as HTTP/1.1 would, with header names in lower case. */
  readonly protocol: 'http/1.1' | 'h2'
  /** As sent: request line, headers and body. */
  readonly request: Uint8Array
  /** As received: status line, headers, and as much of the body as was read, with its transfer and content coding. */
  readonly response: Uint8Array
  /** Where the body begins in `response`. */
  readonly headBytes: number
  /** The body after transfer decoding (chunks are joined) and before content decoding (it may be gzip). */
  readonly body: Uint8Array
  /** True if the body is only the beginning of what the server sent: it was too large, or not wanted. */
  readonly truncated: boolean
  /** When the request was sent, in ms since the epoch, and how long the exchange took. */
  readonly startedAt: number
  readonly durationMs: number
  /** IP address of the server; undefined if unknown, e.g. behind a proxy. */
  readonly remoteAddress: string | undefined
}

/** An exchange and what it was for, for archives. Plain data: it can be posted to another thread. */
export interface HttpExchange extends WireExchange {
  /** The URL that was requested, canonical. */
  readonly url: string
  /** `page.id` of the request: the same for the page that the exchange led to. */
  readonly id: string
  /** Why it was sent. */
  readonly purpose: 'page' | 'robots' | 'sitemap'
  /** In upper case. */
  readonly method: string
  readonly status: number
}
