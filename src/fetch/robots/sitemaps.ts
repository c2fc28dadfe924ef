/** Sitemaps that origins name in their robots.txt, until the engine takes them. */

import { owned } from '../../owned.js'
import { canonicalizeUrl } from '../../url/canonicalize.js'

/** In characters. The engine takes them at once; the limit is for crawls that do not use sitemaps. */
const MAX_WEIGHT = 4 * 1024 * 1024

/** Filled by `put`, emptied by `take`. What exceeds the limit is dropped. */
export class PendingSitemaps {
  readonly #byOrigin = new Map<string, readonly string[]>()
  #weight = 0

  /** Keeps the sitemaps that the file at `base` names; relative URLs are resolved against it. */
  put(origin: string, written: readonly string[], base: string): void {
    this.take(origin)
    const urls: string[] = []
    for (const sitemap of written) {
      const url = canonicalizeUrl(sitemap, base)
      if (url !== undefined) urls.push(url)
    }
    const weight = weightOf(urls)
    if (urls.length === 0 || this.#weight + weight > MAX_WEIGHT) return
    this.#byOrigin.set(owned(origin), urls)
    this.#weight += weight
  }

  /** Returns and removes the sitemaps of an origin. */
  take(origin: string): readonly string[] {
    const urls = this.#byOrigin.get(origin)
    if (urls === undefined) return []
    this.#byOrigin.delete(origin)
    this.#weight -= weightOf(urls)
    return urls
  }
}

function weightOf(urls: readonly string[]): number {
  return urls.reduce((sum, url) => sum + url.length, 0)
}
