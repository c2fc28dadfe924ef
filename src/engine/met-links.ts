import { fingerprint } from '../url/fingerprint.js'

/** Links remembered: a power of two. At eight bytes each this is one megabyte, whatever the crawl. */
const SLOTS = 2 ** 17

const SLASH = 0x2f

/**
 * Links as written that were admitted lately, with the origin of the page they stood on. Most links of a page stood on
 * the page before too; one found here needs no resolving, and no question to the seen-set or, if its host is another
 * shard's, to the wire.
 *
 * Only what every page of an origin resolves alike is remembered: `/path` and `https://…`. It keeps 64-bit
 * fingerprints, each in the one slot that its low bits name, and a newcomer takes the slot: forgetting costs a
 * question to the seen-set and nothing else.
 */
export class MetLinks {
  readonly #slots = new Uint32Array(2 * SLOTS)
  readonly #origin = new Uint32Array(2)
  readonly #link = new Uint32Array(2)

  /** The links asked about from now on stand on pages of this origin. */
  turnTo(origin: string): void {
    fingerprint(origin, this.#origin)
  }

  has(href: string): boolean {
    fingerprint(href, this.#link)
    const low = (this.#link[0]! ^ this.#origin[0]!) >>> 0
    const high = (this.#link[1]! ^ this.#origin[1]!) >>> 0
    this.#link[0] = low
    this.#link[1] = high
    const slot = 2 * (low & (SLOTS - 1))
    return this.#slots[slot] === low && this.#slots[slot + 1] === high
  }

  /** Remembers the link that `has` was last asked about. */
  add(href: string): void {
    const boundToOrigin =
      href.charCodeAt(0) === SLASH ? href.charCodeAt(1) !== SLASH : href.startsWith('http')
    if (!boundToOrigin) return
    const slot = 2 * (this.#link[0]! & (SLOTS - 1))
    this.#slots[slot] = this.#link[0]!
    this.#slots[slot + 1] = this.#link[1]!
  }
}
