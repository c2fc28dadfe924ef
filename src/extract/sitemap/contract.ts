import type { MaybePromise } from '../../types.js'
import type { SitemapEntry } from '../contract.js'

/** How a sitemap is read. */
export interface SitemapOptions {
  /**
   * Bytes that are read, counted after gzip; the rest is left. Default 52,428,800, as the protocol has it.
   */
  readonly maxBytes?: number | undefined
  /** Entries that are given; the rest is left. Default 50,000, as the protocol has it. */
  readonly maxEntries?: number | undefined
  /**
   * Gives the translations of a page (`<xhtml:link hreflang>`) as pages too. Default false: in a sitemap that
   * follows the rules each of them has an entry of its own, and n languages name each page n times.
   */
  readonly alternates?: boolean | undefined
}

/** Why entries may be missing. The first four end the reading; what came before is given. */
export type SitemapProblemCode =
  /** More than `maxBytes`. */
  | 'too-large'
  /** More than `maxEntries`. */
  | 'too-many-entries'
  /** Neither a sitemap nor a feed nor a list of URLs. */
  | 'not-a-sitemap'
  /** The gzip data is damaged. */
  | 'broken-gzip'
  /** The file ends in the middle. */
  | 'truncated'
  /** Entries, or lines of a list, that name no URL. */
  | 'no-url'
  /** Entries whose URL is longer than any that can be fetched. */
  | 'url-too-long'
  /** A `lastmod` that is no date; the entry is given without it. */
  | 'bad-date'
  /** A `priority` that is no number from 0 to 1; the entry is given without it. */
  | 'bad-priority'

/** Something that went wrong, once or often. */
export interface SitemapProblem {
  readonly code: SitemapProblemCode
  /** How often it was met. */
  readonly count: number
  /** For people. */
  readonly message: string
}

/**
 * Reads a sitemap in pieces of any size, and forgets what it has given.
 *
 * What must stay true: it never throws on what it reads, whatever that is. Time grows with the number of
 * bytes and nothing else; memory does not grow at all. Nothing is fetched, and no entity of a DTD is
 * expanded.
 */
export interface SitemapReader {
  /**
   * The entries that this piece completed: at once, or as a promise where the sitemap is compressed, which
   * has to be awaited before the next call.
   */
  push(piece: Uint8Array | string): MaybePromise<SitemapEntry[]>
  /** The entries that were still open. After this nothing is read any more. */
  end(): MaybePromise<SitemapEntry[]>
  /** True once there is no use in reading on; `problems` says why. */
  readonly stopped: boolean
  /** What went wrong so far, one of each code. */
  readonly problems: readonly SitemapProblem[]
}
