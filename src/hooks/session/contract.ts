import type { Page } from '../../extract/contract.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import type { StateSpace } from '../../stores/contract.js'
import type { Duration, Waits } from '../../time.js'
import type { CrawlRequest, FailureCode, MaybePromise } from '../../types.js'

/** Values of form fields, by name. */
export type FormValues = Readonly<Record<string, string>>

/** Options of `session()`. */
export interface SessionOptions {
  /** The page with the login form. The session is for all pages of its origin. */
  readonly login: string | URL
  /** A CSS selector for the form. Default: the first form with a password field. */
  readonly form?: string | undefined
  /** What to fill in, by the `name` of the field; or a function that returns it, called for each login. */
  readonly fields: Readonly<Record<string, string>> | (() => MaybePromise<Readonly<Record<string, string>>>)
  /**
   * How a login that worked is recognized. Default: its response is no error, does not redirect to the login page, and
   * does not show the form again.
   */
  readonly success?: SessionRule | undefined
  /** How a page shows that the session is over. Default: a redirect to the login page, or status 401. */
  readonly over?: SessionRule | undefined
  /** The shortest time between two logins. Default `'1m'`. */
  readonly interval?: Duration | undefined
}

/** One of these must apply. A function is short for `{ when }`. */
export type SessionRule = SessionConditions | ((page: Page) => MaybePromise<boolean>)

export interface SessionConditions {
  /** The response has one of these statuses. */
  readonly statuses?: readonly number[] | undefined
  /** It redirects to a URL that matches: a glob such as `'/login'` (the query does not count), or a regular expression. */
  readonly redirect?: string | RegExp | undefined
  /** The page has an element that matches this CSS selector. */
  readonly selector?: string | undefined
  /** A test of your own. The page of a redirect or an error has no body. */
  readonly when?: ((page: Page) => MaybePromise<boolean>) | undefined
}

/** Options of a session, checked. */
export interface SessionSettings {
  /** Canonical. */
  readonly login: string
  readonly form: string | undefined
  readonly fields: SessionOptions['fields']
  readonly success: SessionConditions | undefined
  readonly over: SessionConditions | undefined
  readonly intervalMs: number
}

/** What sessions need of the crawl. */
export interface SessionParts {
  /** Keeps what must be known of a session when its host moves, or in the next run. */
  readonly records: StateSpace
  /** Bounds the functions of the user. */
  readonly waits: Waits
  /** When the run started. */
  readonly openedAt: number
  pageOf(request: CrawlRequest, response: FetchedResponse): Page
}

/** The sessions of a shard's hosts. */
export interface SessionGate {
  /** Undefined: the origin of the URL has no session. */
  of(url: string): OriginSession | undefined
  /** Forgets the sessions of hosts that moved to another shard; their records went along. */
  forget(isGone: (host: string) => boolean): void
}

/**
 * The session of an origin. Like the robots gate, it decides and does not fetch: each request of a login is a visit to
 * the host, so the visit interval holds.
 */
export interface OriginSession {
  /** Whether pages can be fetched now. */
  isOpen(now: number): boolean
  /** What to do before a page can be fetched. */
  next(now: number): MaybePromise<SessionVerdict>
  /** The outcome of the request that `next` asked for. */
  learn(outcome: Outcome, now: number): Promise<void>
  /**
   * When a page must be fetched again, because its response shows that the session is over; undefined if it does not.
   * `startedAt` is when it was requested.
   */
  over(
    request: CrawlRequest,
    response: FetchedResponse,
    startedAt: number,
    now: number,
  ): MaybePromise<number | undefined>
  /** Whether the response says that the request was not processed: a status 401, or a redirect to the login page. */
  isRefused(request: CrawlRequest, response: FetchedResponse): boolean
}

export type SessionVerdict =
  | 'open'
  /** Fetch this and call `learn`. */
  | { readonly fetch: CrawlRequest }
  /** The last login is too recent. */
  | { readonly retryAt: number }
  /** No login worked. */
  | { readonly failed: { readonly code: FailureCode; readonly message: string; readonly cause?: unknown } }
