import type { StateSpace } from '../stores/contract.js'
import type { MaybePromise } from '../types.js'
import { fingerprint } from '../url/fingerprint.js'
import { FingerprintSet } from './table.js'

/**
 * A set of names at about ten bytes each, for names that the user gave, such as the hosts of the seeds. These are
 * trusted with more than hosts that were discovered.
 */
export class NameSet {
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

/** Key of a fact about a host: whether its first addresses were private. */
const FIRST_WAS_PRIVATE = 'private'

/**
 * The hosts and origins of the seeds. Such a host may have private addresses if its first addresses were private. This
 * fact outlives the run and moves with the host; otherwise the next run or worker would treat any address as the first.
 */
export class TrustedNames {
  readonly #facts: StateSpace
  readonly #hosts = new NameSet()
  readonly #origins = new NameSet()
  /**
   * Hosts whose first addresses were private, and those whose first addresses were not, as far as this thread knows.
   */
  readonly #private = new NameSet()
  readonly #other = new NameSet()

  constructor(facts: StateSpace) {
    this.#facts = facts
  }

  add(host: string, origin: string): void {
    this.#hosts.add(host)
    this.#origins.add(origin)
  }

  has(host: string): boolean {
    return this.#hosts.has(host)
  }

  hasOrigin(origin: string): boolean {
    return this.#origins.has(origin)
  }

  /** Whether the first addresses of a host were private. If no addresses are known yet, `isPrivate` decides. */
  wasPrivate(host: string, isPrivate: boolean): MaybePromise<boolean> {
    const known = this.#known(host)
    if (known !== undefined) return known
    const asked = this.#facts.get(FIRST_WAS_PRIVATE, host)
    if (asked instanceof Promise) return asked.then((kept) => this.#learn(host, kept, isPrivate))
    return this.#learn(host, asked, isPrivate)
  }

  #known(host: string): boolean | undefined {
    return this.#private.has(host) ? true : this.#other.has(host) ? false : undefined
  }

  #learn(host: string, kept: unknown, isPrivate: boolean): boolean {
    // Another connection may have been first while the store was read.
    const known = this.#known(host)
    if (known !== undefined) return known
    const was = typeof kept === 'boolean' ? kept : isPrivate
    if (kept !== was) this.#facts.put(FIRST_WAS_PRIVATE, was, host)
    ;(was ? this.#private : this.#other).add(host)
    return was
  }
}
