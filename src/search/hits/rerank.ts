/**
 * Looks at the best records more closely: are the words near each other, are they a heading, are they words at all or
 * parts of longer ones? It changes the order of the first 64 only, so later pages of results stay as they are.
 */

import type { LiveSegment } from '../index/state.js'
import { type Candidate, compareCandidates, type Ranking } from '../query/candidates.js'
import { type Group, isPaired } from '../query/group.js'
import { placesOf } from '../query/occurrences.js'
import { LENGTHS } from '../segment/lengths.js'
import { HEADINGS, MOST_POSITIONS, POSITION_BITS, TITLE } from '../segment/postings.js'
import { normalized } from '../words/scanner.js'

/** Records that are looked at, all in the same ways: one that is not would stand above those that lost by it. */
export const WINDOW = 64
/** Bonus of words that stand side by side. */
const NEAR = 0.5
/** Bonus of a heading, or a title, that consists of the words of the query. */
const WHOLE_HEADING = 0.6
/** What a word counts that is part of a compound, or only part of a longer word. */
const COMPOUND = 0.6
const INSIDE = 0.2
/** Occurrences of a group in a record that are compared. */
const MOST_COMPARED = 64
/** Characters before and after a match that are cut into words. */
const AROUND = 12
const MOST_CHECKED = 6
const LONGEST_READ = 100_000

/** The candidates in their new order; those after the first 64 stay. */
export function rerank(
  candidates: readonly Candidate[],
  groups: readonly Group[],
  segments: readonly LiveSegment[],
): Candidate[] {
  const factors = factorsOf(candidates.slice(0, WINDOW), groups, segments)
  return reordered(candidates, (candidate) => factors.get(candidate)!)
}

/** The candidates in the order of their new scores; those after the first 64 stay. */
export function reordered<Ranked extends Ranking>(
  candidates: readonly Ranked[],
  factorOf: (candidate: Ranked) => number,
): Ranked[] {
  const changed = candidates.slice(0, WINDOW).map((candidate) => {
    const score = candidate.score * factorOf(candidate)
    return { ...candidate, score, key: score }
  })
  return [...changed.sort(compareCandidates), ...candidates.slice(WINDOW)]
}

/** By how much closer looks change the scores of candidates, each for itself. */
export function factorsOf(
  near: readonly Candidate[],
  groups: readonly Group[],
  segments: readonly LiveSegment[],
): Map<Candidate, number> {
  const factors = new Map(near.map((candidate) => [candidate, 1]))
  const numbers = new Set(near.map(({ segment }) => segment))
  for (const number of numbers) {
    const own = near.filter(({ segment }) => segment === number)
    byPosition(own, groups, segments[number]!, number, factors)
  }
  if (groups.some(({ readings }) => readings.some(isPaired)))
    for (const candidate of near) byBoundary(candidate, groups, segments, factors)
  return factors
}

function byPosition(
  candidates: readonly Candidate[],
  groups: readonly Group[],
  { segment }: LiveSegment,
  number: number,
  factors: Map<Candidate, number>,
): void {
  const records = candidates.map(({ record }) => record).sort((a, b) => a - b)
  /** For each group: where it is in each record, and how many words it has. */
  const places = groups.map(({ readings, field }) => {
    const found = new Map<number, Uint32Array>()
    for (const reading of readings) {
      const { records: matching, starts } = placesOf(reading, segment, number, field, records)
      for (const [index, record] of matching.entries())
        if (!found.has(record)) found.set(record, starts[index]!)
    }
    return { found, words: readings[0]?.slots.length ?? 1 }
  })
  const words = places.reduce((sum, each) => sum + each.words, 0)
  for (const candidate of candidates) {
    const { record } = candidate
    let factor = 1
    for (let field = 0; field < segment.lengths.length; field++) {
      const lists = places.map(({ found }) => inField(found.get(record), field))
      if (lists.some(({ length }) => length === 0)) continue
      const span = leastSpan(lists) + (places.at(-1)?.words ?? 1) - 1
      if (groups.length > 1) factor = Math.max(factor, 1 + NEAR * Math.min(1, words / Math.max(words, span)))
      if (field !== HEADINGS && field !== TITLE) continue
      const length = LENGTHS[segment.lengths[field]![record]!]!
      const bonus = field === HEADINGS ? WHOLE_HEADING : WHOLE_HEADING / 2
      // The last pair of a run ends in a word of its own.
      if (length <= words + lastPairs(groups)) factor = Math.max(factor, 1 + NEAR + bonus)
    }
    factors.set(candidate, factors.get(candidate)! * factor)
  }
}

