import type { CrawlRequest, FailureCode, MaybePromise } from '../types.js'

/**
 * A request → an outcome.
 *
 * What must stay true:
 * - `fetch` resolves with an `Outcome` for whatever the network does; it rejects or throws only for a defect.
 * - One call makes one request (or says so: `resent`): redirects are outcomes, not followed here, because a redirect's
 *   target has its own host, rules and visit interval.
 * - When the context is aborted, the call lets go of its socket and resolves soon.
 * - After `close` no socket, timer or handle remains.
 */
export interface Fetcher {
  fetch(request: CrawlRequest, context: FetchContext): MaybePromise<Outcome>
  /** Requests that it can carry at once just now, if that is fewer than usual. The crawl starts no more than that. */
  readonly capacity?: number | undefined
  close?(): MaybePromise<void>
}

export interface FetchContext {
  /** Whether a body of this media type is wanted; of others only the headers are read (`skippedBody`). */
  wants(mediaType: string): boolean
  /** Most bytes of this body, where it differs from what the fetcher was made with (sitemaps may be larger). */
  readonly maxBodyBytes?: number | undefined
  /** True: what exceeds that is cut off and the rest used (`truncated`), instead of `body-too-large`. */
  readonly cutsBody?: boolean | undefined
  /** What is known of the page: whoever serves it may answer 304 if that is still so. */
  readonly known?: Validators | undefined
  /** Aborted when the deadline passes or the crawl is aborted. Made on first touch. */
  readonly signal: AbortSignal
  /** The cheap way to hear the same: called at most once. Set it before the first `await`. */
  onAbort: (() => void) | undefined
  readonly aborted: boolean
}

/** What a server said by which a version of a page is known. */
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
  /** True when the body is only the beginning of what was sent: it was too large, or its compression broken or cut off. */
  readonly truncated?: boolean | undefined
  /** How often the request was sent again at once, because a kept connection had closed before it was heard. */
  readonly resent?: number | undefined
}

export interface FetchFailure {
  readonly ok: false
  readonly code: FailureCode
  /** What happened, in a sentence. */
  readonly message: string
  /**
   * True: this machine was short of something (descriptors, ports, memory), so that nothing is known of the host. No
   * host, URL or retry pays for it: the request stays as it is and has its turn again.
   */
  readonly shortage?: boolean | undefined
  /** Bytes read before it failed. */
  readonly wireBytes?: number
  readonly cause?: unknown
  /** How often the request was sent again at once, because a kept connection had closed before it was heard. */
  readonly resent?: number | undefined
}

/** Header names are lower case. */
export interface ResponseHeaders {
  /** The value; several lines of one name are joined with `, `. */
  get(name: string): string | undefined
  entries(): Iterable<readonly [name: string, value: string]>
  /** The same in memory of their own, for users who keep them; for headers that lie in what arrived with them. */
  detached?(): ResponseHeaders
}
