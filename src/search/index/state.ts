/** The segments of a writer, open, with what is deleted in them. States are values: a commit that fails changes nothing. */

import type { IdHash } from '../segment/ids.js'
import { hasBit } from '../segment/merge.js'
import type { Segment } from '../segment/segment.js'
import type { SegmentEntry } from './manifest.js'

export interface LiveSegment {
  readonly segment: Segment
  readonly deleted: Uint8Array | undefined
  readonly deletedRecords: number
  readonly deletedPages: number
}

export function entryOf({ segment, deleted, deletedRecords, deletedPages }: LiveSegment): SegmentEntry {
  const { name, records, pages, file } = segment
  return { name, size: file.size, records, pages, deletedRecords, deletedPages, deleted }
}

/** Deletes pages by their records. The set given is not changed. */
export function withoutPages(live: LiveSegment, pages: readonly number[]): LiveSegment {
  const { segment } = live
  const { firstRecords } = segment
  const deleted = live.deleted?.slice() ?? new Uint8Array((segment.records + 7) >>> 3)
  let { deletedRecords, deletedPages } = live
  for (const page of pages) {
    const start = firstRecords[page]!
    if (hasBit(deleted, start)) continue
    const end = firstRecords[page + 1]!
    for (let record = start; record < end; record++) deleted[record >>> 3]! |= 1 << (record & 7)
    deletedRecords += end - start
    deletedPages++
  }
  return { segment, deleted, deletedRecords, deletedPages }
}

/** The segments without the pages of these ids. */
export function withoutIds(segments: readonly LiveSegment[], hashes: readonly IdHash[]): LiveSegment[] {
  return segments.map((live) => {
    const pages: number[] = []
    for (const hash of hashes) {
      const page = live.segment.ids.find(hash)
      if (page >= 0 && !hasBit(live.deleted, live.segment.firstRecords[page]!)) pages.push(page)
    }
    return pages.length === 0 ? live : withoutPages(live, pages)
  })
}

/**
 * What was deleted in the sources of a merge while it ran, in the merged segment.
 *
 * @param before The sources as they were merged.
 * @param now The same segments as they are now.
 */
export function carryDeletions(
  merged: Segment,
  before: readonly LiveSegment[],
  now: readonly LiveSegment[],
): LiveSegment {
  const pages: number[] = []
  let mergedPage = 0
  for (const [index, { segment, deleted }] of before.entries()) {
    const { firstRecords } = segment
    for (let page = 0; page < segment.pages; page++) {
      const record = firstRecords[page]!
      if (hasBit(deleted, record)) continue
      if (hasBit(now[index]!.deleted, record)) pages.push(mergedPage)
      mergedPage++
    }
  }
  const whole: LiveSegment = { segment: merged, deleted: undefined, deletedRecords: 0, deletedPages: 0 }
  return pages.length === 0 ? whole : withoutPages(whole, pages)
}
