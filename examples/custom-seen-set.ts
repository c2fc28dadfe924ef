/**
 * A seen-set of one's own: here one that keeps the URLs themselves, so that they can be listed when the crawl is over.
 * (The default keeps eight-byte fingerprints: far smaller, but it cannot say what it has seen.)
 *
 * test/examples.test.ts proves it with the suite that our own seen-set passes:
 *
 *     import { it } from 'node:test'
 *     import { seenStoreSuite } from 'kumo/conformance'
 *     seenStoreSuite({ it, create: () => new ListedSeen() })
 *
 *     npx tsx examples/custom-seen-set.ts https://example.com/
 */

import { Crawler, type SeenStore } from 'kumo'

export class ListedSeen implements SeenStore {
  readonly #urls = new Set<string>()

  get size(): number {
    return this.#urls.size
  }

  /** For each URL, in the same order, whether it was new. A store on disk would answer with a promise. */
  addAll(urls: readonly string[]): boolean[] {
    return urls.map((url) => {
      const before = this.#urls.size
      return this.#urls.add(url).size > before
    })
  }

  /** All that was ever added, sorted. */
  list(): string[] {
    return [...this.#urls].sort()
  }

  /** Nothing to let go of: the list is still wanted after the crawl. */
  close(): void {}
}

const start = process.argv[2] ?? 'https://example.com/'
const seen = new ListedSeen()
const summary = await new Crawler().seeds(start).limit({ pages: 3 }).seenStore(seen).run()

console.log(`${summary.pages} pages fetched, ${seen.size} URLs known:`)
for (const url of seen.list()) console.log(url)
