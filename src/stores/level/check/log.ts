/**
 * Reads a log of LevelDB: what was written lately (`*.log`), or the list of tables (`MANIFEST-*`). A log is made of blocks
 * of 32 KiB, in which records lie one after the other, cut where a block ends. Each piece has a checksum.
 *
 * LevelDB passes over what it cannot read in a log, and reads on. So what is missing must be found out here.
 */

import { uint32 } from './bytes.js'
import { crc32c, masked } from './crc32c.js'

const BLOCK_BYTES = 32_768
/** Before each piece: its checksum, its length in two bytes, and which piece it is. */
const HEADER_BYTES = 7
/** All of a record; between its first piece, which is 2, and its last; its last. */
const WHOLE = 1
const MIDDLE = 3
const LAST = 4

/** A place that cannot be read, followed by records that can. */
export interface Hole {
  readonly at: number
  /** The first record behind it. */
  readonly record: number
}

export interface LogContent {
  /** All records that can be read, in order. */
  readonly records: readonly Uint8Array[]
  readonly holes: readonly Hole[]
  /** `cut`: in the middle of a record, as it ends when its writer is killed. `unreadable`: its last bytes are wrong. */
  readonly end: 'whole' | 'cut' | 'unreadable'
}

interface Piece {
  readonly from: number
  readonly kind: number
  readonly content: Uint8Array
  readonly end: number
}

/** Reads all of a log. Never throws. */
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
      // What could not be read was more than the rest of a block, which is too short for a piece.
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

/** The piece that begins there, if it can be read. */
function pieceAt(file: Uint8Array, from: number): Piece | undefined {
  const start = from + HEADER_BYTES
  if (start > blockEnd(file, from)) return undefined
  const kind = file[from + 6]!
  const end = start + (file[from + 4]! | (file[from + 5]! << 8))
  if (kind < WHOLE || kind > LAST || end > blockEnd(file, from)) return undefined
  if (masked(crc32c(file, from + 6, end)) !== uint32(file, from)) return undefined
  return { from, kind, content: file.subarray(start, end), end }
}

/** Where the next piece begins that can be read. */
function nextPiece(file: Uint8Array, after: number): number | undefined {
  for (let at = after + 1; at < file.length; at++) if (pieceAt(file, at) !== undefined) return at
  return undefined
}

function blockEnd(file: Uint8Array, at: number): number {
  return Math.min(file.length, at - (at % BLOCK_BYTES) + BLOCK_BYTES)
}

/** Whether these bytes mean nothing, because no piece has room there before its block ends. */
function isPadding(from: number, to: number): boolean {
  return from === to || (to % BLOCK_BYTES === 0 && to - from < HEADER_BYTES)
}

/** How a file ends behind its last piece that can be read. A writer that is killed leaves the beginning of a piece. */
function restOf(file: Uint8Array, from: number): 'cut' | 'unreadable' {
  // Where the next piece would have begun.
  const at = isPadding(from, blockEnd(file, from)) ? blockEnd(file, from) : from
  const start = at + HEADER_BYTES
  if (start > file.length) return 'cut'
  const kind = file[at + 6]!
  const end = start + (file[at + 4]! | (file[at + 5]! << 8))
  const isCut = kind >= WHOLE && kind <= LAST && end > file.length && file.length % BLOCK_BYTES !== 0
  // All of it is there, and only its length is wrong.
  const isWhole = masked(crc32c(file, at + 6, file.length)) === uint32(file, at)
  return isCut && !isWhole ? 'cut' : 'unreadable'
}
