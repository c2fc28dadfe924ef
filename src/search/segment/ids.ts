/**
 * Which page of a segment has an id: a hash table in the file, read a few slots at a time. It makes the writer's map of
 * all ids part of the segments: it is as durable as they are, and takes no memory.
 */

import { createHash } from 'node:crypto'
import type { CheckedFile, CheckedWriter, Place } from './checked-file.js'

/** Twelve bytes of the hash, and the page + 1. */
const SLOT = 16
/** Slots to read at once. */
const PROBE = 8
/** Tables of small segments are kept in memory: there are many of those, and all are asked about each document. */
const KEPT_BYTES = 2 ** 17

/** Ninety-six bits of SHA-256: nobody can make two ids that look alike. */
export type IdHash = Uint32Array

export function hashId(id: string): IdHash {
  const digest = createHash('sha256').update(id).digest()
  return Uint32Array.of(digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8))
}

/** Writes the table. `hashes` has three words for each page; pages that were dropped have none. */
export function writeIds(
  file: CheckedWriter,
  hashes: Uint32Array,
  isDropped?: (page: number) => boolean,
): Place {
  const pages = hashes.length / 3
  let slots = 8
  while (slots < pages * 1.5) slots *= 2
  const table = new Uint32Array(slots * 4)
  for (let page = 0; page < pages; page++) {
    if (isDropped?.(page)) continue
    let slot = hashes[page * 3]! & (slots - 1)
    while (table[slot * 4 + 3] !== 0) slot = (slot + 1) & (slots - 1)
    table.set(hashes.subarray(page * 3, page * 3 + 3), slot * 4)
    table[slot * 4 + 3] = page + 1
  }
  return file.part(new Uint8Array(table.buffer))
}

/** The table of a segment. */
export class Ids {
  readonly #file: CheckedFile
  readonly #place: Place
  readonly #slots: number
  readonly #kept: Buffer | undefined

  constructor(file: CheckedFile, place: Place) {
    this.#file = file
    this.#place = place
    this.#slots = place[1] / SLOT
    this.#kept = place[1] <= KEPT_BYTES ? asBuffer(file.read(place)) : undefined
  }

  /** The page with this id; -1 if there is none. */
  find(hash: IdHash): number {
    const mask = this.#slots - 1
    let slot = hash[0]! & mask
    for (;;) {
      const count = this.#kept === undefined ? Math.min(PROBE, this.#slots - slot) : this.#slots - slot
      const start = this.#kept === undefined ? 0 : slot * SLOT
      const bytes = this.#kept ?? asBuffer(this.#file.read([this.#place[0] + slot * SLOT, count * SLOT]))
      for (let at = start; at < start + count * SLOT; at += SLOT) {
        const page = bytes.readUInt32LE(at + 12)
        if (page === 0) return -1
        const isEqual =
          bytes.readUInt32LE(at) === hash[0] &&
          bytes.readUInt32LE(at + 4) === hash[1] &&
          bytes.readUInt32LE(at + 8) === hash[2]
        if (isEqual) return page - 1
      }
      slot = (slot + count) & mask
    }
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
