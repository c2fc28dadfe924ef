import type { StateSpace } from '../stores/contract.js'
import type { MaybePromise } from '../types.js'
import { fingerprint } from '../url/fingerprint.js'
import { FingerprintSet } from './table.js'

/**
 * A set of names at some ten bytes each: those that the caller of a crawl has given, such as the hosts of its seeds, for
 * what was named may be trusted with more.
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

/** Under the host: whether its first addresses were private. */
const FIRST_WAS_PRIVATE = 'private'

/**
 * The hosts and origins of the seeds. A host may have private addresses if its first ones were; that is a fact which
 * outlives the run and goes where the host goes, or the next run or worker would take any address for the first.
 */
export class TrustedNames {
  readonly #facts: StateSpace
  readonly #hosts = new NameSet()
  readonly #origins = new NameSet()
  /** What was first private, and what was first something else, as far as this thread knows. */
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

  /** Whether the first addresses of a host were private; if these are the first, `isPrivate` says so. */
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
    // Another connection may have been first while the store was asked.
    const known = this.#known(host)
    if (known !== undefined) return known
    const was = typeof kept === 'boolean' ? kept : isPrivate
    if (kept !== was) this.#facts.put(FIRST_WAS_PRIVATE, was, host)
    ;(was ? this.#private : this.#other).add(host)
    return was
  }
}
