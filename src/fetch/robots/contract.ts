import type { CrawlRequest, FailureCode } from '../../types.js'
import type { Outcome } from '../contract.js'

/**
 * The rules that hosts publish in robots.txt. It decides; it does not fetch: the engine fetches what `check` asks
 * for, as a visit to that host like any other, and hands the outcome to `learn`.
 */
export interface RobotsGate {
  /**
   * - `allow`: go on.
   * - `deny`: the request is skipped with reason `robots`.
   * - `{ fetch }`: the rules are not known; fetch that URL, `learn` it, and ask again. After a redirect it may be on
   *   another host, and is then fetched as a visit to that one.
   * - `{ failed }`: the host could not be reached, so its pages cannot be either; the request fails with that.
   * - `{ retryAt }`: the rules could not be had; ask again then.
   */
  check(request: CrawlRequest, now: number): RobotsVerdict
  /** What came of fetching the URL that `check` asked for, for the sake of `origin`. */
  learn(origin: string, fetched: string, outcome: Outcome, now: number): void
  /** The pause that the host asks for (Crawl-delay), if its rules are known and name one. */
  delayMs(request: CrawlRequest): number | undefined
  /** The sitemaps that the rules of an origin name, as written, if they are known: once, then none. */
  takeSitemaps(origin: string): readonly string[]
  /** What is known of an origin as plain data that JSON can hold, for a store to keep; undefined if nothing is. */
  record?(origin: string): unknown
  /** All that is known, origin by origin. */
  records?(): Iterable<{ readonly origin: string }>
  /** Takes up what was known before. What cannot be used is passed over. */
  restore?(record: unknown): void
}

export type RobotsVerdict =
  | 'allow'
  | 'deny'
  | { readonly fetch: string }
  | { readonly failed: { readonly code: FailureCode; readonly message: string } }
  | { readonly retryAt: number }
