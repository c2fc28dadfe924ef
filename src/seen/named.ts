import { fingerprint } from '../url/fingerprint.js'
import { FingerprintSet } from './table.js'

/**
 * A set of names at some ten bytes each: those that the caller of a crawl has given, such as the hosts of its seeds, for
 * what was named may be trusted with more.
 */
export class Named {
  readonly #names = new FingerprintSet()
  readonly #print = new Uint32Array(2)

  add(name: string): void {
    fingerprint(name, this.#print)
    this.#names.add(this.#print, 0)
  }

  has(name: string): boolean {
    fingerprint(name, this.#print)
    return this.#names.has(this.#print, 0)
  }
}
