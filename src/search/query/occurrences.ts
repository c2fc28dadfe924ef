/** Finds where words follow each other in the records of a segment. */

import { MOST_POSITIONS, POSITION_BITS, PostingCursor } from '../segment/postings.js'
import type { Segment } from '../segment/segment.js'
import type { Reading } from './group.js'
import type { FoundTerm } from './terms.js'

/** Occurrences of a word in one record that are looked at. */
const MOST_OCCURRENCES = 4096
const scratch = new Uint32Array(MOST_OCCURRENCES)

/** Records in order, and where in each of them the reading begins, as `field << 28 | position`. */
export interface Places {
  readonly records: number[]
  readonly starts: Uint32Array[]
}

/**
 * Where a reading is in a segment.
 *
 * @param number The number of the segment, for the entries of terms.
 * @param among Only these records, in order; undefined for all.
 */
export function placesOf(
  { slots }: Reading,
  segment: Segment,
  number: number,
  field: number,
  among?: readonly number[],
): Places {
  // The rarest word first: the others are only looked for where it is.
  const order = [...slots.keys()].sort((a, b) => countIn(slots[a]!, number) - countIn(slots[b]!, number))
  let places: Places | undefined
  for (const slot of order) {
    const terms = slots[slot]!
    if (countIn(terms, number) === 0) return NOWHERE
    places =
      places === undefined
        ? firstPlaces(terms, segment, number, slot, field, among)
        : nextPlaces(places, terms, segment, number, slot)
    if (places.records.length === 0) return NOWHERE
  }
  return places ?? NOWHERE
}

const NOWHERE: Places = { records: [], starts: [] }

function countIn(terms: readonly FoundTerm[], number: number): number {
  return terms.reduce((sum, { entries }) => sum + (entries[number]?.count ?? 0), 0)
}

function firstPlaces(
  terms: readonly FoundTerm[],
  segment: Segment,
  number: number,
  slot: number,
  field: number,
  among: readonly number[] | undefined,
): Places {
  const found = new Map<number, Uint32Array>()
  const wanted = among === undefined ? undefined : new Set(among)
  for (const { entries } of terms) {
    const entry = entries[number]
    if (entry === undefined) continue
    const cursor = new PostingCursor(segment.postings(entry))
    while (cursor.next()) {
      if (wanted !== undefined && !wanted.has(cursor.record)) continue
      if (field >= 0 && (cursor.mask & (1 << field)) === 0) continue
      const count = cursor.occurrences(scratch)
      const starts: number[] = []
      for (let at = 0; at < count; at++) {
        const occurrence = scratch[at]!
        if ((occurrence & MOST_POSITIONS) < slot) continue
        if (field >= 0 && occurrence >>> POSITION_BITS !== field) continue
        starts.push(occurrence - slot)
      }
      if (starts.length === 0) continue
      const before = found.get(cursor.record)
      found.set(cursor.record, before === undefined ? Uint32Array.from(starts) : union(before, starts))
    }
  }
  const records = [...found.keys()]
  // Postings of one term are in order.
  if (terms.length > 1) records.sort((a, b) => a - b)
  return { records, starts: records.map((record) => found.get(record)!) }
}

function nextPlaces(
  { records, starts }: Places,
  terms: readonly FoundTerm[],
  segment: Segment,
  number: number,
  slot: number,
): Places {
  const kept: (Uint32Array | undefined)[] = new Array(records.length).fill(undefined)
  for (const { entries } of terms) {
    const entry = entries[number]
    if (entry === undefined) continue
    const cursor = new PostingCursor(segment.postings(entry))
    let at = 0
    while (at < records.length && cursor.next()) {
      while (at < records.length && records[at]! < cursor.record) at++
      if (records[at] !== cursor.record) continue
      const count = cursor.occurrences(scratch)
      const common = intersect(starts[at]!, count, slot)
      if (common.length === 0) continue
      const before = kept[at]
      kept[at] = before === undefined ? Uint32Array.from(common) : union(before, common)
    }
  }
  const left: Places = { records: [], starts: [] }
  for (const [at, each] of kept.entries()) {
    if (each === undefined) continue
    left.records.push(records[at]!)
    left.starts.push(each)
  }
  return left
}

/** Starts that an occurrence in `scratch` is `slot` words after. */
function intersect(starts: Uint32Array, count: number, slot: number): number[] {
  const common: number[] = []
  let at = 0
  for (const start of starts) {
    while (at < count && scratch[at]! < start + slot) at++
    if (at < count && scratch[at] === start + slot) common.push(start)
  }
  return common
}

function union(one: Uint32Array, other: readonly number[]): Uint32Array {
  return Uint32Array.from(new Set([...one, ...other])).sort()
}
