/**
 * Finds sites that show the same page under ever new URLs, which the URLs alone do not reveal. Pages are compared by
 * digest, and when one has occurred too often, its links are no longer followed, so the site comes to an end.
 *
 * A digest takes as long as everything else done with a page, so only one page in thirty-two is sampled, chosen by its
 * URL. As soon as a sampled page repeats, all pages of its host are checked for a while: an ordinary site pays only for the
 * sample, and a trap is found a few dozen pages later.
 */

import { invalidOption } from '../../errors.js'
import { fingerprint } from '../../url/fingerprint.js'
import { duplicateDigest } from './duplicate-digest.js'

/** Options for finding repeated content. */
export interface SameContentOptions {
  /** How often a host may show the same content before its links are ignored. Default 10; `Infinity` disables it. */
  readonly repeats?: number | undefined
}

/** Created by `sameContent`. */
export interface SameContent {
  /**
   * Call once for each page with links. True if its host has shown this content too often, so that its links should not
   * be followed. `url` and `host` are those of the page, canonical.
   */
  isRepeated(host: string, url: string, body: Uint8Array): boolean
}

const DEFAULT_REPEATS = 10
/** A power of two. */
const SAMPLE_ONE_IN = 32
/** Pages of a host to check after each repetition. */
const PAGES_WATCHED = 256
/** Hosts to check; if there are more, all are dropped, and the sample finds them again. */
const HOSTS_WATCHED = 1024
/**
 * Digests to remember at least, and at most twice as many: about 2 MB per generation. With the sample, that covers a
 * million ordinary pages.
 */
const DIGESTS = 32_768

/**
 * Counts the contents of each host. Deterministic: it depends only on the pages and their order. Its memory is bounded.
 *
 * @example
 * const contents = sameContent()
 * if (contents.isRepeated(page.host, page.url, page.body)) skip('same-content')
 */
export function sameContent({ repeats = DEFAULT_REPEATS }: SameContentOptions = {}): SameContent {
  if (!(repeats >= 1)) {
    throw invalidOption('sameContent.repeats', repeats, 'a number, 1 or more, or Infinity')
  }
  if (repeats === Number.POSITIVE_INFINITY) return { isRepeated: () => false }
  return new Contents(repeats)
}

class Contents implements SameContent {
  readonly #repeats: number
  /** Occurrences of each digest on a host; the young generation is written, the old one only read. */
  #young = new Map<number, number>()
  #old = new Map<number, number>()
  /** Pages left to check, by host. */
  readonly #watched = new Map<string, number>()
  readonly #print = new Uint32Array(4)

  constructor(repeats: number) {
    this.#repeats = repeats
  }

  isRepeated(host: string, url: string, body: Uint8Array): boolean {
    const left = this.#watched.size === 0 ? undefined : this.#watched.get(host)
    const print = this.#print
    if (left === undefined) {
      fingerprint(url, print)
      if (print[0]! % SAMPLE_ONE_IN !== 0) return false
    }
    duplicateDigest(body, url, print)
    fingerprint(host, print, 2)
    // XOR is good enough: both are well mixed. A number holds 53 bits.
    const low = (print[0]! ^ print[2]!) >>> 0
    const high = (print[1]! ^ print[3]!) >>> 11
    const times = this.#count(low + high * 2 ** 32)
    if (times > 1) this.#watch(host)
    else if (left === 1) this.#watched.delete(host)
    else if (left !== undefined) this.#watched.set(host, left - 1)
    return times > this.#repeats
  }

  #count(key: number): number {
    const times = (this.#young.get(key) ?? this.#old.get(key) ?? 0) + 1
    if (this.#young.size >= DIGESTS) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, times)
    return times
  }

  #watch(host: string): void {
    if (this.#watched.size >= HOSTS_WATCHED && !this.#watched.has(host)) this.#watched.clear()
    this.#watched.set(host, PAGES_WATCHED)
  }
}
