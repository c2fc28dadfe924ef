/**
 * What goes into a search index and what comes out of it.
 *
 * Invariants:
 * - A document is put, replaced and deleted as a whole, by its `id`. It is in the index once or not at all.
 * - What `commit()` has acknowledged survives a crash of the process and of the machine; what it has not is absent
 *   afterwards, never half there.
 * - One process writes at a time; any number of processes read. A search sees one committed state from start to end.
 */

import type { Duration } from '../time.js'

/** A document to index: a page, an entry of a feed, a file. */
export interface SearchDocument {
  /** Identifies the document. Default: `url`. */
  readonly id?: string | undefined
  readonly url: string
  readonly title?: string | undefined
  /** BCP 47 tag, such as `ja` or `pt-BR`: decides how words are read. */
  readonly language?: string | undefined
  /** When it was published or changed: ms since the epoch, a `Date`, or ISO 8601. What `after:` and freshness use. */
  readonly date?: number | string | Date | undefined
  /** The text, if there are no `sections`. */
  readonly text?: string | undefined
  /** Parts with headings: each is found, shown and linked on its own. */
  readonly sections?: readonly SearchSection[] | undefined
  /** Values of the index's own fields, by name. */
  readonly fields?: Readonly<Record<string, FieldValue>> | undefined
}

/** A part of a document below a heading. */
export interface SearchSection {
  /** `url#anchor` leads to it. */
  readonly anchor?: string | undefined
  readonly heading?: string | undefined
  /** The headings above this one, outermost first. */
  readonly path?: readonly string[] | undefined
  readonly text: string
}

/** A value of a field: text, a word or words, a number, a date. */
export type FieldValue = string | number | boolean | Date | readonly string[] | null | undefined

/**
 * `text` is searched like the body; `keyword` is compared whole, filtered and counted; `number` and `date` are filtered
 * by range and sorted by.
 */
export type FieldType = 'text' | 'keyword' | 'number' | 'date'

/**
 * Cuts text without spaces into words, for example with lindera, kuromoji or jieba. It gets a run of characters without
 * spaces and punctuation and returns its words in order; what it leaves out is not indexed.
 *
 * @example
 * const segmenters = { ja: (text: string) => tokenizer.tokenize(text).map((token) => token.surface_form) }
 */
export type Segmenter = (run: string, language: string | undefined) => Iterable<string>

/** What an index is made of. Fixed when it is created; later openings may leave it out. */
export interface IndexSettings {
  /** Fields of your own. */
  readonly fields?: Readonly<Record<string, FieldType>> | undefined
  /**
   * Reduces words to their stems: `true` for all languages with a stemmer (en, da, de, es, fi, fr, it, nl, no, pt, sv), or
   * a list. Needs the package `snowball-stemmers`. Default: none.
   */
  readonly stemming?: boolean | readonly string[] | undefined
  /** Segmenters by language, for Chinese, Japanese and Korean. Default: pairs of characters, which find everything. */
  readonly segmenters?: Readonly<Record<string, Segmenter>> | undefined
}

/** How to write an index. */
export interface WriterOptions extends IndexSettings {
  /** The number of this shard. Each shard has a writer of its own; readers open all of them. Default: 0. */
  readonly shard?: number | undefined
  /**
   * Waits until the disk has each commit. Without it, a commit survives a crash of the process, but not always one of the
   * machine: the index may then be damaged, which is noticed. Default: true.
   */
  readonly sync?: boolean | undefined
}

/** Writes an index. */
export interface IndexWriter {
  /** Adds a document, or replaces the one with the same id. It is visible to readers after `commit()`. */
  put(document: SearchDocument): Promise<void>
  /** Removes a document. Nothing happens if there is none. */
  delete(id: string): Promise<void>
  /** Makes everything so far durable, and visible to readers. */
  commit(): Promise<void>
  /**
   * Merges all segments into one, without what was deleted. Searches find the same before and after; statistics for
   * ranking no longer count deleted documents.
   */
  compact(): Promise<void>
  /** Counts and sizes. */
  stats(): IndexStats
  /** Commits, waits for merges, and lets go of the index. A second call does nothing. */
  close(): Promise<void>
}

/** What an index consists of. */
export interface IndexStats {
  /** Documents. */
  readonly documents: number
  /** Sections of documents. */
  readonly sections: number
  readonly segments: number
  readonly bytes: number
  /** Sections that are deleted, but still take up space. */
  readonly deleted: number
}

/** Reads an index. It follows what a writer commits, in this process or another. */
export interface SearchIndex {
  /**
   * Finds documents. It never throws because of the query: what cannot be understood is read as words.
   *
   * Words are all required, in any order and place; if no document has them all, spelling is corrected, and then fewer
   * words are enough. `"exact phrase"`, `-without`, `title:word`, `site:example.com`, `lang:ja`, `after:2026-01-01`,
   * `before:2026-02`, `prefix*` and `field:value` are understood.
   */
  search(query: string, options?: SearchOptions): Promise<SearchResult>
  /** Completes the last word of what was typed so far, the most frequent word first. */
  suggest(prefix: string, options?: SuggestOptions): Promise<readonly Suggestion[]>
  /** Documents that share rare words with the one of this id, which is its URL unless it was put with another. */
  similar(url: string, options?: SearchOptions): Promise<SearchResult>
  /** The document with this id, which is its URL unless it was put with another; undefined if there is none. */
  get(id: string): Promise<StoredDocument | undefined>
  stats(): Promise<IndexStats>
  /**
   * Reads every byte of the index and checks that its parts agree.
   *
   * @throws KumoError `KUMO_INDEX_DAMAGED` with what is wrong.
   */
  verify(): Promise<IndexStats>
  close(): Promise<void>
}

