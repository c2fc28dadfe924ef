/** Collects the entries of a sitemap of any format, counts them, and records each kind of problem once. */

import type { SitemapEntry } from '../contract.js'
import type { SitemapProblem, SitemapProblemCode } from './contract.js'

const MESSAGES: Readonly<Record<SitemapProblemCode, string>> = {
  'too-large': 'larger than maxBytes; the rest was ignored',
  'too-many-entries': 'more entries than maxEntries; the rest was ignored',
  'not-a-sitemap': 'not a sitemap, a feed or a list of URLs',
  'broken-gzip': 'corrupt gzip data; entries before the damage were read',
  truncated: 'truncated; entries before the end were read',
  'no-url': 'entries without a URL',
  'url-too-long': 'entries with a URL that is too long',
  'bad-date': 'invalid dates, which were omitted',
  'bad-priority': 'priorities outside 0 to 1, which were omitted',
}

/** Filled by a format, emptied by the reader at the end of each call. */
export class SitemapOutput {
  readonly #maxEntries: number
  readonly #problemCounts = new Map<SitemapProblemCode, number>()
  #entries: SitemapEntry[] = []
  #added = 0
  stopped = false

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** Adds an entry, unless the limit is reached. */
  add(entry: SitemapEntry): void {
    if (this.stopped) return
    if (this.#added === this.#maxEntries) {
      this.stop('too-many-entries')
      return
    }
    this.#added++
    this.#entries.push(entry)
  }

  note(code: SitemapProblemCode): void {
    if (!this.stopped) this.#problemCounts.set(code, (this.#problemCounts.get(code) ?? 0) + 1)
  }

  /** Ignores everything from now on. */
  stop(code?: SitemapProblemCode): void {
    if (code !== undefined) this.note(code)
    this.stopped = true
  }

  /** Returns the collected entries and forgets them. */
  take(): SitemapEntry[] {
    const entries = this.#entries
    if (entries.length > 0) this.#entries = []
    return entries
  }

  get problems(): SitemapProblem[] {
    return [...this.#problemCounts].map(([code, count]) => ({ code, count, message: MESSAGES[code] }))
  }
}
