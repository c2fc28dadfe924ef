/** A clause of a query with the terms that it stands for in the index. */

import { PAIRED } from '../words/characters.js'
import type { Clause } from './parse.js'
import type { FoundTerm, QueryWord } from './terms.js'

/** One way to read a clause: words that follow each other, each with its terms. */
export interface Reading {
  readonly words: readonly QueryWord[]
  readonly slots: readonly (readonly FoundTerm[])[]
  /** Less than 1 for a synonym. */
  readonly weight: number
}

/** What a record must have to match a clause: one of its readings. */
export interface Group {
  readonly clause: Clause
  readonly readings: readonly Reading[]
  /** Number of the text field that must have it; -1 for any. */
  readonly field: number
  /** Records that have it, at most. Orders groups: rare ones first. */
  readonly count: number
}

export function groupOf(clause: Clause, readings: readonly Reading[], field: number): Group {
  const found = readings.filter(({ slots }) => slots.length > 0 && slots.every((terms) => terms.length > 0))
  const count = found.reduce((sum, { slots }) => sum + Math.min(...slots.map(countOf)), 0)
  return { clause, readings: found, field, count }
}

/** Records that have one of the terms, at most. */
export function countOf(terms: readonly FoundTerm[]): number {
  return terms.reduce((sum, { count }) => sum + count, 0)
}

/** Whether a reading is of characters that pairs were made of. */
export function isPaired({ words }: Reading): boolean {
  return words.some(({ kind }) => kind === PAIRED)
}
