/** From words of a query to terms of the index: by all its analyzers, as beginnings, and with typos. */

import type { LiveSegment } from '../index/state.js'
import type { TermEntry } from '../segment/dictionary.js'
import type { Analyzers } from '../words/analyzer.js'
import { PAIRED, WORD } from '../words/characters.js'
import { normalized, Scanner } from '../words/scanner.js'
import { EditDistance, editsAllowed } from './edits.js'

/** A word of a query. */
export interface QueryWord {
  readonly text: string
  readonly kind: number
  /** It is the beginning of a word, or a single character that pairs begin with. */
  readonly isPrefix: boolean
  /** Terms by the analyzers. */
  readonly terms: readonly string[]
}

/** A term of the index that a word of the query stands for. */
export interface FoundTerm {
  readonly term: string
  /** 1 for the word itself, less for what resembles it. */
  readonly weight: number
  /** Records with the term, in all segments. */
  readonly count: number
  /** Where it is in each segment. */
  readonly entries: readonly (TermEntry | undefined)[]
}

/** Terms with a common beginning that a query stands for; the most frequent ones. */
const MOST_EXPANDED = 100
/** Terms with a common beginning that are looked at. */
export const MOST_SCANNED = 20_000
const MOST_CORRECTIONS = 12
const PREFIX_WEIGHT = 0.7
const EDIT_WEIGHT = 0.5

