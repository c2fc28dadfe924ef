import { fingerprint } from '../url/fingerprint.js'
import { FingerprintSet } from './table.js'

/**
 * Names that the caller of a crawl has given, such as the hosts of its seeds: what was named may be trusted with more.
 * A million seeds on a million hosts take some ten bytes each.
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
