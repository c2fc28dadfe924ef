/**
 * The default seen-set: an exact table of 64-bit fingerprints in memory. It needs 9.4 to 11.8 bytes a URL once it is
 * large, where a `Set` of strings needs well over a hundred.
 *
 * Growing is what usually breaks such a promise: the old table and the new one exist at the same time, and the old one
 * stays until the garbage collector runs. So this table never discards a buffer. Memory is allocated in slabs, slabs
 * are divided into pages, and a segment (1/256 of the table) grows by adding pages to those it has.
 */

import { KumoError } from '../errors.js'
import { fingerprint } from '../url/fingerprint.js'
import type { SeenStore } from './contract.js'
import { PAGE_SLOTS, PAGE_WORDS, SLAB_PAGES, SLOT_WORDS, Slabs } from './slabs.js'

/**
 * The top byte of a fingerprint selects its segment. Growing touches one segment at a time, which takes 1 ms at 10 M
 * URLs.
 */
export const SEGMENTS = 256
const SEGMENT_SHIFT = 24

/** Above this load, linear probing gets slow (23 probes for a new URL); below it, memory is wasted. */
const FULL = 0.85
/** A full segment grows by this share: its load falls to 0.68, which is 11.8 bytes a URL. */
const GROWTH = 0.25

/**
 * Number of fingerprints that are computed before the first of them is looked up. The lookups then follow each other so
 * closely that the processor waits for several cache misses at once: at 10 M URLs this saves 20 to 40 percent of the
 * time.
 */
export const CHUNK = 256

/**
 * A set of fingerprints: open addressing with linear probing within a segment. Sets may share their slabs, and a set
 * that stays small may have fewer segments: any power of two up to 256.
 */
export class FingerprintSet {
  readonly #memory: Slabs
  readonly #slabs: Uint32Array[]
  /** The page numbers of each segment. Slots are numbered across its pages. */
  readonly #segments: number[][]
  readonly #mask: number
  readonly #counts: Uint32Array
  #size = 0
  /** The fingerprint 0 looks like an empty slot, so it is kept separately. */
  #hasZero = false
  /** What `warm` read. Without a use, the compiler could remove the reads. */
  #read = 0

  constructor(memory = new Slabs(), segments = SEGMENTS) {
    this.#memory = memory
    this.#slabs = memory.slabs
    this.#segments = Array.from({ length: segments }, () => [])
    this.#mask = segments - 1
    this.#counts = new Uint32Array(segments)
  }

  /** Number of fingerprints. */
  get size(): number {
    return this.#size
  }

  get segments(): number {
    return this.#segments.length
  }

  /** Bytes of all buffers, including those of other sets in the same slabs. */
  get bytes(): number {
    return this.#memory.bytes + this.#counts.byteLength
  }

