/**
 * Remembers what was answered about the names asked most recently, in bounded memory. Two generations instead of an
 * order of use: when the young one is full it becomes the old one, and what is not asked for again goes with it. A
 * hit costs one look and nothing is ever deleted entry by entry.
 */

interface Entry<T> {
  readonly value: T
  /** In the clock's milliseconds; from then on the entry is as if it were not there. */
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

  /** The value, if it is still good at `now`. */
  get(key: string, now: number): T | undefined {
    const young = this.#young.get(key)
    const entry = young ?? this.#old.get(key)
    if (entry === undefined || entry.until <= now) return undefined
    if (young === undefined) this.#put(key, entry)
    return entry.value
  }

  /** Keeps the value until `until`, or until others have pushed it out. */
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
