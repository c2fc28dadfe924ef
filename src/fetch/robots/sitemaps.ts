/** The sitemaps that origins name in their robots.txt, until somebody takes them. */

import { owned } from '../../owned.js'
import { canonicalizeUrl } from '../../url/canonicalize.js'

/** In characters. They are taken right after they are learned; this is for a crawl that has no use for them. */
const MAX_WEIGHT = 4 * 1024 * 1024

/** Filled by `put`, emptied by `take`. What does not fit is not kept. */
export class SitemapShelf {
  readonly #byOrigin = new Map<string, readonly string[]>()
  #weight = 0

  /** Keeps the sitemaps that the file at `base` names; relative ones are meant from there. */
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

  /** Hands out what an origin named, once. */
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
