/**
 * A Bloom filter over fingerprints: says "never added" for certain, or "probably added", wrongly for one in a hundred.
 * Ten bits a fingerprint.
 */

const BITS_EACH = 10
/** As many bits are set for each: the best number for ten bits each would be seven, and five misses hardly more. */
const PROBES = 5

export class Filter {
  readonly bytes: Uint8Array
  readonly #bits: number

  /** An empty filter for so many fingerprints, or one that was written before. */
  constructor(of: number | Uint8Array) {
    this.bytes = typeof of === 'number' ? new Uint8Array(Math.ceil((of * BITS_EACH) / 8) + 1) : of
    this.#bits = this.bytes.length * 8
  }

  add(low: number, high: number): void {
    const step = (high | 1) >>> 0
    for (let i = 0, at = low; i < PROBES; i++, at = (at + step) >>> 0) {
      const bit = at % this.#bits
      this.bytes[bit >>> 3]! |= 1 << (bit & 7)
    }
  }

  mayHave(low: number, high: number): boolean {
    const step = (high | 1) >>> 0
    for (let i = 0, at = low; i < PROBES; i++, at = (at + step) >>> 0) {
      const bit = at % this.#bits
      if ((this.bytes[bit >>> 3]! & (1 << (bit & 7))) === 0) return false
    }
    return true
  }
}
