/** Opens an index for searching. */

import { asKumoError, assertKeys, invalidOption, KumoError } from '../errors.js'
import { nextTurn, systemClock } from '../time.js'
import type {
  IndexStats,
  OpenOptions,
  SearchIndex,
  SearchOptions,
  SearchResult,
  Segmenter,
  StoredDocument,
  Suggestion,
  SuggestOptions,
} from './contract.js'
import { analyzersOf, checkSegmenters, compareSettings, schemaOf } from './index/settings.js'
import { type Snapshot, Snapshots, statsOf } from './index/snapshot.js'
import { type SearchState, search } from './query/search.js'
import { findPage, similarTo } from './query/similar.js'
import { TermFinder, wordsOf } from './query/terms.js'
import { damaged } from './segment/checked-file.js'
import { PostingCursor } from './segment/postings.js'
import type { Segment } from './segment/segment.js'
import { normalized } from './words/scanner.js'

/**
 * Opens an index for searching. Other processes may write it meanwhile: each search sees the latest commit.
 *
 * @throws KumoError `KUMO_INDEX_FAILED` if there is no index, `KUMO_INDEX_DAMAGED`, `KUMO_INDEX_MISMATCH` if it was
 * written with other segmenters, `KUMO_INVALID_OPTION`.
 * @example
 * import { openIndex } from 'kumo/search'
 *
 * const index = await openIndex('./index')
 * const { hits, total } = await index.search('install "package manager" -windows')
 * for (const { url, anchor, title, snippet } of hits) console.log(title, `${url}#${anchor ?? ''}`, snippet?.text)
 */
export async function openIndex(path: string, options: OpenOptions = {}): Promise<SearchIndex> {
  if (typeof path !== 'string' || path === '')
    throw invalidOption('openIndex()', path, 'the path of a folder')
  assertKeys('openIndex()', options, ['segmenters', 'synonyms'])
  const segmenters = checkSegmenters('openIndex()', options.segmenters)
  const reader = new Reader(path, segmenters, synonymsOf(options.synonyms))
  reader.state()
  return reader
}

function synonymsOf(groups: OpenOptions['synonyms'] = []): Map<string, readonly string[]> {
  const synonyms = new Map<string, string[]>()
  if (!Array.isArray(groups) || !groups.every(isGroup))
    throw invalidOption('openIndex().synonyms', groups, "lists of words, such as [['js', 'javascript']]")
  for (const group of groups) {
    for (const word of group) {
      const others = group.filter((each: string) => each !== word)
      const key = word.toLowerCase()
      synonyms.set(key, [...(synonyms.get(key) ?? []), ...others])
    }
  }
  return synonyms
}

function isGroup(group: unknown): boolean {
  return Array.isArray(group) && group.every((word) => typeof word === 'string')
}

const MOST_SUGGESTIONS = 100
/** Characters at the end of what was typed in which the last word is looked for. */
const LONGEST_TYPED = 200

class Reader implements SearchIndex {
  readonly #path: string
  readonly #snapshots: Snapshots
  readonly #segmenters: Readonly<Record<string, Segmenter>>
  readonly #synonyms: ReadonlyMap<string, readonly string[]>
  readonly #clock = systemClock()
  #isClosed = false
  #last: { readonly snapshot: Snapshot; readonly state: SearchState } | undefined

