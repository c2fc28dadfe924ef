/** How a query is tried: as it was written, then with corrected spelling, then with fewer words. */

import type { SearchResult } from '../contract.js'
import type { Analyzers } from '../words/analyzer.js'
import type { Clause } from './parse.js'
import { type Correction, looseClauses, type Plan } from './plan.js'

/** One way to read a query. */
export interface Attempt {
  readonly clauses: readonly Clause[]
  readonly correction: Correction
  /** Every word is required. */
  readonly isStrict: boolean
}

/** What an attempt found. */
export interface Attempted {
  readonly total: number
  readonly plan: Plan
  readonly matched: SearchResult['matched']
}

/** Yields attempts, is told what each found, and returns what counts. */
export function* attempts<Found extends Attempted>(
  clauses: readonly Clause[],
  fuzzy: boolean | 'auto',
  analyzers: Analyzers,
): Generator<Attempt, Found, Found> {
  const first: Correction = fuzzy === true ? 'all' : fuzzy === false ? 'none' : 'unknown'
  const strict = yield { clauses, correction: first, isStrict: true }
  if (strict.total > 0 || !clauses.some(({ isExcluded }) => !isExcluded)) return strict
  if (fuzzy === 'auto') {
    const corrected = yield { clauses, correction: 'all', isStrict: true }
    if (corrected.total > 0) return { ...corrected, matched: 'corrected' }
  }
  const partial = yield { clauses: looseClauses(clauses, analyzers), correction: first, isStrict: false }
  return partial.total > 0 && partial.plan.required.length > 1 ? { ...partial, matched: 'partial' } : partial
}

/** A query of punctuation finds nothing; one of conditions finds all that fulfil them. */
export function findsNothing(plan: Plan, clauses: readonly Clause[], conditions: number): boolean {
  return plan.required.length === 0 && (clauses.some((each) => !each.isExcluded) || conditions === 0)
}

/** Clauses for single words. */
export function clausesOf(words: readonly string[]): Clause[] {
  return words.map((text) => ({
    text,
    isPhrase: false,
    isExcluded: false,
    isPrefix: false,
    field: undefined,
  }))
}
