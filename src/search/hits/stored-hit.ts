/** What a hit shows, read from its segment. */

import type { SearchHit, StoredDocument } from '../contract.js'
import type { Segment } from '../segment/segment.js'
import type { Analyzers } from '../words/analyzer.js'
import type { Highlighter } from './snippet.js'

/** A hit without what is only known where hits are put in order. */
export type StoredHit = Omit<SearchHit, 'score' | 'sections' | 'duplicates'>

export function storedHit(
  segment: Segment,
  page: number,
  record: number,
  highlighter: Highlighter | undefined,
  analyzers: Analyzers,
): StoredHit {
  const { id, url, title, language, date, fields = {} } = segment.stored.page(segment.pageItem(page))
  const { anchor, heading, path, text } = segment.stored.record(segment.recordItem(record))
  return {
    id,
    url,
    anchor: anchor === '' ? undefined : anchor,
    title,
    headings: heading === '' ? path : [...path, heading],
    language,
    date,
    snippet: highlighter?.snippet(text, analyzers.of(language)),
    fields,
  }
}

export function urlOf(segment: Segment, page: number): string {
  return segment.stored.page(segment.pageItem(page)).url
}

export function storedDocument(segment: Segment, page: number): StoredDocument {
  const { id, url, title, language, date, fields = {} } = segment.stored.page(segment.pageItem(page))
  const first = segment.firstRecords[page]!
  const count = segment.firstRecords[page + 1]! - first
  const sections = Array.from({ length: count }, (_, index) => {
    const { anchor, ...rest } = segment.stored.record(segment.recordItem(first + index))
    return { ...rest, anchor: anchor === '' ? undefined : anchor }
  })
  return { id, url, title, language, date, sections, fields }
}
