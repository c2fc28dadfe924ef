/**
 * Reads everything readable in a damaged database: for every key its latest value. A damaged block does not affect the
 * rest of its table.
 */

import { join } from 'node:path'
import { ByteReader } from './bytes.js'
import { type Examination, logIn, type TableFile, tableIn } from './examine.js'
import { type BlockPlace, type Entry, entriesOf, isPut, readTable } from './table.js'

/** Entries returned at a time. */
const CHUNK = 1000
/**
 * Before the changes of a commit: the sequence number of the first, and their number. LevelDB skips shorter records.
 */
const COMMIT_HEADER_BYTES = 12

/** What could not be read. */
export interface Losses {
  /** Tables that are missing or not completely readable. */
  tables: number
  /** Unreadable changes in logs. */
  changes: number
  /** Entries that exist, but that a lost change may have updated or removed. */
  doubtful: number
}

/** A range of keys in which something is lost, both ends included. Absent: from the first key, to the last. */
interface LostRange {
  readonly from?: Uint8Array | undefined
  readonly to?: Uint8Array | undefined
}

/**
 * Yields each entry once, in key order, in chunks, and adds what it could not read to `losses`. Doubtful entries are
 * counted only if `matters` returns true for their key.
 */
export async function* salvage(
  folder: string,
  { tables, missing, logs }: Examination,
  losses: Losses,
  matters: (key: Uint8Array) => boolean,
): AsyncGenerator<Entry[]> {
  const ranges: LostRange[] = missing.map(({ smallest, largest }) => ({ from: smallest, to: largest }))
  losses.tables += missing.length
  const log = await readLogs(folder, logs)
  const sources: Source[] = [new LogSource(log.entries.sort(inOrder))]
  for (const table of tables) sources.push(await TableSource.of(folder, table, ranges, losses))
  let batch: Entry[] = []
  let last: Uint8Array | undefined
  for await (const entry of merge(sources)) {
    if (last !== undefined && Buffer.compare(last, entry.key) === 0) continue
    last = entry.key
    if (entry.value === undefined) continue
    if (matters(entry.key) && ranges.some((range) => isIn(range, entry.key))) losses.doubtful++
    batch.push(entry)
    if (batch.length < CHUNK) continue
    yield batch
    batch = []
  }
  yield batch
  losses.changes += log.lost
  if (!log.lacksStart) return
  // The tables hold everything written before the log starts.
  const before = sources.reduce((most, source) => Math.max(most, source.sequence), 0)
  losses.changes += Math.max(0, log.from - 1 - before)
}

/** By key; for the same key, the latest change first. */
function inOrder(a: Entry, b: Entry): number {
  return Buffer.compare(a.key, b.key) || b.sequence - a.sequence
}

function isIn({ from, to }: LostRange, key: Uint8Array): boolean {
  return (
    (from === undefined || Buffer.compare(key, from) >= 0) &&
    (to === undefined || Buffer.compare(key, to) <= 0)
  )
}

/** Sorted entries, read on demand. */
interface Source {
  /** The next entry; before `open`, one that does not sort after it. */
  head: Entry | undefined
  /** The largest sequence number read from a table. */
  readonly sequence: number
  open(): Promise<void>
  /** Moves on to the next entry. */
  advance(): void
}

/** Few sources overlap, so few are open at a time. */
async function* merge(sources: readonly Source[]): AsyncGenerator<Entry> {
  const waiting = sources
    .filter(({ head }) => head !== undefined)
    .sort((a, b) => inOrder(a.head!, b.head!))
    .reverse()
  const open = new Set<Source>()
  for (;;) {
    let first: Source | undefined
    for (const source of open)
      if (first === undefined || inOrder(source.head!, first.head!) < 0) first = source
    const next = waiting.at(-1)
    if (next !== undefined && (first === undefined || inOrder(next.head!, first.head!) <= 0)) {
      waiting.pop()
      await next.open()
      if (next.head !== undefined) open.add(next)
      continue
    }
    if (first === undefined) return
    yield first.head!
    first.advance()
    if (first.head === undefined) open.delete(first)
  }
}

