import type { MaybePromise } from '../../types.js'
import type { SitemapEntry } from '../contract.js'

/** Options for reading a sitemap. */
export interface SitemapOptions {
  /** Bytes to read, after decompression; the rest is ignored. Default 52,428,800, the protocol's limit. */
  readonly maxBytes?: number | undefined
  /** Entries to return; the rest is ignored. Default 50,000, the protocol's limit. */
  readonly maxEntries?: number | undefined
  /**
   * Also return translations (`<xhtml:link hreflang>`) as pages. Default false: in a valid sitemap every translation has
   * its own entry, and n languages would list each page n times.
   */
  readonly alternates?: boolean | undefined
}

/** Why entries may be missing. The first four stop the reader; entries found before are returned. */
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
  /** Entries, or lines of a list, without a URL. */
  | 'no-url'
  /** Entries whose URL is too long to fetch. */
  | 'url-too-long'
  /** Entries with an invalid `lastmod`, which is omitted. */
  | 'bad-date'
  /** Entries whose `priority` is not a number from 0 to 1; it is omitted. */
  | 'bad-priority'

/** A problem found in a sitemap. */
export interface SitemapProblem {
  /** Kind of problem. */
  readonly code: SitemapProblemCode
  /** How often it occurred. */
  readonly count: number
  /** Description for people. */
  readonly message: string
}

/**
 * Reads a sitemap in chunks of any size, without keeping the entries that it returned.
 *
 * It never throws, whatever the input. Time is linear in the number of bytes; memory is constant. It fetches nothing and
 * expands no entities of a DTD.
 */
export interface SitemapReader {
  /**
   * Reads a chunk and returns the entries that it completed. If the sitemap is compressed, the result is a promise:
   * await it before the next call.
   */
  push(piece: Uint8Array | string): MaybePromise<SitemapEntry[]>
  /** Ends the sitemap and returns the remaining entries. Later chunks are ignored. */
  end(): MaybePromise<SitemapEntry[]>
  /** True once nothing more will be read; `problems` says why. */
  readonly stopped: boolean
  /** Problems found so far, one for each code. */
  readonly problems: readonly SitemapProblem[]
}
