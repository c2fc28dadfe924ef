import type { MaybePromise } from '../types.js'

/**
 * Which URLs are already known.
 *
 * What must stay true:
 * - A URL that was never added is new, up to the chance of a 64-bit collision; one that was added is never new again.
 * - Calls are atomic with respect to each other: if two overlapping calls add the same URL, exactly one sees it as new.
 */
export interface SeenStore {
  /**
   * Adds canonical URLs and says for each, in the same order, whether it was new. Within one call the first of
   * two equal URLs is new and the second is not.
   */
  addAll(urls: readonly string[]): MaybePromise<readonly boolean[]>

  /** How many URLs are known. */
  readonly size: number

  /** Releases memory, files, connections. Calling it twice does nothing. */
  close(): MaybePromise<void>
}
