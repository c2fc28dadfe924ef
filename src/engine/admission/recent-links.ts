import { fingerprint } from '../../url/fingerprint.js'

/** Pairs of links remembered: a power of two. At eight bytes a link this is half a megabyte, whatever the crawl:
 * small enough to stay in a processor's cache. */
const PAIRS = 2 ** 15

const SLASH = 0x2f
/** Any large odd number: multiplying by it changes every number but zero and loses none. */
const ODD = 0x9e3779b1

/**
 * Links as written that were admitted lately, with the origin of the page they stood on. Most links of a page stood on
 * the page before too; one found here needs no resolving, and no question to the seen-set or, if its host is another
 * shard's, to the wire.
 *
 * Only what every page of an origin resolves alike is remembered: `/path` and `https://…`. It keeps 64-bit
 * fingerprints, two in the place that their low bits name, and a newcomer pushes the older one out: forgetting costs
 * a question to the seen-set and nothing else.
 */
export class RecentLinks {
  readonly #pairs = new Uint32Array(4 * PAIRS)
  readonly #origin = new Uint32Array(2)
  /** The fingerprint of the link in question, written here by who asks. */
  readonly link = new Uint32Array(2)

  /** Nothing is known any more. */
  clear(): void {
    this.#pairs.fill(0)
  }

  /** The links asked about from now on stand on pages of this origin. */
  setOrigin(origin: string): void {
    fingerprint(origin, this.#origin)
    // A link that is spelled as its page's origin must not cancel it out: zeros are what an empty place holds.
    this.#origin[0] = Math.imul(this.#origin[0]!, ODD)
    this.#origin[1] = Math.imul(this.#origin[1]!, ODD)
  }

  /** Whether the link whose fingerprint stands in `link` is known. */
  has(): boolean {
    const low = (this.link[0]! ^ this.#origin[0]!) >>> 0
    const high = (this.link[1]! ^ this.#origin[1]!) >>> 0
    this.link[0] = low
    this.link[1] = high
    const pairs = this.#pairs
    const at = 4 * (low & (PAIRS - 1))
    return (pairs[at] === low && pairs[at + 1] === high) || (pairs[at + 2] === low && pairs[at + 3] === high)
  }

  /** Remembers the link that `has` was last asked about; `href` is its spelling. */
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

/** `httpd/docs.html` begins like a URL, but leads from every directory to another place. */
function isBoundToOrigin(href: string): boolean {
  if (href.charCodeAt(0) === SLASH) return href.charCodeAt(1) !== SLASH
  return href.startsWith('https://') || href.startsWith('http://')
}