class LogSource implements Source {
  readonly #entries: readonly Entry[]
  #at = 0
  readonly sequence = 0

  constructor(entries: readonly Entry[]) {
    this.#entries = entries
  }

  get head(): Entry | undefined {
    return this.#entries[this.#at]
  }

  async open(): Promise<void> {}

  advance(): void {
    this.#at++
  }
}

class TableSource implements Source {
  readonly #folder: string
  readonly #table: TableFile
  readonly #invalid: () => void
  #entries: Iterator<Entry> | undefined
  head: Entry | undefined
  sequence = 0

  /** Adds what is lost in the table to `ranges` and `losses`. */
  static async of(folder: string, table: TableFile, ranges: LostRange[], losses: Losses): Promise<Source> {
    const file = await tableIn(folder, table)
    const { lost, blocks } = readTable(file)
    const { smallest, largest } = table.listed ?? {}
    for (const { after, upTo } of lost) ranges.push({ from: after ?? smallest, to: upTo ?? largest })
    if (lost.length > 0) losses.tables++
    const nonsense = () => {
      if (lost.length === 0) losses.tables++
      ranges.push({ from: smallest, to: largest })
    }
    return new TableSource(folder, table, nonsense, file, blocks)
  }

  private constructor(
    folder: string,
    table: TableFile,
    nonsense: () => void,
    file: Uint8Array,
    blocks: readonly BlockPlace[],
  ) {
    this.#folder = folder
    this.#table = table
    this.#invalid = nonsense
    this.#read(file, blocks)
    // Until it is needed, only the first key of the file is kept in memory.
    this.#entries = undefined
    if (this.head !== undefined) this.head = { ...this.head, key: this.head.key.slice(), value: undefined }
  }

  async open(): Promise<void> {
    const file = await tableIn(this.#folder, this.#table)
    this.#read(file, readTable(file).blocks)
  }

  advance(): void {
    try {
      const { done, value } = this.#entries!.next()
      this.head = done ? undefined : value
    } catch {
      // Its checksum is correct, so it was already wrong when it was written.
      this.#invalid()
      this.head = undefined
    }
    this.sequence = Math.max(this.sequence, this.head?.sequence ?? 0)
  }

  #read(file: Uint8Array, blocks: readonly BlockPlace[]): void {
    this.#entries = entriesOfAll(file, blocks)
    this.advance()
  }
}

function* entriesOfAll(file: Uint8Array, blocks: readonly BlockPlace[]): Generator<Entry> {
  for (const block of blocks) yield* entriesOf(file, block)
}

interface LogEntries {
  readonly entries: Entry[]
  /** Sequence number of the first entry. */
  readonly from: number
  /** Changes missing between others, known from gaps in the sequence numbers. */
  readonly lost: number
  readonly lacksStart: boolean
}

async function readLogs(folder: string, logs: readonly string[]): Promise<LogEntries> {
  const entries: Entry[] = []
  let [from, next, lost, lacksStart] = [0, 0, 0, false]
  for (const name of logs) {
    const { records, holes } = await logIn(join(folder, name))
    if (next === 0 && holes[0]?.record === 0) lacksStart = true
    for (const record of records) {
      if (record.length < COMMIT_HEADER_BYTES) continue
      const reader = new ByteReader(record)
      let sequence = reader.fixed64()
      const end = sequence + reader.fixed32()
      if (next === 0) from = sequence
      else lost += Math.max(0, sequence - next)
      next = Math.max(next, end)
      try {
        for (; sequence < end; sequence++) entries.push(changeIn(reader, sequence))
      } catch {
        lost += end - sequence
      }
    }
  }
  return { entries, from, lost, lacksStart }
}

/** A change as written to a log by a commit. */
function changeIn(reader: ByteReader, sequence: number): Entry {
  const isValue = isPut(reader.byte())
  const key = reader.piece(reader.varint())
  return { key, sequence, value: isValue ? reader.piece(reader.varint()) : undefined }
}