  /** Adds the fingerprint at `from[at]`, `from[at + 1]`; true if it was not in the set. */
  add(from: Uint32Array, at: number): boolean {
    const low = from[at]!
    const high = from[at + 1]!
    if ((low | high) === 0) return this.#addZero()
    const segment = (high >>> SEGMENT_SHIFT) & this.#mask
    const pages = this.#segments[segment]!
    if (pages.length === 0) pages.push(this.#memory.allocatePage())
    if (!this.#place(pages, low, high)) return false
    this.#size++
    const count = this.#counts[segment]! + 1
    this.#counts[segment] = count
    if (count > pages.length * PAGE_SLOTS * FULL) {
      this.#grow(pages, count, pages.length + Math.ceil(pages.length * GROWTH))
    }
    return true
  }

  /** Whether the set contains the fingerprint at `from[at]`, `from[at + 1]`. */
  has(from: Uint32Array, at: number): boolean {
    const low = from[at]!
    const high = from[at + 1]!
    if ((low | high) === 0) return this.#hasZero
    const pages = this.#segments[(high >>> SEGMENT_SHIFT) & this.#mask]!
    return pages.length > 0 && !this.#place(pages, low, high, false)
  }

  /**
   * Reads the home slots of `count` fingerprints, starting with number `first`. The branches of a lookup depend on what
   * it read, so the processor waits for one cache miss after the other; these reads are independent, so it waits for
   * all of them at once.
   */
  warm(from: Uint32Array, count: number, first = 0): void {
    let read = 0
    const end = (first + count) * SLOT_WORDS
    for (let at = first * SLOT_WORDS; at < end; at += SLOT_WORDS) {
      const pages = this.#segments[(from[at + 1]! >>> SEGMENT_SHIFT) & this.#mask]!
      if (pages.length === 0) continue
      const home = homeOf(from[at]!, pages.length * PAGE_SLOTS)
      const page = pages[(home / PAGE_SLOTS) >>> 0]!
      const word = (page % SLAB_PAGES) * PAGE_WORDS + (home % PAGE_SLOTS) * SLOT_WORDS
      read ^= this.#slabs[(page / SLAB_PAGES) >>> 0]![word]!
    }
    this.#read = this.#read ^ read
  }

  /** Deletes the fingerprint at `from[at]`, `from[at + 1]`; true if it was in the set. */
  delete(from: Uint32Array, at: number): boolean {
    const low = from[at]!
    const high = from[at + 1]!
    if ((low | high) === 0) {
      const had = this.#hasZero
      this.#hasZero = false
      if (had) this.#size--
      return had
    }
    const segment = (high >>> SEGMENT_SHIFT) & this.#mask
    const pages = this.#segments[segment]!
    let hole = this.#slotOf(pages, low, high)
    if (hole < 0) return false
    const slots = pages.length * PAGE_SLOTS
    // Fingerprints that were displaced by the deleted one move back; behind a gap they would not be found.
    for (let slot = (hole + 1) % slots; ; slot = (slot + 1) % slots) {
      const word = this.#wordOf(pages, slot)
      const [thereLow, thereHigh] = [word.slab[word.at]!, word.slab[word.at + 1]!]
      if ((thereLow | thereHigh) === 0) break
      const home = homeOf(thereLow, slots)
      const stays = hole < slot ? home > hole && home <= slot : home > hole || home <= slot
      if (stays) continue
      this.#write(pages, hole, thereLow, thereHigh)
      hole = slot
    }
    this.#write(pages, hole, 0, 0)
    this.#size--
    this.#counts[segment]!--
    return true
  }

  /** Adds all fingerprints to another set. */
  addTo(other: FingerprintSet): void {
    other.addEach(this.toArray())
  }

  /**
   * Adds fingerprints as listed by `toArray`. They are in the order of their home slots: a set that grew along the way
   * would be full at its front and empty at its back, and probing would take very long. So it allocates the room first.
   */
  addEach(prints: Uint32Array): void {
    const share = (this.#size + prints.length / SLOT_WORDS) / this.#segments.length
    const wanted = Math.ceil((share * (1 + GROWTH)) / (FULL * PAGE_SLOTS))
    for (const [segment, pages] of this.#segments.entries()) {
      if (share <= pages.length * PAGE_SLOTS * FULL) continue
      this.#grow(pages, this.#counts[segment]!, wanted)
    }
    for (let at = 0; at < prints.length; at += SLOT_WORDS) this.add(prints, at)
  }

  /** All fingerprints, two words each. */
  toArray(): Uint32Array {
    const prints = new Uint32Array(this.#size * SLOT_WORDS)
    let filled = this.#hasZero ? SLOT_WORDS : 0
    for (const pages of this.#segments) filled = this.#copy(pages, prints, filled)
    return prints
  }

  /** The slot that holds a fingerprint; -1 if there is none. */
  #slotOf(pages: readonly number[], low: number, high: number): number {
    const slots = pages.length * PAGE_SLOTS
    if (slots === 0) return -1
    for (let slot = homeOf(low, slots); ; slot = (slot + 1) % slots) {
      const { slab, at } = this.#wordOf(pages, slot)
      if (slab[at] === low && slab[at + 1] === high) return slot
      if ((slab[at]! | slab[at + 1]!) === 0) return -1
    }
  }

  #wordOf(pages: readonly number[], slot: number): { slab: Uint32Array; at: number } {
    const page = pages[(slot / PAGE_SLOTS) >>> 0]!
    const at = (page % SLAB_PAGES) * PAGE_WORDS + (slot % PAGE_SLOTS) * SLOT_WORDS
    return { slab: this.#slabs[(page / SLAB_PAGES) >>> 0]!, at }
  }

  #write(pages: readonly number[], slot: number, low: number, high: number): void {
    const { slab, at } = this.#wordOf(pages, slot)
    slab[at] = low
    slab[at + 1] = high
  }

  /** Removes everything and releases the memory. */
  clear(): void {
    for (const pages of this.#segments) for (const page of pages.splice(0)) this.#memory.freePage(page)
    this.#counts.fill(0)
    this.#size = 0
    this.#hasZero = false
  }

  #addZero(): boolean {
    if (this.#hasZero) return false
    this.#hasZero = true
    this.#size++
    return true
  }

  /** Writes the fingerprint to the first empty slot from its home slot on; false if it is already there. */
  #place(pages: number[], low: number, high: number, write = true): boolean {
    const home = homeOf(low, pages.length * PAGE_SLOTS)
    let index = (home / PAGE_SLOTS) >>> 0
    let page = pages[index]!
    let slab = this.#slabs[(page / SLAB_PAGES) >>> 0]!
    let word = (page % SLAB_PAGES) * PAGE_WORDS + (home % PAGE_SLOTS) * SLOT_WORDS
    let end = (page % SLAB_PAGES) * PAGE_WORDS + PAGE_WORDS
    for (;;) {
      const there = slab[word]!
      const thereHigh = slab[word + 1]!
      if (there === low && thereHigh === high) return false
      if ((there | thereHigh) === 0) break
      word += SLOT_WORDS
      if (word < end) continue
      index = index + 1 < pages.length ? index + 1 : 0
      page = pages[index]!
      slab = this.#slabs[(page / SLAB_PAGES) >>> 0]!
      word = (page % SLAB_PAGES) * PAGE_WORDS
      end = word + PAGE_WORDS
    }
    if (write) {
      slab[word] = low
      slab[word + 1] = high
    }
    return true
  }

  /** Gives a segment with `count` fingerprints `wanted` pages. */
  #grow(pages: number[], count: number, wanted: number): void {
    const words = count * SLOT_WORDS
    const scratch = this.#memory.scratch(words)
    this.#copy(pages, scratch, 0)
    for (const page of pages) {
      const start = (page % SLAB_PAGES) * PAGE_WORDS
      this.#slabs[(page / SLAB_PAGES) >>> 0]!.fill(0, start, start + PAGE_WORDS)
    }
    while (pages.length < wanted) pages.push(this.#memory.allocatePage())
    for (let i = 0; i < words; i += SLOT_WORDS) this.#place(pages, scratch[i]!, scratch[i + 1]!)
  }

  /** Copies the fingerprints of a segment to `into`, starting at word `filled`; returns the word after them. */
  #copy(pages: readonly number[], into: Uint32Array, filled: number): number {
    for (const page of pages) {
      const slab = this.#slabs[(page / SLAB_PAGES) >>> 0]!
      const start = (page % SLAB_PAGES) * PAGE_WORDS
      const end = start + PAGE_WORDS
      for (let word = start; word < end; word += SLOT_WORDS) {
        const low = slab[word]!
        const high = slab[word + 1]!
        if ((low | high) === 0) continue
        into[filled++] = low
        into[filled++] = high
      }
    }
    return filled
  }
}

/** The low half as a fraction of 1, times the number of slots, which therefore need not be a power of two. */
function homeOf(low: number, slots: number): number {
  return (low * 2 ** -32 * slots) >>> 0
}

/** A seen-set whose answers are synchronous. */
export interface FingerprintTable extends SeenStore {
  addAll(urls: readonly string[]): readonly boolean[]
  close(): void
}

/**
 * A seen-set in memory, exact except for 64-bit collisions: with 10 million URLs, the chance that even one of them is
 * mistaken for another is 1 in 370,000.
 *
 * @example
 * const seen = fingerprintTable()
 * seen.addAll(['https://example.com/', 'https://example.com/']) // [true, false]
 */
export function fingerprintTable(): FingerprintTable {
  const known = new FingerprintSet()
  const prints = new Uint32Array(CHUNK * SLOT_WORDS)
  let closed = false
  let sizeAtClose = 0
  return {
    get size() {
      return closed ? sizeAtClose : known.size
    },
    addAll(urls) {
      if (closed) throw new KumoError('KUMO_STORE_FAILED', 'addAll: the seen-set is closed')
      assertStrings(urls)
      const fresh: boolean[] = []
      for (let from = 0; from < urls.length; from += CHUNK) {
        const count = Math.min(urls.length - from, CHUNK)
        for (let i = 0; i < count; i++) fingerprint(urls[from + i]!, prints, i * SLOT_WORDS)
        known.warm(prints, count)
        for (let i = 0; i < count; i++) fresh.push(known.add(prints, i * SLOT_WORDS))
      }
      return fresh
    },
    close() {
      if (closed) return
      closed = true
      sizeAtClose = known.size
      known.clear()
    },
  }
}

/** Checks all URLs before any is added, so that an invalid call changes nothing. */
export function assertStrings(urls: readonly string[]): void {
  if (!Array.isArray(urls)) {
    throw new KumoError('KUMO_CONTRACT_BROKEN', `addAll expects an array of URLs, got ${typeof urls}`)
  }
  for (let i = 0; i < urls.length; i++) {
    if (typeof urls[i] === 'string') continue
    throw new KumoError(
      'KUMO_CONTRACT_BROKEN',
      `addAll expects URLs as strings, but urls[${i}] is ${typeof urls[i]}`,
    )
  }
}
