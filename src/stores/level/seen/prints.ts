import { SLOT_WORDS, Slabs } from '../../../seen/slabs.js'
import { FingerprintSet } from '../../../seen/table.js'

/**
 * Fingerprints of a partition that fit into one segment. Beyond that it gets as many segments as a separate table would
 * have, because growing in one piece would block the event loop.
 */
const SMALL = 40_000

/**
 * Fingerprints of seen URLs in memory, on *shelves*: one per partition, so that a partition can leave with its
 * fingerprints (a fingerprint does not reveal its partition); or a single one, if partitions never leave.
 */
export class Prints {
  readonly #memory = new Slabs()
  readonly #shelves = new Map<number, FingerprintSet>()
  readonly #isOne: boolean
  #size = 0

  constructor(isOne: boolean) {
    this.#isOne = isOne
  }

  get size(): number {
    return this.#size
  }

  /** Prefetches for lookups that follow soon: see `FingerprintSet`. */
  warm(shelf: number, from: Uint32Array, count: number, first: number): void {
    this.#shelves.get(shelf)?.warm(from, count, first)
  }

  has(shelf: number, from: Uint32Array, at: number): boolean {
    return this.#shelves.get(shelf)?.has(from, at) === true
  }

  /** True if it was not there. */
  add(shelf: number, from: Uint32Array, at: number): boolean {
    const isNew = this.#shelf(shelf, 1).add(from, at)
    if (isNew) this.#size++
    return isNew
  }

  /** True if it was there. */
  delete(shelf: number, from: Uint32Array, at: number): boolean {
    const wasThere = this.#shelves.get(shelf)?.delete(from, at) === true
    if (wasThere) this.#size--
    return wasThere
  }

  /** Adds fingerprints as returned by `empty`. */
  addEach(shelf: number, prints: Uint32Array): void {
    const set = this.#shelf(shelf, prints.length / SLOT_WORDS)
    const before = set.size
    set.addEach(prints)
    this.#size += set.size - before
  }

  /** Removes and returns all fingerprints of a shelf, two words each. */
  empty(shelf: number): Uint32Array {
    const set = this.#shelves.get(shelf)
    if (set === undefined) return new Uint32Array(0)
    const prints = set.toArray()
    this.#size -= set.size
    set.clear()
    this.#shelves.delete(shelf)
    return prints
  }

  addTo(other: Prints): void {
    for (const [shelf, set] of this.#shelves) other.addEach(shelf, set.toArray())
  }

  clear(): void {
    for (const set of this.#shelves.values()) set.clear()
    this.#shelves.clear()
    this.#size = 0
  }

  /** The set of a shelf, with room for `more`. */
  #shelf(shelf: number, more: number): FingerprintSet {
    const set = this.#shelves.get(shelf)
    const isSmall = !this.#isOne && (set?.size ?? 0) + more <= SMALL
    if (set !== undefined && (isSmall || set.segments > 1)) return set
    const made = new FingerprintSet(this.#memory, isSmall ? 1 : undefined)
    this.#shelves.set(shelf, made)
    if (set !== undefined) {
      made.addEach(set.toArray())
      set.clear()
    }
    return made
  }
}
