/**
 * Where a term occurs. For each record: its distance from the one before, how often each field has the term, and the
 * positions. Records of a merged segment follow each other, so merging copies all bytes but the first distance.
 *
 *     distance, fields, [bytes of positions,] positions
 *
 * `fields` is `times << 1` if only the body has the term, otherwise `mask << 1 | 1` and then the times in each field of the
 * mask. One position stands alone; several have their bytes counted before them, so that a reader can skip them.
 */

import { type ByteWriter, varintBytes } from './bytes.js'

/** The built-in text fields by number, in the order in which a record has them. Own fields follow. */
export const TITLE = 0
export const HEADINGS = 1
export const BODY = 2
export const PATH = 3
export const BUILT_IN_FIELDS = ['title', 'headings', 'body', 'path'] as const
/** Positions have 28 bits, fields 4. */
export const MOST_FIELDS = 16
export const POSITION_BITS = 28
export const MOST_POSITIONS = 2 ** POSITION_BITS - 1
const POSITION_MASK = MOST_POSITIONS

/**
 * Writes the postings of one term. `places` are a record and `field << 28 | position` in turn, ascending.
 *
 * @returns how many records have the term.
 */
export function writePostings(into: ByteWriter, places: Uint32Array, start: number, end: number): number {
  let count = 0
  let last = 0
  for (let at = start; at < end; ) {
    const record = places[at]!
    let next = at + 2
    while (next < end && places[next] === record) next += 2
    into.varint(record - last)
    last = record
    count++
    writeFields(into, places, at + 1, next)
    if (next - at === 2) into.varint(places[at + 1]! & POSITION_MASK)
    else writePositions(into, places, at + 1, next)
    at = next
  }
  return count
}

/** `start` is that of the first occurrence. */
function writeFields(into: ByteWriter, places: Uint32Array, start: number, end: number): void {
  const first = places[start]! >>> POSITION_BITS
  const last = places[end - 1]! >>> POSITION_BITS
  if (first === BODY && last === BODY) {
    into.varint(end - start + 1)
    return
  }
  let mask = 0
  for (let at = start; at < end; at += 2) mask |= 1 << (places[at]! >>> POSITION_BITS)
  into.varint(mask * 2 + 1)
  for (let at = start; at < end; ) {
    const field = places[at]! >>> POSITION_BITS
    let next = at + 2
    while (next < end && places[next]! >>> POSITION_BITS === field) next += 2
    into.varint((next - at) / 2)
    at = next
  }
}

function writePositions(into: ByteWriter, places: Uint32Array, start: number, end: number): void {
  let bytes = 0
  let before = -1
  for (let at = start; at < end; at += 2) {
    const occurrence = places[at]!
    bytes += varintBytes(distance(occurrence, before))
    before = occurrence
  }
  into.varint(bytes)
  before = -1
  for (let at = start; at < end; at += 2) {
    const occurrence = places[at]!
    into.varint(distance(occurrence, before))
    before = occurrence
  }
}

/** From the position before in the same field, or from the beginning. `before` is -1 for the first occurrence. */
function distance(occurrence: number, before: number): number {
  return occurrence >>> POSITION_BITS === before >>> POSITION_BITS && before >= 0
    ? occurrence - before
    : occurrence & POSITION_MASK
}

/** Reads the postings of one term. */
export class PostingCursor {
  readonly bytes: Uint8Array
  #at = 0
  record = 0
  /** Fields that have the term, as bits. */
  mask = 0
  /** How often each field has it; only those of `mask` are valid. */
  readonly times = new Uint32Array(MOST_FIELDS)
  /** Occurrences in all fields. */
  total = 0
  /** Where the positions begin and end. */
  #positions = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** The byte after the current record. */
  get at(): number {
    return this.#at
  }

  next(): boolean {
    const { bytes } = this
    let at = this.#at
    if (at >= bytes.length) return false
    let byte = bytes[at++]!
    let value = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++]!
      value |= (byte & 127) << shift
    }
    this.record += value >>> 0
    byte = bytes[at++]!
    value = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++]!
      value |= (byte & 127) << shift
    }
    let total: number
    if ((value & 1) === 0) {
      total = value >>> 1
      this.mask = 1 << BODY
      this.times[BODY] = total
    } else {
      this.mask = value >>> 1
      total = 0
      for (let mask = this.mask, field = 0; mask !== 0; mask >>>= 1, field++) {
        if ((mask & 1) === 0) continue
        byte = bytes[at++]!
        let times = byte & 127
        for (let shift = 7; byte > 127; shift += 7) {
          byte = bytes[at++]!
          times |= (byte & 127) << shift
        }
        this.times[field] = times
        total += times
      }
    }
    this.total = total
    if (total === 1) {
      this.#positions = at
      while (bytes[at++]! > 127);
    } else {
      byte = bytes[at++]!
      value = byte & 127
      for (let shift = 7; byte > 127; shift += 7) {
        byte = bytes[at++]!
        value |= (byte & 127) << shift
      }
      this.#positions = at
      at += value
    }
    this.#at = at
    return true
  }

  /** The occurrences in the current record, as `writePostings` takes them. */
  occurrences(into: Uint32Array): number {
    const { bytes } = this
    let at = this.#positions
    let count = 0
    for (let mask = this.mask, field = 0; mask !== 0; mask >>>= 1, field++) {
      if ((mask & 1) === 0) continue
      let position = 0
      for (let left = this.times[field]!; left > 0; left--) {
        let byte = bytes[at++]!
        let value = byte & 127
        for (let shift = 7; byte > 127; shift += 7) {
          byte = bytes[at++]!
          value |= (byte & 127) << shift
        }
        position += value
        if (count < into.length) into[count++] = ((field << POSITION_BITS) | position) >>> 0
      }
    }
    return count
  }
}

/** Copies postings, from `start` to `end`, to the end of those of another segment, whose records come before. */
export function copyPostings(
  into: ByteWriter,
  bytes: Uint8Array,
  start: number,
  end: number,
  base: number,
  last: number,
): void {
  let at = start
  let first = 0
  let factor = 1
  let byte: number
  do {
    byte = bytes[at++]!
    first += (byte & 127) * factor
    factor *= 128
  } while (byte > 127)
  into.varint(base + first - last)
  into.appendPart(bytes, at, end)
}

/**
 * Copies the postings of records that are kept.
 *
 * @param kept The new number of each record, plus one; 0 if it is dropped.
 * @returns how many were kept, and the last of them.
 */
export function filterPostings(
  into: ByteWriter,
  bytes: Uint8Array,
  kept: Uint32Array,
  last: number,
): { readonly count: number; readonly last: number } {
  const cursor = new PostingCursor(bytes)
  let count = 0
  let start = 0
  while (cursor.next()) {
    const number = kept[cursor.record]!
    if (number > 0) {
      into.varint(number - 1 - last)
      last = number - 1
      count++
      let at = start
      while (bytes[at++]! > 127);
      into.appendPart(bytes, at, cursor.at)
    }
    start = cursor.at
  }
  return { count, last }
}
