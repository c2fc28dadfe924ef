/**
 * A Bloom filter over fingerprints: answers "never added" with certainty, or "probably added" with one percent of false
 * positives, at ten bits per fingerprint.
 */

const BITS_EACH = 10
/** Bits set per fingerprint. Seven would be optimal for ten bits each; five is hardly worse. */
const PROBES = 5

export class Filter {
  readonly bytes: Uint8Array
  readonly #bits: number

  /** An empty filter for this many fingerprints, or one that was stored. */
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
