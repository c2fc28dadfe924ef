/**
 * Where the entries of a sitemap come together, whatever its format: they are counted here, and what went
 * wrong is noted once for each kind.
 */

import type { SitemapEntry } from '../contract.js'
import type { SitemapProblem, SitemapProblemCode } from './contract.js'

const MESSAGES: Readonly<Record<SitemapProblemCode, string>> = {
  'too-large': 'larger than maxBytes; the rest was not read',
  'too-many-entries': 'more entries than maxEntries; the rest was not read',
  'not-a-sitemap': 'neither a sitemap nor a feed nor a list of URLs',
  'broken-gzip': 'damaged gzip data; what came before the damage was read',
  truncated: 'ends in the middle; the entries before the end were read',
  'no-url': 'entries without a URL',
  'url-too-long': 'entries with a URL that is too long',
  'bad-date': 'dates that make no sense; their entries are given without them',
  'bad-priority': 'priorities that are not from 0 to 1; their entries are given without them',
}

/** Filled by the format that reads; emptied by the reader at the end of each call. */
export class SitemapOutput {
  readonly #maxEntries: number
  readonly #met = new Map<SitemapProblemCode, number>()
  #entries: SitemapEntry[] = []
  #given = 0
  stopped = false

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** Takes an entry, unless there are enough. */
  give(entry: SitemapEntry): void {
    if (this.stopped) return
    if (this.#given === this.#maxEntries) {
      this.stop('too-many-entries')
      return
    }
    this.#given++
    this.#entries.push(entry)
  }

  note(code: SitemapProblemCode): void {
    if (!this.stopped) this.#met.set(code, (this.#met.get(code) ?? 0) + 1)
  }

  /** Nothing is taken after this. */
  stop(code?: SitemapProblemCode): void {
    if (code !== undefined) this.note(code)
    this.stopped = true
  }

  /** Hands out what has come together, and forgets it. */
  take(): SitemapEntry[] {
    const entries = this.#entries
    if (entries.length > 0) this.#entries = []
    return entries
  }

  get problems(): SitemapProblem[] {
    return [...this.#met].map(([code, count]) => ({ code, count, message: MESSAGES[code] }))
  }
}
