/**
 * Memory for tables of fingerprints. It is allocated in slabs, which are divided into pages. Several tables may share
 * slabs, so that a thousand small tables cost a page each instead of a slab each.
 */

/** A slot holds a fingerprint in two words: low half, high half. Both zero means that the slot is empty. */
export const SLOT_WORDS = 2

/** 1 KB per page, so that a crawl of a few hundred URLs needs 256 KB at most. */
export const PAGE_SLOTS = 128
export const PAGE_WORDS = PAGE_SLOTS * SLOT_WORDS

/** 64 KB per slab. A buffer object costs about 300 bytes itself, so one for each page would be wasteful. */
export const SLAB_PAGES = 64

/** Extra room in the buffer that a growing segment is copied to. */
const SCRATCH_HEADROOM = 1.25

export class Slabs {
  /** Page n is in slab n / SLAB_PAGES. Tables keep a reference to this array, so it is modified but never replaced. */
  readonly slabs: Uint32Array[] = []
  /** All pages of the slabs so far handed out, whether in use or free again. */
  #cut = 0
  #free: number[] = []
  #scratch = new Uint32Array(0)

  /** Bytes of all buffers. */
  get bytes(): number {
    const words = this.slabs.length * SLAB_PAGES * PAGE_WORDS + this.#scratch.length
    return words * Uint32Array.BYTES_PER_ELEMENT
  }

  /** Returns the number of a page with all slots empty. */
  allocatePage(): number {
    const used = this.#free.pop()
    if (used !== undefined) {
      const start = (used % SLAB_PAGES) * PAGE_WORDS
      this.slabs[(used / SLAB_PAGES) >>> 0]!.fill(0, start, start + PAGE_WORDS)
      return used
    }
    if (this.#cut === this.slabs.length * SLAB_PAGES) {
      this.slabs.push(new Uint32Array(SLAB_PAGES * PAGE_WORDS))
    }
    return this.#cut++
  }

  /** Returns a page to the pool. When all pages are back, the memory is released too. */
  freePage(page: number): void {
    this.#free.push(page)
    if (this.#free.length < this.#cut) return
    this.slabs.length = 0
    this.#cut = 0
    this.#free = []
    this.#scratch = new Uint32Array(0)
  }

  /** A temporary buffer of at least this many words. The next caller gets the same buffer. */
  scratch(words: number): Uint32Array {
    if (this.#scratch.length < words) this.#scratch = new Uint32Array(Math.ceil(words * SCRATCH_HEADROOM))
    return this.#scratch
  }
}
