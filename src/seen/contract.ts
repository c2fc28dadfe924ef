import type { MaybePromise } from '../types.js'

/**
 * Which URLs are known.
 *
 * Invariants:
 * - A URL that was never added is new, except for 64-bit hash collisions; a URL that was added is never new again.
 * - Calls are atomic with respect to each other: if two overlapping calls add the same URL, exactly one of them sees it
 *   as new.
 */
export interface SeenStore {
  /**
   * Adds canonical URLs and returns for each, in the same order, whether it was new. If a URL occurs twice in one call,
   * the first occurrence is new and the second is not.
   */
  addAll(urls: readonly string[]): MaybePromise<readonly boolean[]>

  /** Number of known URLs. */
  readonly size: number

  /** Releases memory, files and connections. Closing twice is allowed. */
  close(): MaybePromise<void>
}
