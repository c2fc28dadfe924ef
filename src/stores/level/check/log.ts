/**
 * Reads a log of LevelDB: recent writes (`*.log`), or the list of tables (`MANIFEST-*`). A log consists of blocks of 32
 * KiB that contain records one after the other, split at the end of a block. Each fragment has a checksum.
 *
 * LevelDB silently skips what it cannot read in a log, so missing records have to be detected here.
 */

import { uint32 } from './bytes.js'
import { crc32c, masked } from './crc32c.js'

const BLOCK_BYTES = 32_768
/** Before each fragment: its checksum, its length in two bytes, and its kind. */
const HEADER_BYTES = 7
/** A complete record; a fragment between the first (which is 2) and the last; the last fragment. */
const WHOLE = 1
const MIDDLE = 3
const LAST = 4

/** An unreadable place that is followed by readable records. */
export interface Hole {
  readonly at: number
  /** Index of the first record after it. */
  readonly record: number
}

export interface LogContent {
  /** All readable records, in order. */
  readonly records: readonly Uint8Array[]
  readonly holes: readonly Hole[]
  /** `cut`: ends within a record, as when its writer was killed. `unreadable`: its last bytes are wrong. */
  readonly end: 'whole' | 'cut' | 'unreadable'
}

interface Piece {
  readonly from: number
  readonly kind: number
  readonly content: Uint8Array
  readonly end: number
}

/** Reads a whole log. Never throws. */
export function readLog(file: Uint8Array): LogContent {
  const records: Uint8Array[] = []
  const holes: Hole[] = []
  let pieces: Uint8Array[] = []
  let bad: number | undefined
  let at = 0
  const lose = (from: number) => {
    bad ??= from
    pieces = []
  }
  for (;;) {
    const piece = pieceAt(file, at)
    if (piece === undefined) {
      const next = nextPiece(file, at)
      if (next === undefined) break
      // More was unreadable than the end of a block that is too short for a fragment.
      if (!isPadding(at, next)) lose(at)
      at = next
      continue
    }
    const { kind, content } = piece
    const continues = kind === MIDDLE || kind === LAST
    if (continues !== pieces.length > 0) lose(piece.from)
    if (!continues || pieces.length > 0) pieces.push(content)
    at = piece.end
    if (kind !== WHOLE && (kind !== LAST || pieces.length === 0)) continue
    if (bad !== undefined) holes.push({ at: bad, record: records.length })
    bad = undefined
    records.push(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
    pieces = []
  }
  const rest = isPadding(at, file.length) ? 'whole' : restOf(file, at)
  const end = bad !== undefined ? 'unreadable' : rest === 'whole' && pieces.length > 0 ? 'cut' : rest
  return { records, holes, end }
}

/** The fragment at this offset, if it is readable. */
function pieceAt(file: Uint8Array, from: number): Piece | undefined {
  const start = from + HEADER_BYTES
  if (start > blockEnd(file, from)) return undefined
  const kind = file[from + 6]!
  const end = start + (file[from + 4]! | (file[from + 5]! << 8))
  if (kind < WHOLE || kind > LAST || end > blockEnd(file, from)) return undefined
  if (masked(crc32c(file, from + 6, end)) !== uint32(file, from)) return undefined
  return { from, kind, content: file.subarray(start, end), end }
}

/** The offset of the next readable fragment. */
function nextPiece(file: Uint8Array, after: number): number | undefined {
  for (let at = after + 1; at < file.length; at++) if (pieceAt(file, at) !== undefined) return at
  return undefined
}

function blockEnd(file: Uint8Array, at: number): number {
  return Math.min(file.length, at - (at % BLOCK_BYTES) + BLOCK_BYTES)
}

/** Whether these bytes are padding, because no fragment fits before the end of the block. */
function isPadding(from: number, to: number): boolean {
  return from === to || (to % BLOCK_BYTES === 0 && to - from < HEADER_BYTES)
}

/** What follows the last readable fragment. A writer that is killed leaves the beginning of a fragment. */
function restOf(file: Uint8Array, from: number): 'cut' | 'unreadable' {
  // Where the next fragment would have started.
  const at = isPadding(from, blockEnd(file, from)) ? blockEnd(file, from) : from
  const start = at + HEADER_BYTES
  if (start > file.length) return 'cut'
  const kind = file[at + 6]!
  const end = start + (file[at + 4]! | (file[at + 5]! << 8))
  const isCut = kind >= WHOLE && kind <= LAST && end > file.length && file.length % BLOCK_BYTES !== 0
  // The fragment is complete, and only its length is wrong.
  const isWhole = masked(crc32c(file, at + 6, file.length)) === uint32(file, at)
  return isCut && !isWhole ? 'cut' : 'unreadable'
}
