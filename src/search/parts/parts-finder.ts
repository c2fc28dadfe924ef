/**
 * Finds terms over all parts. It answers from what it has asked for before, and notes what it could not answer: plans are
 * made again until nothing is missing, so that planning need not wait in the middle.
 */

import { byCount, type FoundTerm, WordFinder } from '../query/terms.js'
import type { Lookup, PartTerm } from './contract.js'

/** Stands for what is not known yet, so that nothing is corrected before it is. */
const UNKNOWN: FoundTerm = { term: '', weight: 1, count: 1, entries: [] }

export class PartsFinder extends WordFinder {
  readonly #known = new Map<string, readonly FoundTerm[]>()
  readonly #missing = new Map<string, Lookup>()

  exact(term: string): FoundTerm | undefined {
    return this.#find({ kind: 'exact', term })[0]
  }

  beginningWith(prefix: string, weight: number, most: number): FoundTerm[] {
    return this.#find({ kind: 'prefix', term: prefix })
      .slice(0, most)
      .map((each) => ({ ...each, weight }))
  }

  protected nearTo(term: string): FoundTerm[] {
    return [...this.#find({ kind: 'near', term })]
  }

  /** What could not be answered since the last call. */
  takeMissing(): Lookup[] {
    const missing = [...this.#missing.values()]
    this.#missing.clear()
    return missing
  }

  /** What each part knows about these. */
  learn(lookups: readonly Lookup[], parts: readonly (readonly (readonly PartTerm[])[])[]): void {
    for (const [at, lookup] of lookups.entries()) {
      const merged = new Map<string, FoundTerm>()
      for (const [term, weight, count] of parts.flatMap((answers) => answers[at] ?? [])) {
        const before = merged.get(term)?.count ?? 0
        merged.set(term, { term, weight, count: before + count, entries: [] })
      }
      this.#known.set(keyOf(lookup), [...merged.values()].sort(byCount))
    }
  }

  #find(lookup: Lookup): readonly FoundTerm[] {
    const key = keyOf(lookup)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#missing.set(key, lookup)
    return [UNKNOWN]
  }
}

function keyOf({ kind, term }: Lookup): string {
  return `${kind} ${term}`
}
