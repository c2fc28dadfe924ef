import { fingerprint } from '../../../url/fingerprint.js'

/** URLs remembered; a power of two. At eight bytes each this is half a megabyte. */
const ENTRIES = 2 ** 16

/**
 * Links that were sent to other nodes recently. Every page of a site links to the same few pages elsewhere, and their
 * owner needs them once. It keeps fingerprints, each at the one place that its low bits give; forgetting one costs a few
 * bytes of traffic.
 */
export class SentLinks {
  readonly #entries = new Uint32Array(2 * ENTRIES)
  readonly #print = new Uint32Array(2)

  /** Whether a request of this name was sent recently. Records it as sent. */
  has(name: string): boolean {
    fingerprint(name, this.#print)
    const [low, high] = this.#print as unknown as [number, number]
    const at = 2 * (low & (ENTRIES - 1))
    if (this.#entries[at] === low && this.#entries[at + 1] === high) return true
    this.#entries[at] = low
    this.#entries[at + 1] = high
    return false
  }

  clear(): void {
    this.#entries.fill(0)
  }
}
