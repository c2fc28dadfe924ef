/** What a segment's file says about itself, and what every part of it is called. */

import type { Place } from './checked-file.js'
import type { KeywordPlaces } from './columns.js'

/** The fields of an index: which values a page may have and where they go. */
export interface Schema {
  /** Built-in and own text fields by number. */
  readonly text: readonly string[]
  /** `host`, `language` and own fields. */
  readonly keywords: readonly string[]
  /** `date` and own number and date fields. */
  readonly numbers: readonly string[]
  /** Which of `numbers` are dates. */
  readonly dates: readonly string[]
}

/** The description at the end of a segment. */
export interface SegmentDescription {
  readonly format: number
  readonly records: number
  readonly pages: number
  readonly terms: number
  /** Sum of the lengths of all records, by text field. */
  readonly lengthSums: readonly number[]
  readonly postings: Place
  readonly dictionary: { readonly blocks: Place; readonly index: Place }
  readonly stored: { readonly blocks: Place; readonly index: Place }
  /** One byte for each record, by text field. */
  readonly lengths: readonly Place[]
  /** The first record of each page, and the number of records. */
  readonly firstRecords: Place
  /** Three words for each page. */
  readonly hashes: Place
  readonly ids: Place
  /** Sketches of pages for near-duplicates. */
  readonly sketches: Place
  readonly keywords: Readonly<Record<string, KeywordPlaces>>
  readonly numbers: Readonly<Record<string, Place>>
}

/** Changes when files written before cannot be read any more. */
export const SEGMENT_FORMAT = 1
