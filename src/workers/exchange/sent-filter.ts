import type { CrawlRequest } from '../../types.js'
import { fingerprint } from '../../url/fingerprint.js'

/** URLs remembered; a power of two. At eight bytes each this is half a megabyte, however many shards there are. */
const ENTRIES = 2 ** 16

/** Large odd numbers: multiplying by one is a bijection and changes every number but zero. */
const ODD_LOW = 0x9e3779b1
const ODD_HIGH = 0x85ebca77

/**
 * Remembers what was sent to other shards recently. Popular pages are linked from everywhere; sending them once in a
 * while is enough, since their owner knows them after the first time.
 *
 * It keeps 64-bit fingerprints, each at the one index given by its low bits, where it overwrites the previous one.
 * Forgetting costs a few bytes of traffic and nothing else.
 */
export class SentFilter {
  readonly #entries = new Uint32Array(2 * ENTRIES)
  readonly #print = new Uint32Array(2)
  /** Distinguishes the URLs sent to one shard from those sent to others and to its predecessors. */
  readonly #salts: number[]
  #nextSalt = 1

  constructor(shards: number) {
    this.#salts = Array.from({ length: shards }, () => this.#nextSalt++)
  }

  /** Whether a request of this name (`knownAs`) was sent to that shard recently. Records it as sent. */
  hasSent(shard: number, name: string): boolean {
    const print = this.#print
    fingerprint(name, print)
    const salt = this.#salts[shard]!
    const low = (print[0]! ^ Math.imul(salt, ODD_LOW)) >>> 0
    const high = (print[1]! ^ Math.imul(salt, ODD_HIGH)) >>> 0
    const places = this.#entries
    const at = 2 * (low & (ENTRIES - 1))
    if (places[at] === low && places[at + 1] === high) return true
    places[at] = low
    places[at + 1] = high
    return false
  }

  /** The shard has been replaced: its replacement has received nothing yet. */
  forget(shard: number): void {
    this.#salts[shard] = this.#nextSalt++
  }
}

/** Whether the owner's seen-set would drop it the second time, so that dropping it here loses nothing. */
export function mayBeKnown({ attempt, purpose, via }: CrawlRequest): boolean {
  return attempt === 0 && purpose === undefined && via === undefined
}
