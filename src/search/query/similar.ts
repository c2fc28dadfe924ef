/** Documents like another one: a search for the words that set it apart. */

import type { SearchOptions, SearchResult } from '../contract.js'
import { hashId } from '../segment/ids.js'
import { hasBit } from '../segment/merge.js'
import type { Segment } from '../segment/segment.js'
import { normalized, Scanner } from '../words/scanner.js'
import type { RankingModel } from './model.js'
import { modelOf, type SearchState, searchSome } from './search.js'
import { TermFinder, type WordFinder } from './terms.js'

/** Words to search for. */
const WORDS = 12
/** Characters of the document that are read. */
const LONGEST_READ = 50_000
/** Words of the document that are weighed. */
const MOST_WEIGHED = 400

/** The segment and page of a document; undefined if there is none. */
export function findPage(state: SearchState, id: string): { segment: Segment; page: number } | undefined {
  const hash = hashId(id)
  for (const { segment, deleted } of state.segments) {
    const page = segment.ids.find(hash)
    if (page >= 0 && !hasBit(deleted, segment.firstRecords[page]!)) return { segment, page }
  }
  return undefined
}

export function similarTo(state: SearchState, id: string, options: SearchOptions): SearchResult {
  const start = state.clock.now()
  const found = findPage(state, id)
  const words = found === undefined ? [] : tellingWords(state, found.segment, found.page)
  const result = withoutItself(searchSome(state, words, withOneMore(options)), id, options)
  return { ...result, tookMs: state.clock.now() - start }
}

/** Options that also find the document itself. */
export function withOneMore({ limit = 10, offset = 0, ...options }: SearchOptions): SearchOptions {
  return { ...options, limit: limit + 1 + offset, offset: 0 }
}

export function withoutItself(
  result: SearchResult,
  id: string,
  { limit = 10, offset = 0 }: SearchOptions,
): SearchResult {
  const hits = result.hits.filter((hit) => hit.id !== id).slice(offset)
  return { ...result, hits: hits.slice(0, limit), total: Math.max(0, result.total - 1) }
}

function tellingWords(state: SearchState, segment: Segment, page: number): string[] {
  const counted = countedWords(state, segment, page)
  return weighed(counted, new TermFinder(state.segments), modelOf(state.segments, state.schema, []))
}

/** A word of a document. */
export interface CountedWord {
  readonly term: string
  readonly word: string
  readonly count: number
}

/** The most frequent words of a document. */
export function countedWords(state: SearchState, segment: Segment, page: number): CountedWord[] {
  const { title, language } = segment.stored.page(segment.pageItem(page))
  const texts = [title]
  let length = 0
  for (let record = segment.firstRecords[page]!; record < segment.firstRecords[page + 1]!; record++) {
    if (length > LONGEST_READ) break
    const { heading, text } = segment.stored.record(segment.recordItem(record))
    texts.push(heading, text)
    length += text.length
  }
  const counts = countWords(normalized(texts.join('\n').slice(0, LONGEST_READ)), state, language)
  return [...counts]
    .map(([term, { word, count }]) => ({ term, word, count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_WEIGHED)
}

/** The words that set a document apart. */
export function weighed(
  words: readonly CountedWord[],
  finder: Pick<WordFinder, 'exact'>,
  model: RankingModel,
): string[] {
  return words
    .flatMap(({ term, word, count }) => {
      const found = finder.exact(term)
      // Words that only this document has lead nowhere.
      return found === undefined || found.count < 2
        ? []
        : [{ word, weight: model.rarity(found.count) * model.saturate(count) }]
    })
    .sort((a, b) => b.weight - a.weight)
    .slice(0, WORDS)
    .map(({ word }) => word)
}

function countWords(
  text: string,
  { analyzers }: SearchState,
  language: string | undefined,
): Map<string, { readonly word: string; count: number }> {
  const analyzer = analyzers.of(language)
  const counts = new Map<string, { readonly word: string; count: number }>()
  const scanner = new Scanner(text, language, analyzer.segmenter)
  while (scanner.next()) {
    if (scanner.isLastOfRun || scanner.end - scanner.start < 2) continue
    const word = text.slice(scanner.start, scanner.end)
    const term = analyzer.term(word, scanner.kind)
    const known = counts.get(term)
    if (known === undefined) counts.set(term, { word, count: 1 })
    else known.count++
  }
  return counts
}
