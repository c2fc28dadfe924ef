/**
 * A site that shows the same page under ever new addresses can be told by nothing in the addresses. Its pages are
 * compared by digest, and when one has come too often its links are not followed any more, so the site ends.
 *
 * A digest takes as long as all else that is done with a page, so only one page in thirty-two is looked at, chosen by
 * its URL. As soon as one of them has come before, all pages of that host are looked at for a while: an ordinary site
 * pays for the sample only, and a trap is found out some dozen pages later than it could have been.
 */

import { KumoError } from '../../errors.js'
import { fingerprint } from '../../url/fingerprint.js'
import { duplicateDigest } from './duplicate-digest.js'

export interface SameContentOptions {
  /** How often a host may show the same content before its links are ignored. Default 10; `Infinity` lifts it. */
  readonly repeats?: number | undefined
}

/** Made by `sameContent`. */
export interface SameContent {
  /**
   * Tells each page that has links, once; true if its host has shown this content too often, so that its links should
   * not be followed. `url` and `host` are the page's own, canonical.
   */
  isRepeated(host: string, url: string, body: Uint8Array): boolean
}

const DEFAULT_REPEATS = 10
/** A power of two. */
const SAMPLE_ONE_IN = 32
/** How many pages of a host are looked at after each repetition. */
const PAGES_WATCHED = 256
/** Hosts under watch; when there are more, all are forgotten, and the sample finds them again. */
const HOSTS_WATCHED = 1024
/**
 * Digests that are remembered at least, and at most twice as many: some 2 MB a generation. With the sample that is a
 * million ordinary pages.
 */
const DIGESTS = 32_768

/**
 * Counts what each host shows. It depends on nothing but the pages told and their order, and its memory is bounded.
 *
 * @example
 * const contents = sameContent()
 * if (contents.isRepeated(page.host, page.url, page.body)) skip('same-content')
 */
export function sameContent({ repeats = DEFAULT_REPEATS }: SameContentOptions = {}): SameContent {
  if (!(repeats >= 1)) {
    const message = `sameContent({ repeats }) takes a number of at least 1, or Infinity, not ${String(repeats)}.`
    throw new KumoError('KUMO_INVALID_OPTION', message)
  }
  if (repeats === Number.POSITIVE_INFINITY) return { isRepeated: () => false }
  return new Contents(repeats)
}

class Contents implements SameContent {
  readonly #repeats: number
  /** How often each digest came, on which host; the young generation is filled, the old one is only read. */
  #young = new Map<number, number>()
  #old = new Map<number, number>()
  /** Host → pages that are still to be looked at. */
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
    // Xor joins them well enough, for both are mixed; 53 bits are what a number holds.
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