function lastPairs(groups: readonly Group[]): number {
  return groups.filter(({ readings }) => readings.some(isPaired)).length
}

function inField(starts: Uint32Array | undefined, field: number): number[] {
  const positions: number[] = []
  for (const start of starts ?? []) {
    if (start >>> POSITION_BITS !== field) continue
    positions.push(start & MOST_POSITIONS)
    if (positions.length === MOST_COMPARED) break
  }
  return positions
}

/** The fewest words that contain one of each list. Lists are in order. */
function leastSpan(lists: readonly (readonly number[])[]): number {
  const at = lists.map(() => 0)
  let least = Number.POSITIVE_INFINITY
  for (;;) {
    let first = 0
    let low = Number.POSITIVE_INFINITY
    let high = 0
    for (const [index, list] of lists.entries()) {
      const position = list[at[index]!]!
      if (position < low) {
        low = position
        first = index
      }
      if (position > high) high = position
    }
    least = Math.min(least, high - low + 1)
    if (++at[first]! >= lists[first]!.length) return least
  }
}

/** Lowers records that have the query only inside of longer words of a script without spaces. */
function byBoundary(
  candidate: Candidate,
  groups: readonly Group[],
  segments: readonly LiveSegment[],
  factors: Map<Candidate, number>,
): void {
  const { segment } = segments[candidate.segment]!
  const { heading, text } = segment.stored.record(segment.recordItem(candidate.record))
  const whole = normalized(`${heading}\n${text.slice(0, LONGEST_READ)}`).toLowerCase()
  for (const { clause, readings } of groups) {
    if (!readings.some(isPaired)) continue
    const wanted = normalized(clause.text).toLowerCase()
    factors.set(candidate, factors.get(candidate)! * wordFactor(whole, wanted))
  }
}

let segmenter: Intl.Segmenter | undefined

/** 1 if the text has it between characters of other scripts; less if a dictionary has to cut it out of a compound. */
function wordFactor(text: string, wanted: string): number {
  segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' })
  let best = INSIDE
  let at = text.indexOf(wanted)
  for (let checked = 0; at >= 0 && checked < MOST_CHECKED; checked++) {
    if (isAlone(text, at, at + wanted.length)) return 1
    if (best === INSIDE && isSegment(text, at, at + wanted.length)) best = COMPOUND
    at = text.indexOf(wanted, at + 1)
  }
  return best
}

const SCRIPTS = [/\p{Script=Han}/u, /[\p{Script=Katakana}ー]/u, /\p{Script=Hiragana}/u, /\p{Script=Hangul}/u]

function scriptOf(character: string | undefined): number {
  return character === undefined ? -1 : SCRIPTS.findIndex((script) => script.test(character))
}

/** Whether the characters before and after are of other scripts. */
function isAlone(text: string, start: number, end: number): boolean {
  const before = scriptOf(text[start - 1])
  const after = scriptOf(text[end])
  return (before < 0 || before !== scriptOf(text[start])) && (after < 0 || after !== scriptOf(text[end - 1]))
}

function isSegment(text: string, at: number, end: number): boolean {
  const start = Math.max(0, at - AROUND)
  const window = text.slice(start, end + AROUND)
  const boundaries = new Set([start + window.length])
  for (const { index } of segmenter!.segment(window)) boundaries.add(start + index)
  return boundaries.has(at) && boundaries.has(end)
}
