import { fingerprint } from '../../url/fingerprint.js'
import type { Base } from '../../url/resolve.js'
import {
  ABSOLUTE,
  type LinkReach,
  NOT_REMEMBERED,
  OF_DIRECTORY,
  OF_DOCUMENT,
  OF_ORIGIN,
  OF_PAGE,
} from '../../url/written-link.js'

/** Pairs of links to remember, a power of two. At eight bytes per link this is a megabyte: it fits a CPU cache. */
const PAIRS = 2 ** 16

/** Any large odd number: multiplying by it is a bijection that changes every number but zero. */
const ODD = 0x9e3779b1

/**
 * Links as written that were admitted recently, with the origin, directory or document of their page, whichever they
 * depend on, if any. Most links of a page were also on the page before. A link found here is neither resolved, nor looked up in
 * the seen-set, nor sent to another shard.
 *
 * The table contains 64-bit fingerprints, two per bucket; the low bits choose the bucket, and a new link evicts the older
 * one. An evicted link costs one more look-up in the seen-set.
 */
export class RecentLinks {
  readonly #pairs = new Uint32Array(4 * PAIRS)
  readonly #origin = new Uint32Array(2)
  readonly #directory = new Uint32Array(2)
  readonly #document = new Uint32Array(2)
  #base: Base | undefined
  /** Whether the fingerprint of the base's document was taken: few pages need it. */
  #hasDocument = false
  #knowsPage = false
  /** The fingerprint of the link to look up; the caller writes it here. */
  readonly link = new Uint32Array(2)

  /** Forgets all links. */
  clear(): void {
    this.#pairs.fill(0)
  }

  /** Sets the base of the page whose links are looked up next. */
  setBase(base: Base): void {
    if (base.origin !== this.#base?.origin) place(base.origin, this.#origin)
    if (base.directory !== this.#base?.directory) place(base.directory, this.#directory)
    this.#base = base
    this.#hasDocument = this.#knowsPage = false
  }

  /** Whether the link whose fingerprint is in `link` is known. */
  has(reach: LinkReach): boolean {
    if (reach === OF_PAGE) return this.#knowsPage
    if (reach === NOT_REMEMBERED) return false
    const where = this.#where(reach)
    const low = (this.link[0]! ^ where[0]!) >>> 0
    const high = (this.link[1]! ^ where[1]!) >>> 0
    this.link[0] = low
    this.link[1] = high
    return this.#contains(low, high)
  }

  /** Whether this table has the link that `other` was last asked for. */
  hasSame({ link }: RecentLinks): boolean {
    return this.#contains(link[0]!, link[1]!)
  }

  addSame({ link }: RecentLinks): void {
    this.#put(link[0]!, link[1]!)
  }

  /** Remembers the link that `has` was last called for. */
  add(reach: LinkReach): void {
    if (reach === OF_PAGE) this.#knowsPage = true
    if (reach >= OF_ORIGIN && reach !== OF_PAGE) this.#put(this.link[0]!, this.link[1]!)
  }

  #contains(low: number, high: number): boolean {
    const pairs = this.#pairs
    const at = 4 * (low & (PAIRS - 1))
    return (pairs[at] === low && pairs[at + 1] === high) || (pairs[at + 2] === low && pairs[at + 3] === high)
  }

  #put(low: number, high: number): void {
    const pairs = this.#pairs
    const at = 4 * (low & (PAIRS - 1))
    pairs[at + 2] = pairs[at]!
    pairs[at + 3] = pairs[at + 1]!
    pairs[at] = low
    pairs[at + 1] = high
  }

  #where(reach: LinkReach): Uint32Array {
    if (reach === OF_DIRECTORY) return this.#directory
    if (reach === ABSOLUTE) return NOWHERE
    if (reach !== OF_DOCUMENT) return this.#origin
    if (!this.#hasDocument) place(this.#base!.document, this.#document)
    this.#hasDocument = true
    return this.#document
  }
}

/** Not zero, as an empty bucket is. */
const NOWHERE = Uint32Array.of(ODD, ODD)

/** If a link is equal to what it depends on, the two must not cancel out: an empty bucket contains zeros. */
function place(text: string, into: Uint32Array): void {
  fingerprint(text, into)
  into[0] = Math.imul(into[0]!, ODD)
  into[1] = Math.imul(into[1]!, ODD)
}
