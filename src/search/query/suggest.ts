/** Completes the last word of what was typed. */

import { assertKeys, invalidOption } from '../../errors.js'
import type { Suggestion, SuggestOptions } from '../contract.js'
import type { Analyzers } from '../words/analyzer.js'
import { normalized } from '../words/scanner.js'
import { type FoundTerm, wordsOf } from './terms.js'

const MOST_SUGGESTIONS = 100
/** Characters at the end of what was typed in which the last word is looked for. */
const LONGEST_TYPED = 200

/** @throws KumoError `KUMO_INVALID_OPTION` */
export function suggestLimit(options: SuggestOptions): number {
  assertKeys('suggest()', options, ['limit'])
  const { limit = 8 } = options
  if (!Number.isSafeInteger(limit) || limit < 0 || limit > MOST_SUGGESTIONS)
    throw invalidOption('suggest().limit', limit, `a whole number from 0 to ${MOST_SUGGESTIONS}`)
  return limit
}

/** The beginning of a word that was typed last. */
export interface TypedWord {
  /** As folded by the general analyzer: stems are no words to show. */
  readonly term: string
  complete(found: readonly FoundTerm[]): Suggestion[]
}

/** Undefined if what was typed does not end in a word. */
export function typedWord(text: string, analyzers: Analyzers): TypedWord | undefined {
  const tail = normalized(/[^\s]*$/.exec(text.slice(-LONGEST_TYPED))![0])
  const word = wordsOf(tail, analyzers, true)[0]?.at(-1)
  if (word === undefined) return undefined
  // What stands before the word stays: other words, a quote, a name of a field.
  const head =
    text.slice(0, Math.max(0, text.length - LONGEST_TYPED)) +
    text.slice(-LONGEST_TYPED).replace(/[^\s]*$/, '')
  const before = head + tail.slice(0, tail.lastIndexOf(word.text))
  return {
    term: word.terms[0]!,
    complete: (found) => found.map(({ term, count }) => ({ text: `${before}${term}`, count })),
  }
}
