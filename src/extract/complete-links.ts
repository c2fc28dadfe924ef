import { NOT_COMPARABLE, NOT_REMEMBERED, OF_PAGE } from '../url/written-link.js'
import type { WrittenLinks } from './contract.js'

const WORD = 2 ** 32
/** Of a fingerprint, 53 bits are kept, so that it is one number. */
const MORE_BITS = 2 ** 21 - 1
/** Links to the page itself have no fingerprint. */
const KEY_OF_PAGE = -1

/**
 * Links of a page that need not be read again, by how they are written. Manuals link three hundred times to fifty URLs,
 * mostly to sections of one page.
 */
export class CompleteLinks {
  readonly #links: WrittenLinks
  readonly #keys = new Set<number>()
  readonly #print = new Uint32Array(2)
  /** Undefined if the link cannot be compared. */
  #last: number | undefined

  constructor(links: WrittenLinks) {
    this.#links = links
  }

  has(index: number): boolean {
    const reach = this.#links.fingerprint(index, this.#print)
    if (reach === NOT_COMPARABLE || reach === NOT_REMEMBERED) this.#last = undefined
    else this.#last = reach === OF_PAGE ? KEY_OF_PAGE : this.#print[0]! + (this.#print[1]! & MORE_BITS) * WORD
    return this.#last !== undefined && this.#keys.has(this.#last)
  }

  /** The link that was asked about last. */
  addLast(): void {
    if (this.#last !== undefined) this.#keys.add(this.#last)
  }
}
