/**
 * A custom seen store. It keeps the URLs themselves, so that they can be listed after the crawl. (The default keeps
 * eight-byte fingerprints, which are far smaller but cannot be listed.)
 *
 * test/examples.test.ts tests it with the suite that the built-in seen store passes:
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

  /** Returns, for each URL in order, whether it was new. A store on disk would return a promise. */
  addAll(urls: readonly string[]): boolean[] {
    return urls.map((url) => {
      const before = this.#urls.size
      return this.#urls.add(url).size > before
    })
  }

  /** All known URLs, sorted. */
  list(): string[] {
    return [...this.#urls].sort()
  }

  /** Nothing to release: the list is read after the crawl. */
  close(): void {}
}

const start = process.argv[2] ?? 'https://example.com/'
const seen = new ListedSeen()
const summary = await new Crawler().seeds(start).limit({ pages: 3 }).seenStore(seen).run()

console.log(`${summary.pages} pages fetched, ${seen.size} URLs known:`)
for (const url of seen.list()) console.log(url)
