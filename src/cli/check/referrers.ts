/**
 * Which pages link to a URL. Whether a URL is broken is known only after some of the pages that link to it, so their links
 * are kept until it is: 12 bytes for each. A URL that works costs about ten bytes, and the links to it nothing.
 */

import { FingerprintSet } from '../../seen/table.js'
import { fingerprint } from '../../url/fingerprint.js'

/** A link: the fingerprint of its target in two words, and the number of the page. */
const LINK_WORDS = 3
const FIRST_LINKS = 1024

export class Referrers {
  /** Targets that need no report. */
  readonly #settled = new FingerprintSet()
  /** URLs of pages by number. */
  readonly #pages: string[] = []
  #links = new Uint32Array(FIRST_LINKS * LINK_WORDS)
  /** Words in use. */
  #length = 0
  readonly #print = new Uint32Array(2)

  /** The page contains links to these URLs, each once. */
  add(page: string, urls: Iterable<string>): void {
    const number = this.#pages.length
    let isNeeded = false
    for (const url of urls) {
      fingerprint(url, this.#print)
      if (this.#settled.has(this.#print, 0)) continue
      this.#push(this.#print[0]!, this.#print[1]!, number)
      isNeeded = true
    }
    if (isNeeded) this.#pages.push(page)
  }

  /** Nobody will ask for the referrers of this URL. */
  settle(url: string): void {
    fingerprint(url, this.#print)
    this.#settled.add(this.#print, 0)
  }

  /** The pages that link to each of these URLs, in the order in which they were added. */
  of(urls: Iterable<string>): Map<string, string[]> {
    const found = new Map<string, string[]>()
    const byPrint = new Map<string, string[]>()
    const lows = new Set<number>()
    for (const url of urls) {
      fingerprint(url, this.#print)
      const pages: string[] = []
      found.set(url, pages)
      lows.add(this.#print[0]!)
      byPrint.set(`${this.#print[0]} ${this.#print[1]}`, pages)
    }
    for (let at = 0; at < this.#length; at += LINK_WORDS) {
      // A number is found faster than a text, and few links are asked for.
      if (!lows.has(this.#links[at]!)) continue
      byPrint.get(`${this.#links[at]} ${this.#links[at + 1]}`)?.push(this.#pages[this.#links[at + 2]!]!)
    }
    return found
  }

  /** Bytes of the links that are kept. */
  get linkBytes(): number {
    return this.#links.byteLength
  }

  #push(low: number, high: number, page: number): void {
    if (this.#length === this.#links.length) this.#makeRoom()
    this.#links[this.#length++] = low
    this.#links[this.#length++] = high
    this.#links[this.#length++] = page
  }

  /** Forgets links whose targets were settled meanwhile; doubles the buffer if that leaves it more than half full. */
  #makeRoom(): void {
    const all = this.#links
    let kept = 0
    for (let at = 0; at < this.#length; at += LINK_WORDS) {
      if (this.#settled.has(all, at)) continue
      all.copyWithin(kept, at, at + LINK_WORDS)
      kept += LINK_WORDS
    }
    this.#length = kept
    if (kept * 2 <= all.length) return
    this.#links = new Uint32Array(all.length * 2)
    this.#links.set(all.subarray(0, kept))
  }
}
