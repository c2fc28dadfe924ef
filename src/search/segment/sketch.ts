/**
 * A sketch of a text: two texts have as many equal numbers in their sketches as they share of their shingles, on average
 * (one-permutation MinHash). It tells pages with nearly the same text from others without comparing the texts.
 */

/** Numbers in a sketch. */
const SKETCH_NUMBERS = 64
/** Bytes of a sketch: a number has two. */
export const SKETCH_BYTES = SKETCH_NUMBERS * 2
/** Words in a shingle. */
const SHINGLE = 4
/** Shorter texts have no sketch: headings and error pages are alike without being copies. */
const FEWEST_SHINGLES = 30
/** Two sketches with this share of equal numbers belong to nearly the same text. */
const ALIKE = 0.6

const NONE = new Uint8Array(SKETCH_BYTES)

export class Sketcher {
  readonly #least = new Uint32Array(SKETCH_NUMBERS)
  /** The words before, the oldest first. */
  #third = 0
  #second = 0
  #first = 0
  #words = 0

  begin(): void {
    this.#least.fill(0xffff_ffff)
    this.#words = 0
  }

  /** Adds a word by its hash. */
  word(hash: number): void {
    const third = this.#third
    const second = (this.#third = this.#second)
    const first = (this.#second = this.#first)
    this.#first = hash
    if (++this.#words < SHINGLE) return
    let mixed = mix(mix(mix(mix(0, third), second), first), hash)
    mixed = Math.imul(mixed, 0xc2b2ae35)
    mixed ^= mixed >>> 16
    const bin = mixed & (SKETCH_NUMBERS - 1)
    const value = mixed >>> 6
    if (value < this.#least[bin]!) this.#least[bin] = value
  }

  /** The sketch; all zeros if the text is too short. The next text overwrites nothing of it. */
  end(): Uint8Array {
    if (this.#words - SHINGLE + 1 < FEWEST_SHINGLES) return NONE
    const sketch = new Uint8Array(SKETCH_BYTES)
    const least = this.#least
    for (let bin = 0; bin < SKETCH_NUMBERS; bin++) {
      // A bin that nothing fell into borrows from the next one that has something.
      let from = bin
      while (least[from] === 0xffff_ffff) from = (from + 1) % SKETCH_NUMBERS
      const value = (Math.imul(least[from]! ^ (from === bin ? 0 : (bin + 1) * 0x9e37), 0x9e3779b1) >>> 16) | 1
      sketch[bin * 2] = value & 255
      sketch[bin * 2 + 1] = value >>> 8
    }
    return sketch
  }
}

function mix(mixed: number, hash: number): number {
  const product = Math.imul(mixed ^ hash, 0x85ebca6b)
  return product ^ (product >>> 13)
}

/** Whether two texts are nearly the same. */
export function areAlike(one: Uint8Array, other: Uint8Array): boolean {
  return similarity(one, other) >= ALIKE
}

/** The estimated share of common shingles; 0 if one of them has no sketch. */
export function similarity(one: Uint8Array, other: Uint8Array): number {
  if ((one[0] === 0 && one[1] === 0) || (other[0] === 0 && other[1] === 0)) return 0
  let equal = 0
  for (let at = 0; at < SKETCH_BYTES; at += 2)
    if (one[at] === other[at] && one[at + 1] === other[at + 1]) equal++
  return equal / SKETCH_NUMBERS
}