/** How to read an index. */
export interface OpenOptions {
  /** The segmenters that the index was written with. */
  readonly segmenters?: Readonly<Record<string, Segmenter>> | undefined
  /** Words that mean the same: a search for one finds all of a group. */
  readonly synonyms?: readonly (readonly string[])[] | undefined
  /** How long an index that another machine serves may take for an answer; a search asks two to five times. Default: 5 s. */
  readonly timeout?: Duration | undefined
  /**
   * Of several indexes: whether those that do not answer are left out, and named in `missing`. Default: false, which makes
   * the search fail with `KUMO_INDEX_UNREACHABLE`.
   */
  readonly partial?: boolean | undefined
}

/** How to search. */
export interface SearchOptions {
  /** Hits to return, at most 1,000. Default: 10. */
  readonly limit?: number | undefined
  /** Hits to leave out at the beginning. Default: 0. */
  readonly offset?: number | undefined
  /** Count the hits by these fields: `host`, `language`, or a keyword field. */
  readonly facets?: readonly string[] | undefined
  /**
   * `page` shows each document once, with its best section; `none` shows every section; `host` or a keyword field shows
   * the best hit for each value. Default: `page`.
   */
  readonly groupBy?: string | undefined
  /** Conditions on fields: a value, a list of values, or a range. */
  readonly filters?: Readonly<Record<string, Filter>> | undefined
  /** Order by a number or date field, or `date`, largest first; `{ by, order: 'ascending' }`. Default: by relevance. */
  readonly sort?: string | { readonly by: string; readonly order?: 'ascending' | 'descending' } | undefined
  /** Snippets with highlights. False leaves them out, which is faster. Default: true. */
  readonly highlight?: boolean | undefined
  /**
   * Tolerates misspelled words: `auto` corrects words that the index does not have, `true` also those that it has, `false`
   * none. Default: `auto`.
   */
  readonly fuzzy?: boolean | 'auto' | undefined
  /** The last word may be the beginning of one, for searching while the user types. Default: false. */
  readonly prefix?: boolean | undefined
  /** How much a word counts in a field: `title`, `headings`, `body`, or a text field. */
  readonly boosts?: Readonly<Record<string, number>> | undefined
  /** Prefers recent documents: after `halfLifeDays`, half of the bonus is left. */
  readonly freshness?: { readonly halfLifeDays: number; readonly weight?: number } | undefined
  /** Your own part of the score: gets the values of number and date fields, and returns a factor. */
  readonly score?: ((fields: Readonly<Record<string, number | undefined>>) => number) | undefined
  /** At most this many hits of one host. Default: no limit. */
  readonly perHost?: number | undefined
}

/** A condition on a field: equal to a value, to one of a list, or within a range (ends included). */
export type Filter =
  | string
  | number
  | boolean
  | Date
  | readonly string[]
  | { readonly min?: number | string | Date | undefined; readonly max?: number | string | Date | undefined }

/** What a search found. */
export interface SearchResult {
  readonly hits: readonly SearchHit[]
  /** All that match: documents if they are grouped by page, sections otherwise. */
  readonly total: number
  /** Counts by field and value, the largest first. */
  readonly facets: Readonly<Record<string, readonly FacetCount[]>>
  /** How the query was read: `exact`, `corrected` (spelling), or `partial` (not every word is in every hit). */
  readonly matched: 'exact' | 'corrected' | 'partial'
  /** Words of the query that were corrected, and to what. */
  readonly corrections: Readonly<Record<string, string>>
  /** With `partial`: folders and addresses of indexes that did not answer, whose documents are not among the hits. */
  readonly missing: readonly string[]
  readonly tookMs: number
}

/** A document, or a section of one, that was found. */
export interface SearchHit {
  readonly id: string
  /** The document's URL, without the anchor. */
  readonly url: string
  /** The section's anchor; undefined if it has none. */
  readonly anchor: string | undefined
  readonly title: string
  /** The headings above the section, and its own. */
  readonly headings: readonly string[]
  readonly language: string | undefined
  /** Milliseconds since the epoch. */
  readonly date: number | undefined
  readonly score: number
  /** The part of the text that matches best; undefined with `highlight: false`. */
  readonly snippet: Snippet | undefined
  /** Matching sections of the same document, this one included. */
  readonly sections: number
  /** Other documents with nearly the same text, which are left out. */
  readonly duplicates: readonly string[]
  readonly fields: Readonly<Record<string, FieldValue>>
}

/** Text with the places that match. */
export interface Snippet {
  readonly text: string
  /** Start and end of each match in `text`. */
  readonly ranges: readonly (readonly [start: number, end: number])[]
  /** The text as HTML: everything is escaped, and matches are in `<mark>`. */
  readonly html: string
}

export interface FacetCount {
  readonly value: string
  readonly count: number
}

export interface SuggestOptions {
  /** Completions to return, at most 100. Default: 8. */
  readonly limit?: number | undefined
}

/** A completion of what was typed. */
export interface Suggestion {
  /** The whole text with the last word completed. */
  readonly text: string
  /** Sections that contain the word. */
  readonly count: number
}

/** A document as it was put. */
export interface StoredDocument {
  readonly id: string
  readonly url: string
  readonly title: string
  readonly language: string | undefined
  readonly date: number | undefined
  readonly sections: readonly SearchSection[]
  readonly fields: Readonly<Record<string, FieldValue>>
}
