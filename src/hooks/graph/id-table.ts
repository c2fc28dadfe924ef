/**
 * The number of each URL, by its fingerprint, in memory: 12 bytes a slot, up to three quarters of them filled. A graph
 * looks up every link of every page, and a lookup on disk for each would cost more than everything else together.
 */

const SLOT_WORDS = 3
const FIRST_SLOTS = 4096
const FULL = 0.75

/** Numbers start at 0. A slot holds the low and high half of a fingerprint, and the number + 1; 0: the slot is empty. */
export class IdTable {
  #words = new Uint32Array(FIRST_SLOTS * SLOT_WORDS)
  #mask = FIRST_SLOTS - 1
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The number of a fingerprint; -1 if it has none. */
  find(low: number, high: number): number {
    const words = this.#words
    for (let slot = low & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * SLOT_WORDS
      const id = words[at + 2]!
      if (id === 0) return -1
      if (words[at] === low && words[at + 1] === high) return id - 1
    }
  }

  /**
   * The numbers of the first `count` fingerprints, two words each. Those without a number get the next ones, in order;
   * `added` is called with their places.
   */
  resolve(prints: Uint32Array, count: number, ids: Uint32Array, added: (place: number) => void): void {
    while (this.#size + count > (this.#mask + 1) * FULL) this.#grow()
    const words = this.#words
    const mask = this.#mask
    for (let i = 0; i < count; i++) {
      const low = prints[2 * i]!
      const high = prints[2 * i + 1]!
      let slot = low & mask
      for (;;) {
        const at = slot * SLOT_WORDS
        const id = words[at + 2]!
        if (id === 0) {
          words[at] = low
          words[at + 1] = high
          words[at + 2] = ++this.#size
          ids[i] = this.#size - 1
          added(i)
          break
        }
        if (words[at] === low && words[at + 1] === high) {
          ids[i] = id - 1
          break
        }
        slot = (slot + 1) & mask
      }
    }
  }

  /** The fingerprints of all numbers in their order, two words each. */
  fingerprints(): Uint32Array {
    const prints = new Uint32Array(2 * this.#size)
    const words = this.#words
    for (let at = 0; at < words.length; at += SLOT_WORDS) {
      if (words[at + 2] === 0) continue
      const id = words[at + 2]! - 1
      prints[2 * id] = words[at]!
      prints[2 * id + 1] = words[at + 1]!
    }
    return prints
  }

  #grow(): void {
    const old = this.#words
    const slots = (this.#mask + 1) * 2
    const words = new Uint32Array(slots * SLOT_WORDS)
    const mask = slots - 1
    for (let at = 0; at < old.length; at += SLOT_WORDS) {
      if (old[at + 2] === 0) continue
      let slot = old[at]! & mask
      while (words[slot * SLOT_WORDS + 2] !== 0) slot = (slot + 1) & mask
      words[slot * SLOT_WORDS] = old[at]!
      words[slot * SLOT_WORDS + 1] = old[at + 1]!
      words[slot * SLOT_WORDS + 2] = old[at + 2]!
    }
    this.#words = words
    this.#mask = mask
  }
}