/** Words of a text, each list read by another segmenter. */
export function wordsOf(text: string, analyzers: Analyzers, isPrefix: boolean): QueryWord[][] {
  const plain = normalized(text)
  const readings = new Map<unknown, QueryWord[]>()
  for (const { segmenter } of analyzers.all) {
    if (!readings.has(segmenter)) readings.set(segmenter, read(plain, analyzers, segmenter, isPrefix))
  }
  const seen = new Set<string>()
  return [...readings.values()].filter((words) => {
    const key = words.map((word) => word.text).join('\0')
    if (words.length === 0 || seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function read(
  text: string,
  analyzers: Analyzers,
  segmenter: Analyzers['all'][number]['segmenter'],
  isPrefix: boolean,
): QueryWord[] {
  const words: QueryWord[] = []
  const scanner = new Scanner(text, undefined, segmenter)
  const readers = analyzers.all.filter((each) => each.segmenter === segmenter)
  while (scanner.next() && words.length < MOST_WORDS) {
    const { start, end, kind, isLastOfRun } = scanner
    // In documents, this character may be followed by another.
    if (isLastOfRun) continue
    const word = text.slice(start, end)
    const terms = new Set(readers.map((analyzer) => analyzer.term(word, kind)).filter((term) => term !== ''))
    const isOne = kind === PAIRED && [...word].length === 1
    words.push({ text: word, kind, isPrefix: isOne, terms: [...terms] })
  }
  const last = words.at(-1)
  if (isPrefix && last !== undefined) words[words.length - 1] = { ...last, isPrefix: true }
  return words.filter(({ terms }) => terms.length > 0)
}

/** Words of one clause. */
const MOST_WORDS = 60

/** Finds the terms that words of a query stand for, wherever the terms are. */
export abstract class WordFinder {
  /** The term itself. */
  abstract exact(term: string): FoundTerm | undefined
  /** The most frequent terms with this beginning. */
  abstract beginningWith(prefix: string, weight: number, most: number): FoundTerm[]
  /** Terms that differ from this one by a few letters. */
  protected abstract nearTo(term: string): FoundTerm[]

  /** Terms of a word as it is written. */
  of(word: QueryWord): FoundTerm[] {
    const found = word.terms.flatMap((term) => this.exact(term) ?? [])
    if (!word.isPrefix) return found
    const isOne = word.kind === PAIRED
    const terms = new Map(found.map((each) => [each.term, each]))
    for (const term of word.terms)
      for (const each of this.beginningWith(
        term,
        isOne ? 1 : PREFIX_WEIGHT,
        isOne ? MOST_SCANNED : MOST_EXPANDED,
      ))
        if (!terms.has(each.term)) terms.set(each.term, each)
    return [...terms.values()]
  }

  /** Terms that differ from a word by a few letters. */
  near(word: QueryWord): FoundTerm[] {
    if (word.kind !== WORD) return []
    const found = new Map<string, FoundTerm>()
    for (const term of word.terms) {
      for (const each of this.nearTo(term)) if (!found.has(each.term)) found.set(each.term, each)
    }
    const best = [...found.values()].sort((a, b) => b.weight - a.weight || byCount(a, b))
    // What is one edit away makes two edits improbable.
    return best.filter(({ weight }) => weight === best[0]!.weight).slice(0, MOST_CORRECTIONS)
  }
}

/** Finds terms in all segments of an index. */
export class TermFinder extends WordFinder {
  readonly #segments: readonly LiveSegment[]
  readonly #known = new Map<string, FoundTerm | undefined>()

  constructor(segments: readonly LiveSegment[]) {
    super()
    this.#segments = segments
  }

  exact(term: string): FoundTerm | undefined {
    if (this.#known.has(term)) return this.#known.get(term)
    const entries = this.#segments.map(({ segment }) => segment.dictionary.find(term))
    const found = foundTerm(term, 1, entries)
    this.#known.set(term, found)
    return found
  }

  beginningWith(prefix: string, weight: number, most: number): FoundTerm[] {
    const entries = new Map<string, (TermEntry | undefined)[]>()
    for (const [index, { segment }] of this.#segments.entries()) {
      let scanned = 0
      segment.dictionary.each(prefix, (entry) => {
        this.#note(entries, entry, index)
        return ++scanned < MOST_SCANNED
      })
    }
    return mostFrequent(entries, () => weight).slice(0, most)
  }

  nearTo(word: string): FoundTerm[] {
    const most = editsAllowed(word.length)
    if (most === 0) return []
    const entries = new Map<string, (TermEntry | undefined)[]>()
    const distances = new Map<string, number>()
    for (const [index, { segment }] of this.#segments.entries()) {
      const { dictionary } = segment
      const distance = new EditDistance(word, most)
      const { firsts } = dictionary
      for (const [block, first] of firsts.entries()) {
        const next = firsts[block + 1]
        // All terms of the block share what its first term shares with that of the next block.
        if (next !== undefined && !distance.canBegin(shared(first, next))) continue
        const cursor = dictionary.block(block)
        while (cursor.next()) {
          const edits = distance.of(cursor.term)
          if (edits <= 0) continue
          distances.set(cursor.term, edits)
          this.#note(entries, cursor.entry(), index)
        }
      }
    }
    return mostFrequent(entries, (term) => EDIT_WEIGHT ** distances.get(term)!)
  }

  #note(entries: Map<string, (TermEntry | undefined)[]>, entry: TermEntry, index: number): void {
    let places = entries.get(entry.term)
    if (places === undefined) {
      places = this.#segments.map(() => undefined)
      entries.set(entry.term, places)
    }
    places[index] = entry
  }
}

function foundTerm(
  term: string,
  weight: number,
  entries: readonly (TermEntry | undefined)[],
): FoundTerm | undefined {
  const count = entries.reduce((sum, entry) => sum + (entry?.count ?? 0), 0)
  return count === 0 ? undefined : { term, weight, count, entries }
}

function mostFrequent(
  entries: ReadonlyMap<string, readonly (TermEntry | undefined)[]>,
  weightOf: (term: string) => number,
): FoundTerm[] {
  return [...entries].flatMap(([term, places]) => foundTerm(term, weightOf(term), places) ?? []).sort(byCount)
}

/** The most frequent one first. */
export function byCount(a: FoundTerm, b: FoundTerm): number {
  return b.count - a.count || (a.term < b.term ? -1 : 1)
}

function shared(one: string, other: string): string {
  let at = 0
  while (at < one.length && at < other.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return one.slice(0, at)
}
