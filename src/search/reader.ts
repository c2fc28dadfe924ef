/** Searches an index in a folder of this machine. */

import { createHash } from 'node:crypto'
import { asKumoError, KumoError } from '../errors.js'
import { nextTurn, systemClock } from '../time.js'
import type {
  IndexStats,
  SearchIndex,
  SearchOptions,
  SearchResult,
  Segmenter,
  StoredDocument,
  Suggestion,
  SuggestOptions,
} from './contract.js'
import { storedDocument } from './hits/stored-hit.js'
import { analyzersOf, compareSettings, schemaOf } from './index/settings.js'
import { type Snapshot, Snapshots, statsOf } from './index/snapshot.js'
import type { IndexPart } from './parts/contract.js'
import { LocalPart, PART, type StateOfPart } from './parts/local-part.js'
import { type SearchState, search } from './query/search.js'
import { findPage, similarTo } from './query/similar.js'
import { suggestLimit, typedWord } from './query/suggest.js'
import { TermFinder } from './query/terms.js'
import { damaged } from './segment/checked-file.js'
import { PostingCursor } from './segment/postings.js'
import type { Segment } from './segment/segment.js'

/** An index in a folder of this machine. */
export class Reader implements SearchIndex {
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
    const limit = suggestLimit(options)
    const state = this.state()
    const word = typedWord(String(typed), state.analyzers)
    if (word === undefined || limit === 0) return []
    return word.complete(new TermFinder(state.segments).beginningWith(word.term, 1, limit))
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

  /** What other machines ask of it, to search it together with theirs. */
  [PART](): IndexPart {
    return new LocalPart(this.#path, () => this.#latest())
  }

  /** The latest commit. */
  state(): SearchState {
    return this.#latest().state
  }

  #latest(): StateOfPart {
    if (this.#isClosed) throw new KumoError('KUMO_INDEX_FAILED', `${this.#path}: the index was closed`)
    try {
      const snapshot = this.#snapshots.latest()
      if (this.#last?.snapshot !== snapshot) this.#last = { snapshot, state: this.#stateOf(snapshot) }
      return this.#last!
    } catch (error) {
      throw asKumoError(error, 'KUMO_INDEX_FAILED', `${this.#path} cannot be read`)
    }
  }

  #stateOf({ version, segments, settings, languages }: Snapshot): SearchState {
    const asked = { ...settings, segmenters: Object.keys(this.#segmenters).sort() }
    compareSettings(this.#path, {}, asked, settings)
    return {
      version: createHash('sha1').update(version).digest('base64url'),
      segments,
      schema: schemaOf(settings),
      analyzers: analyzersOf(settings, this.#segmenters, languages),
      synonyms: this.#synonyms,
      clock: this.#clock,
    }
  }
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
