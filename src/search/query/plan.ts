/** From a query as parsed to groups of terms: exact first, then with corrected spelling, then with fewer words. */

import type { Analyzers } from '../words/analyzer.js'
import { PAIRED } from '../words/characters.js'
import { type Group, groupOf, type Reading } from './group.js'
import type { Clause } from './parse.js'
import { type FoundTerm, type QueryWord, type WordFinder, wordsOf } from './terms.js'

const SYNONYM_WEIGHT = 0.8

export interface PlanOptions {
  readonly analyzers: Analyzers
  readonly finder: WordFinder
  /** Names of text fields by number. */
  readonly fields: readonly string[]
  /** Other words for a word, in lower case. */
  readonly synonyms: ReadonlyMap<string, readonly string[]>
  /** Whether the last word may be the beginning of one. */
  readonly isPrefix: boolean
}

/** How to read misspelled words: not at all, those that the index does not have, or all. */
export type Correction = 'none' | 'unknown' | 'all'

/** The groups of a query. */
export interface Plan {
  readonly required: readonly Group[]
  readonly excluded: readonly Group[]
  /** Words that were corrected. */
  readonly corrections: Readonly<Record<string, string>>
}

export function planOf(clauses: readonly Clause[], correction: Correction, options: PlanOptions): Plan {
  const corrections: Record<string, string> = {}
  const last = clauses.findLastIndex(({ isExcluded }) => !isExcluded)
  const groups = clauses.map((clause, index) => {
    const isPrefix = clause.isPrefix || (options.isPrefix && index === last && !clause.isPhrase)
    return groupFor({ ...clause, isPrefix }, clause.isExcluded ? 'none' : correction, options, corrections)
  })
  // Punctuation alone is no word.
  const words = groups.filter((group): group is Group => group !== undefined)
  return {
    required: words.filter(({ clause }) => !clause.isExcluded).sort((a, b) => a.count - b.count),
    excluded: words.filter(({ clause }) => clause.isExcluded),
    corrections,
  }
}

function groupFor(
  clause: Clause,
  correction: Correction,
  options: PlanOptions,
  corrections: Record<string, string>,
): Group | undefined {
  const { analyzers, finder, fields, synonyms } = options
  const readings = wordsOf(clause.text, analyzers, clause.isPrefix).map((words): Reading => {
    const slots = words.map((word) => termsOf(word, correction, finder, corrections))
    return { words, slots, weight: 1 }
  })
  if (readings.length === 0) return undefined
  for (const synonym of synonyms.get(clause.text.toLowerCase()) ?? []) {
    for (const words of wordsOf(synonym, analyzers, false))
      readings.push({ words, slots: words.map((word) => finder.of(word)), weight: SYNONYM_WEIGHT })
  }
  return groupOf(clause, readings, clause.field === undefined ? -1 : fields.indexOf(clause.field))
}

function termsOf(
  word: QueryWord,
  correction: Correction,
  finder: WordFinder,
  corrections: Record<string, string>,
): FoundTerm[] {
  const found = finder.of(word)
  if (correction === 'none' || (correction === 'unknown' && found.length > 0)) return found
  const near = finder.near(word)
  if (found.length === 0 && near.length > 0) corrections[word.text] = near[0]!.term
  return [...found, ...near]
}

/** The words of clauses one by one, for a search in which not all are required. */
export function looseClauses(clauses: readonly Clause[], analyzers: Analyzers): Clause[] {
  return clauses.flatMap((clause) => {
    if (clause.isExcluded || clause.isPhrase) return [clause]
    const [words = []] = wordsOf(clause.text, analyzers, false)
    if (words.length < 2) return [clause]
    const parts = words.some(({ kind }) => kind === PAIRED)
      ? wordsInRun(clause.text)
      : words.map(({ text }) => text)
    return parts.map((text) => ({ ...clause, text }))
  })
}

let segmenter: Intl.Segmenter | undefined

/** The words of a text without spaces. */
function wordsInRun(text: string): string[] {
  segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' })
  return Array.from(segmenter.segment(text))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment)
}
