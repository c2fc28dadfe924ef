/**
 * Reads a table of LevelDB (`*.ldb`, formerly `*.sst`): blocks of sorted entries, an index of them, a filter, and a
 * footer that locates index and filter. Each block has a checksum, which LevelDB itself does not verify.
 */

import { ByteReader, uint32 } from './bytes.js'
import { crc32c, masked } from './crc32c.js'
import { unsnappy } from './snappy.js'

const FOOTER_BYTES = 48
const MAGIC_LOW = 0x8b80fb57
const MAGIC_HIGH = 0xdb477524
/** After each block: its compression, and its checksum. */
const PACKING_BYTES = 1
const CHECKSUM_BYTES = 4
const PLAIN = 0
const SNAPPY = 1
/** After each key: its sequence number, and whether it was put or deleted. */
const STAMP_BYTES = 8

/** The location of a block. */
export interface BlockPlace {
  readonly from: number
  readonly length: number
}

/** An unreadable block, and the keys between which its entries were. Absent: from the first key, to the last. */
export interface LostBlock {
  readonly what: string
  readonly after?: Uint8Array | undefined
  readonly upTo?: Uint8Array | undefined
}

/** What is readable in a table. */
export interface TableContent {
  /** What is wrong with it. */
  readonly faults: readonly string[]
  readonly lost: readonly LostBlock[]
  readonly blocks: readonly BlockPlace[]
}

/** A value that was put under a key, or a deletion. */
export interface Entry {
  readonly key: Uint8Array
  /** Greater for later writes. */
  readonly sequence: number
  /** Undefined: deleted. */
  readonly value: Uint8Array | undefined
}

/** Checks a whole table. Never throws. */
export function readTable(file: Uint8Array): TableContent {
  const faults: string[] = []
  const lost: LostBlock[] = []
  const blocks: BlockPlace[] = []
  let index: { upTo: Uint8Array; place: BlockPlace }[]
  let meta: BlockPlace
  try {
    const footer = readFooter(file)
    meta = footer.meta
    // An index key is no less than any key in its block, and less than all in the next.
    index = Array.from(entriesIn(unpack(file, footer.index)), ([key, place]) => ({
      upTo: userKey(key),
      place: placeIn(new ByteReader(place)),
    }))
  } catch (error) {
    const what = `its index cannot be read: ${(error as Error).message}`
    return { faults: [what], lost: [{ what }], blocks }
  }
  let after: Uint8Array | undefined
  for (const { upTo, place } of index) {
    try {
      check(file, place)
      blocks.push(place)
    } catch (error) {
      const what = (error as Error).message
      faults.push(what)
      lost.push({ what, after, upTo })
    }
    after = upTo
  }
  // A wrong filter hides existing entries.
  try {
    for (const [, place] of entriesIn(unpack(file, meta))) check(file, placeIn(new ByteReader(place)))
  } catch (error) {
    faults.push(`its filter cannot be read: ${(error as Error).message}`)
  }
  return { faults, lost, blocks }
}

/** The entries of a block, by key, the latest of a key first. Throws if they are invalid. */
export function* entriesOf(file: Uint8Array, place: BlockPlace): Generator<Entry> {
  for (const [stamped, value] of entriesIn(unpack(file, place))) {
    const key = userKey(stamped)
    const low = uint32(stamped, key.length)
    const sequence = (low >>> 8) + uint32(stamped, key.length + 4) * 2 ** 24
    yield { key, sequence, value: isPut(low & 255) ? value : undefined }
  }
}

/** Whether an entry with this mark was put; throws if it was not deleted either. */
export function isPut(mark: number): boolean {
  if (mark > 1) throw new Error('an entry is neither put nor deleted')
  return mark === 1
}

function readFooter(file: Uint8Array): { meta: BlockPlace; index: BlockPlace } {
  if (file.length < FOOTER_BYTES) throw new Error('the file is too short')
  const from = file.length - FOOTER_BYTES
  const magic = file.length - 8
  if (uint32(file, magic) !== MAGIC_LOW || uint32(file, magic + 4) !== MAGIC_HIGH)
    throw new Error('the file does not end like a table')
  const reader = new ByteReader(file, from, magic)
  return { meta: placeIn(reader), index: placeIn(reader) }
}

function placeIn(reader: ByteReader): BlockPlace {
  return { from: reader.varint(), length: reader.varint() }
}

function check(file: Uint8Array, { from, length }: BlockPlace): void {
  const end = from + length + PACKING_BYTES
  if (end + CHECKSUM_BYTES > file.length - FOOTER_BYTES) throw new Error(`there cannot be a block at ${from}`)
  if (masked(crc32c(file, from, end)) !== uint32(file, end))
    throw new Error(`the block at ${from} does not match its checksum`)
}

function unpack(file: Uint8Array, place: BlockPlace): Uint8Array {
  check(file, place)
  const { from, length } = place
  const content = file.subarray(from, from + length)
  const packing = file[from + length]
  if (packing === PLAIN) return content
  if (packing === SNAPPY) return unsnappy(content)
  throw new Error(`the block at ${from} uses an unknown compression`)
}

/**
 * The entries of a block. A key omits the prefix that it shares with the previous one. A list of keys that omit nothing
 * follows, for searching.
 */
function* entriesIn(block: Uint8Array): Generator<[key: Uint8Array, value: Uint8Array]> {
  if (block.length < 4) throw new Error('a block is too short')
  const restarts = uint32(block, block.length - 4)
  const reader = new ByteReader(block, 0, block.length - 4 - 4 * restarts)
  let key = new Uint8Array(0)
  while (!reader.isAtEnd) {
    const shared = reader.varint()
    const fresh = reader.varint()
    const length = reader.varint()
    if (shared > key.length) throw new Error('a key shares a prefix that does not exist')
    const next = new Uint8Array(shared + fresh)
    next.set(key.subarray(0, shared))
    next.set(reader.piece(fresh), shared)
    key = next
    yield [key, reader.piece(length)]
  }
}

/** A LevelDB key without the stamp at its end. */
export function userKey(stamped: Uint8Array): Uint8Array {
  if (stamped.length < STAMP_BYTES) throw new Error('a key is too short')
  return stamped.subarray(0, stamped.length - STAMP_BYTES)
}
