import type { CrawlRequest, FailureCode } from '../../types.js'
import type { Outcome } from '../contract.js'

/**
 * Applies the rules that hosts publish in robots.txt. The gate decides and does not fetch: the engine fetches the URL
 * that `check` returns, as an ordinary visit to that host, and passes the outcome to `learn`.
 */
export interface RobotsGate {
  /**
   * - `allow`: fetch the page.
   * - `deny`: the request is skipped with reason `robots`.
   * - `{ fetch }`: the rules are not known; fetch this URL, pass the outcome to `learn`, and check again. After a
   *   redirect the URL may be on another host, and the fetch is a visit to that host.
   * - `{ failed }`: the host cannot be reached; the request fails with this error.
   * - `{ retryAt }`: the rules are not available yet; check again at this time.
   */
  check(request: CrawlRequest, now: number): RobotsVerdict
  /** Reports the outcome of fetching the URL that `check` returned for `origin`. */
  learn(origin: string, fetched: string, outcome: Outcome, now: number): void
  /** The Crawl-delay of the host, if its rules are known and have one. */
  delayMs(request: CrawlRequest): number | undefined
  /** The sitemaps that an origin's robots.txt names. They are returned once; later calls return none. */
  takeSitemaps(origin: string): readonly string[]
  /** The rules of an origin as JSON-compatible data, for a store; undefined if they are not known. */
  record?(origin: string): unknown
  /** The rules of every known origin. */
  records?(): Iterable<{ readonly origin: string }>
  /** Restores a record of an earlier run. Records that cannot be used are ignored. */
  restore?(record: unknown): void
}

export type RobotsVerdict =
  | 'allow'
  | 'deny'
  | { readonly fetch: string }
  | { readonly failed: { readonly code: FailureCode; readonly message: string } }
  | { readonly retryAt: number }