  constructor(
    path: string,
    segmenters: Readonly<Record<string, Segmenter>>,
    synonyms: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#path = path
    this.#snapshots = new Snapshots(path)
    this.#segmenters = segmenters
    this.#synonyms = synonyms
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchResult> {
    return search(this.state(), query, options)
  }

  async similar(url: string, options: SearchOptions = {}): Promise<SearchResult> {
    return similarTo(this.state(), String(url), options)
  }

  async suggest(typed: string, options: SuggestOptions = {}): Promise<readonly Suggestion[]> {
    assertKeys('suggest()', options, ['limit'])
    const { limit = 8 } = options
    if (!Number.isSafeInteger(limit) || limit < 0 || limit > MOST_SUGGESTIONS)
      throw invalidOption('suggest().limit', limit, `a whole number from 0 to ${MOST_SUGGESTIONS}`)
    const state = this.state()
    const text = String(typed)
    const tail = normalized(/[^\s]*$/.exec(text.slice(-LONGEST_TYPED))![0])
    const word = wordsOf(tail, state.analyzers, true)[0]?.at(-1)
    if (word === undefined || limit === 0) return []
    // What stands before the word stays: other words, a quote, a name of a field.
    const head =
      text.slice(0, Math.max(0, text.length - LONGEST_TYPED)) +
      text.slice(-LONGEST_TYPED).replace(/[^\s]*$/, '')
    const before = head + tail.slice(0, tail.lastIndexOf(word.text))
    // As folded by the general analyzer: stems are no words to show.
    const found = new TermFinder(state.segments).beginningWith(word.terms[0]!, 1, limit)
    return found.map(({ term, count }) => ({ text: `${before}${term}`, count }))
  }

  async get(id: string): Promise<StoredDocument | undefined> {
    const found = findPage(this.state(), String(id))
    return found === undefined ? undefined : storedDocument(found.segment, found.page)
  }

  async stats(): Promise<IndexStats> {
    return statsOf(this.state().segments)
  }

  async verify(): Promise<IndexStats> {
    const { segments } = this.state()
    for (const { segment } of segments) {
      await nextTurn()
      verifySegment(segment)
    }
    return statsOf(segments)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#snapshots.close()
  }

  /** The latest commit. */
  state(): SearchState {
    if (this.#isClosed) throw new KumoError('KUMO_INDEX_FAILED', `${this.#path}: the index was closed`)
    try {
      const snapshot = this.#snapshots.latest()
      if (this.#last?.snapshot !== snapshot) this.#last = { snapshot, state: this.#stateOf(snapshot) }
      return this.#last!.state
    } catch (error) {
      throw asKumoError(error, 'KUMO_INDEX_FAILED', `${this.#path} cannot be read`)
    }
  }

  #stateOf({ segments, settings, languages }: Snapshot): SearchState {
    const asked = { ...settings, segmenters: Object.keys(this.#segmenters).sort() }
    compareSettings(this.#path, {}, asked, settings)
    return {
      segments,
      schema: schemaOf(settings),
      analyzers: analyzersOf(settings, this.#segmenters, languages),
      synonyms: this.#synonyms,
      clock: this.#clock,
    }
  }
}

function storedDocument(segment: Segment, page: number): StoredDocument {
  const { id, url, title, language, date, fields = {} } = segment.stored.page(segment.pageItem(page))
  const first = segment.firstRecords[page]!
  const count = segment.firstRecords[page + 1]! - first
  const sections = Array.from({ length: count }, (_, index) => {
    const { anchor, ...rest } = segment.stored.record(segment.recordItem(first + index))
    return { ...rest, anchor: anchor === '' ? undefined : anchor }
  })
  return { id, url, title, language, date, sections, fields }
}

/** @throws KumoError `KUMO_INDEX_DAMAGED` */
function verifySegment(segment: Segment): void {
  segment.file.verify()
  const { dictionary, description, stored } = segment
  let terms = 0
  for (const block of dictionary.firsts.keys()) {
    const cursor = dictionary.block(block)
    while (cursor.next()) {
      terms++
      const postings = new PostingCursor(segment.postings(cursor.entry()))
      let count = 0
      while (postings.next()) count++
      if (count !== cursor.count || postings.record !== cursor.last || postings.record >= segment.records)
        throw damaged(segment.file.path, `the postings of '${cursor.term}' are inconsistent`)
    }
  }
  if (terms !== description.terms)
    throw damaged(segment.file.path, `it has ${terms} terms, not ${description.terms}`)
  if (stored.firstItems.at(-1) !== segment.records + segment.pages)
    throw damaged(segment.file.path, 'it does not have all documents')
}
