/**
 * What a merged search asks of each index that it consists of: a folder of this machine, or one that another machine serves.
 *
 * Invariants:
 * - Everything can be sent as JSON.
 * - Questions name the version of the index that they are about. If it has changed, the answer is none, and the search
 *   begins again: so each search sees one commit of each index.
 * - Ranking depends on statistics of all indexes together. The questions carry them; no index ranks by its own.
 */

import type { FacetCount, IndexStats, SearchOptions, StoredDocument } from '../contract.js'
import type { StoredHit } from '../hits/stored-hit.js'
import type { Settings } from '../index/manifest.js'
import type { Ranking } from '../query/candidates.js'
import type { Clause } from '../query/parse.js'
import type { CountedWord } from '../query/similar.js'
import type { QueryWord } from '../query/terms.js'

export interface IndexPart {
  /** The folder or the address. */
  readonly name: string
  describe(): Promise<PartDescription>
  /** For each question, terms with the number of their records. */
  terms(asked: TermsAsked): Promise<Answer<readonly (readonly PartTerm[])[]>>
  /** The best records of this index. */
  collect(asked: CollectAsked): Promise<Answer<PartCollected>>
  /** What hits show. */
  hits(asked: HitsAsked): Promise<Answer<PartHits>>
  /** The words of a document; null if this index does not have it. */
  words(asked: DocumentAsked): Promise<Answer<readonly CountedWord[] | null>>
  /** Null if this index does not have it. */
  document(asked: DocumentAsked): Promise<Answer<StoredDocument | null>>
}

/** `changed`: the index is not the one that was asked about any more. */
export type Answer<Value> = { readonly value: Value } | 'changed'

export interface PartDescription {
  readonly version: string
  readonly settings: Settings
  readonly languages: readonly string[]
  readonly records: number
  /** By text field. */
  readonly lengthSums: readonly number[]
  readonly stats: IndexStats
}

interface Asked {
  readonly version: string
}

/** `exact`: the term itself. `prefix`: terms with this beginning. `near`: terms that differ by a few letters. */
export interface Lookup {
  readonly kind: 'exact' | 'prefix' | 'near'
  readonly term: string
}

export interface TermsAsked extends Asked {
  readonly lookups: readonly Lookup[]
}

/** A term, what it counts, and the records that have it. */
export type PartTerm = readonly [term: string, weight: number, count: number]

/** A reading of a group of the plan. */
export interface PlannedReading {
  readonly words: readonly QueryWord[]
  readonly slots: readonly (readonly PartTerm[])[]
  readonly weight: number
}

export interface PlannedGroup {
  readonly clause: Clause
  readonly readings: readonly PlannedReading[]
  readonly field: number
  readonly count: number
}

/** The plan of a search, with counts of all indexes. */
export interface PlannedSearch {
  readonly required: readonly PlannedGroup[]
  readonly excluded: readonly PlannedGroup[]
}

export interface CollectAsked extends Asked {
  /** For its conditions. */
  readonly query: string
  readonly options: SearchOptions
  readonly plan: PlannedSearch
  readonly records: number
  readonly lengthSums: readonly number[]
  readonly isStrict: boolean
  /** Whether the best ones are looked at more closely. */
  readonly isRanked: boolean
  readonly most: number
  readonly now: number
}

/** Where a record is, in the version that was asked about. */
export type Place = readonly [segment: number, record: number, page: number]

export interface PartCandidate extends Ranking {
  readonly place: Place
  readonly sections: number
  /** By how much a closer look changes its score. */
  readonly factor: number
  /** Of its text, as base64; empty if nobody compares. */
  readonly sketch: string
  /** Empty if nobody counts hosts. */
  readonly host: string
  /** If hits are grouped by a field: its value. */
  readonly value: string | undefined
}

export interface PartCollected {
  readonly total: number
  readonly facets: Readonly<Record<string, readonly FacetCount[]>>
  readonly candidates: readonly PartCandidate[]
  /** If hits are grouped by a field: all its values. */
  readonly groups: readonly string[] | undefined
}

export interface HitsAsked extends Asked {
  readonly plan: PlannedSearch
  readonly highlight: boolean
  readonly places: readonly Place[]
  /** Pages of which only the URL is shown. */
  readonly copies: readonly Place[]
}

export interface PartHits {
  readonly hits: readonly StoredHit[]
  readonly urls: readonly string[]
}

export interface DocumentAsked extends Asked {
  readonly id: string
}
