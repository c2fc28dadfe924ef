/**
 * A bounded cache by origin that evicts what has not been used recently. It keeps two generations instead of an exact
 * order: in a Map of 100,000 entries that is reordered at every access, finding the oldest entry takes some 150 µs,
 * because V8 walks over the slots of deleted entries.
 */

import { owned } from '../../owned.js'

interface Generation<Value> {
  readonly values: Map<string, Value>
  weight: number
}

/** Filled by `use`, emptied by `fit` (a generation at a time) and `delete`. An origin is in one generation only. */
export class Generations<Value> {
  readonly #weightOf: (value: Value) => number
  #recent: Generation<Value> = { values: new Map(), weight: 0 }
  #older: Generation<Value> = { values: new Map(), weight: 0 }

  constructor(weightOf: (value: Value) => number) {
    this.#weightOf = weightOf
  }

  get(origin: string): Value | undefined {
    return this.#recent.values.get(origin) ?? this.#older.values.get(origin)
  }

  /** Marks an origin as recently used, and adds it if it is new. The value of a recent origin is not replaced. */
  use(origin: string, value: Value): void {
    if (this.#recent.values.has(origin)) return
    this.#remove(this.#older, origin)
    this.#recent.values.set(owned(origin), value)
    this.#recent.weight += this.#weightOf(value)
  }

  *[Symbol.iterator](): Generator<readonly [origin: string, value: Value]> {
    yield* this.#older.values
    yield* this.#recent.values
  }

  delete(origin: string): void {
    this.#remove(this.#recent, origin)
    this.#remove(this.#older, origin)
  }

  /**
   * Evicts until both limits hold: the older generation first, then everything. As long as all entries fit, none is
   * evicted.
   */
  fit(maxOrigins: number, maxWeight: number): void {
    const { values, weight } = this.#recent
    const isHalf = values.size * 2 > maxOrigins || weight * 2 > maxWeight
    if (isHalf && this.#older.values.size === 0) this.#age()
    for (let generations = 2; generations > 0 && !this.#fits(maxOrigins, maxWeight); generations--)
      this.#age()
  }

  #age(): void {
    this.#older = this.#recent
    this.#recent = { values: new Map(), weight: 0 }
  }

  #fits(maxOrigins: number, maxWeight: number): boolean {
    const [recent, older] = [this.#recent, this.#older]
    return recent.values.size + older.values.size <= maxOrigins && recent.weight + older.weight <= maxWeight
  }

  #remove(generation: Generation<Value>, origin: string): void {
    const value = generation.values.get(origin)
    if (value === undefined) return
    generation.values.delete(origin)
    generation.weight -= this.#weightOf(value)
  }
}
