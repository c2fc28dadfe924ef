import { fingerprint } from '../../url/fingerprint.js'

/** Pairs of links to remember, a power of two. At eight bytes per link this is half a megabyte: it fits a CPU cache. */
const PAIRS = 2 ** 15

const SLASH = 0x2f
/** Any large odd number: multiplying by it is a bijection that changes every number but zero. */
const ODD = 0x9e3779b1

/**
 * Links as written that were admitted recently, with the origin of their page. Most links of a page were also on the
 * page before. A link found here is neither resolved, nor looked up in the seen-set, nor sent to another shard.
 *
 * Only links that resolve the same way on every page of an origin are remembered: `/path` and `https://…`. The table
 * contains 64-bit fingerprints, two per bucket; the low bits choose the bucket, and a new link evicts the older one. An
 * evicted link costs one more look-up in the seen-set.
 */
export class RecentLinks {
  readonly #pairs = new Uint32Array(4 * PAIRS)
  readonly #origin = new Uint32Array(2)
  /** The fingerprint of the link to look up; the caller writes it here. */
  readonly link = new Uint32Array(2)

  /** Forgets all links. */
  clear(): void {
    this.#pairs.fill(0)
  }

  /** Sets the origin of the page whose links are looked up next. */
  setOrigin(origin: string): void {
    fingerprint(origin, this.#origin)
    // If a link is equal to its page's origin, the two must not cancel out: an empty bucket contains zeros.
    this.#origin[0] = Math.imul(this.#origin[0]!, ODD)
    this.#origin[1] = Math.imul(this.#origin[1]!, ODD)
  }

  /** Whether the link whose fingerprint is in `link` is known. */
  has(): boolean {
    const low = (this.link[0]! ^ this.#origin[0]!) >>> 0
    const high = (this.link[1]! ^ this.#origin[1]!) >>> 0
    this.link[0] = low
    this.link[1] = high
    const pairs = this.#pairs
    const at = 4 * (low & (PAIRS - 1))
    return (pairs[at] === low && pairs[at + 1] === high) || (pairs[at + 2] === low && pairs[at + 3] === high)
  }

  /** Remembers the link that `has` was last called for; `href` is the link as written. */
  add(href: string): void {
    if (!isBoundToOrigin(href)) return
    const pairs = this.#pairs
    const at = 4 * (this.link[0]! & (PAIRS - 1))
    pairs[at + 2] = pairs[at]!
    pairs[at + 3] = pairs[at + 1]!
    pairs[at] = this.link[0]!
    pairs[at + 1] = this.link[1]!
  }
}

/** `httpd/docs.html` starts like a URL, but resolves differently in every directory. */
function isBoundToOrigin(href: string): boolean {
  if (href.charCodeAt(0) === SLASH) return href.charCodeAt(1) !== SLASH
  return href.startsWith('https://') || href.startsWith('http://')
}
