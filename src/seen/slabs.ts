/**
 * Memory for tables of fingerprints. It is taken in slabs, and slabs are cut into pages; several tables may share them, so
 * that a thousand small tables cost a page each and not a slab.
 */

/** A slot holds a fingerprint as two words: low half, high half. Both zero means empty. */
export const SLOT_WORDS = 2

/** 1 KB, so that a crawl of a few hundred URLs costs 256 KB at most. */
export const PAGE_SLOTS = 128
export const PAGE_WORDS = PAGE_SLOTS * SLOT_WORDS

/** 64 KB: a buffer object costs some 300 bytes of its own, so there should not be one for each page. */
export const SLAB_PAGES = 64

/** Room beyond the need of the moment in the buffer that a growing segment is copied to. */
const SCRATCH_HEADROOM = 1.25

export class Slabs {
  /** Page n lies in slab n / SLAB_PAGES. Tables hold on to this very array: it is changed and never replaced. */
  readonly slabs: Uint32Array[] = []
  /** Pages that were cut, those in use and those that are free again. */
  #cut = 0
  #free: number[] = []
  #scratch = new Uint32Array(0)

  /** Bytes of buffers held. */
  get bytes(): number {
    const words = this.slabs.length * SLAB_PAGES * PAGE_WORDS + this.#scratch.length
    return words * Uint32Array.BYTES_PER_ELEMENT
  }

  /** The number of a page, all its slots empty. */
  cutPage(): number {
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

  /** Takes a page back. Once all are back, the memory goes too. */
  freePage(page: number): void {
    this.#free.push(page)
    if (this.#free.length < this.#cut) return
    this.slabs.length = 0
    this.#cut = 0
    this.#free = []
    this.#scratch = new Uint32Array(0)
  }

  /** A buffer of at least so many words, for the moment: whoever asks next gets the same. */
  scratch(words: number): Uint32Array {
    if (this.#scratch.length < words) this.#scratch = new Uint32Array(Math.ceil(words * SCRATCH_HEADROOM))
    return this.#scratch
  }
}
