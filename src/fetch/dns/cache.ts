/**
 * Caches DNS results in bounded memory. It has two generations instead of an LRU list: when the young one is full it
 * replaces the old one, and entries that were not used in the meantime are gone. A hit costs one lookup, and entries are
 * never deleted one by one.
 */

interface Entry<T> {
  readonly value: T
  /** The time at which the entry expires. */
  readonly until: number
}

/** A bounded table of values that expire. */
export class ExpiringCache<T> {
  readonly #half: number
  #young = new Map<string, Entry<T>>()
  #old = new Map<string, Entry<T>>()

  constructor(maxEntries: number) {
    this.#half = Math.max(1, Math.floor(maxEntries / 2))
  }

  /** Entries held, expired ones included. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** The value, unless it has expired at `now`. */
  get(key: string, now: number): T | undefined {
    const young = this.#young.get(key)
    const entry = young ?? this.#old.get(key)
    if (entry === undefined || entry.until <= now) return undefined
    if (young === undefined) this.#put(key, entry)
    return entry.value
  }

  /** Keeps the value until `until`, or until it is evicted. */
  set(key: string, value: T, until: number): void {
    this.#put(key, { value, until })
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  #put(key: string, entry: Entry<T>): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, entry)
  }
}
