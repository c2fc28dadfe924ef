/**
 * A bounded memory by origin that forgets what was not asked for lately. It keeps two generations instead of an order:
 * in a Map of 100,000 that is reordered at every question, finding the oldest entry takes some 150 µs, because the
 * places of the deleted ones are walked over.
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

  /** Counts the origin among those that were asked for last. If it is known already, so is the value. */
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
   * Forgets until there are at most so many origins of so much weight: the older generation first, then all. As long as
   * all fit, none is forgotten.
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
