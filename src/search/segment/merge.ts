/**
 * Merges segments into one, without what was deleted. It reads and writes from start to end in small steps, gives the
 * event loop a turn between them, and copies bytes wherever nothing was deleted.
 */

import { nextTurn } from '../../time.js'
import { ByteWriter, bytesOf, NumberList } from './bytes.js'
import { CheckedWriter, type Place } from './checked-file.js'
import { KeywordColumnWriter, NumberColumnWriter } from './columns.js'
import { type BlockCursor, DictionaryWriter } from './dictionary.js'
import { writeIds } from './ids.js'
import { type Schema, SEGMENT_FORMAT, type SegmentDescription } from './layout.js'
import { LENGTHS } from './lengths.js'
import { copyPostings, filterPostings } from './postings.js'
import type { Segment } from './segment.js'
import { Stopwatch } from './stopwatch.js'
import { StoredWriter } from './stored.js'

/** Bytes to write before the event loop gets a turn: a few milliseconds of work. */
const STEP_BYTES = 2 ** 18

/** A segment to merge, and which of its records are deleted, as bits. */
export interface MergeSource {
  readonly segment: Segment
  readonly deleted: Uint8Array | undefined
}

/** Bit `number` of a set. */
export function hasBit(bits: Uint8Array | undefined, number: number): boolean {
  return bits !== undefined && (bits[number >>> 3]! & (1 << (number & 7))) !== 0
}

/** Writes the merged segment. @throws the error of the file system, `KUMO_INDEX_DAMAGED` */
export async function mergeSegments(
  path: string,
  sources: readonly MergeSource[],
  schema: Schema,
  sync: boolean,
  stopwatch = new Stopwatch(),
): Promise<void> {
  const file = new CheckedWriter(path)
  stopwatch.start()
  try {
    const description = await new Merge(file, sources, schema, stopwatch).run()
    stopwatch.pause()
    await file.finish(description, sync)
  } catch (error) {
    file.abandon()
    throw error
  }
}

/** A source with the new numbers of its records. */
interface Part extends MergeSource {
  /** New number + 1 of each record, 0 if it is deleted; undefined if none is. */
  readonly kept: Uint32Array | undefined
  /** What to add to the numbers of records if none is deleted. */
  readonly base: number
}

class Merge {
  readonly #file: CheckedWriter
  readonly #parts: Part[] = []
  readonly #schema: Schema
  readonly #stopwatch: Stopwatch
  #records = 0

  constructor(file: CheckedWriter, sources: readonly MergeSource[], schema: Schema, stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch
    this.#file = file
    this.#schema = schema
    for (const source of sources) {
      const base = this.#records
      const kept = this.#number(source)
      this.#parts.push({ ...source, kept, base })
    }
  }

  #number({ segment: { records }, deleted }: MergeSource): Uint32Array | undefined {
    if (deleted === undefined) {
      this.#records += records
      return undefined
    }
    const kept = new Uint32Array(records)
    for (let record = 0; record < records; record++)
      if (!hasBit(deleted, record)) kept[record] = ++this.#records
    return kept
  }

  async run(): Promise<SegmentDescription> {
    const stored = await this.#stored()
    const { postings, dictionary, terms } = await this.#postings()
    const { lengths, lengthSums } = this.#lengths()
    return {
      format: SEGMENT_FORMAT,
      records: this.#records,
      terms,
      lengthSums,
      postings,
      dictionary,
      stored,
      lengths,
      ...this.#pages(),
    }
  }

  /** Gives the event loop a turn. */
  async #pause(): Promise<void> {
    this.#stopwatch.pause()
    await nextTurn()
    this.#stopwatch.resume()
  }

  /** Calls back for each page that is kept. A page is kept or deleted as a whole. */
  #eachPage(take: (part: Part, page: number) => void): void {
    for (const part of this.#parts) {
      const { firstRecords, pages } = part.segment
      for (let page = 0; page < pages; page++) if (isKept(part, firstRecords[page]!)) take(part, page)
    }
  }

  async #stored(): Promise<SegmentDescription['stored']> {
    const start = this.#file.length
    const writer = new StoredWriter(this.#file)
    let written = start
    for (const part of this.#parts) {
      const { stored } = part.segment
      const isDropped = droppedItems(part)
      for (let block = 0; block < stored.blocks; block++) {
        const from = stored.firstItems[block]!
        const to = stored.firstItems[block + 1]!
        if (isDropped === undefined || !someBetween(isDropped, from, to)) {
          writer.block(stored.raw(block), to - from)
        } else {
          for (const [index, item] of stored.items(block).entries())
            if (isDropped[from + index] !== 1) writer.item(item)
        }
        if (this.#file.length - written > STEP_BYTES) {
          written = this.#file.length
          await this.#pause()
        }
      }
    }
    const index = writer.finish()
    return { blocks: [start, this.#file.length - start], index: this.#file.part(index) }
  }

  async #postings(): Promise<Pick<SegmentDescription, 'postings' | 'dictionary' | 'terms'>> {
    const file = this.#file
    const start = file.length
    const dictionary = new DictionaryWriter()
    const bytes = new ByteWriter(STEP_BYTES * 2)
    let written = 0
    const terms = new MergedTerms(this.#parts)
    while (terms.next()) {
      const before = bytes.length
      const { term } = terms
      let last = 0
      let count = 0
      for (const stream of terms.streams) {
        const { part, cursor } = stream
        stream.readPostings()
        if (part.kept === undefined) {
          copyPostings(bytes, stream.bytes, stream.start, stream.end, part.base, last)
          last = part.base + cursor.last
          count += cursor.count
        } else {
          const postings = stream.bytes.subarray(stream.start, stream.end)
          const kept = filterPostings(bytes, postings, part.kept, last)
          last = kept.last
          count += kept.count
        }
      }
      if (count > 0) dictionary.add(term, count, written + before, bytes.length - before, last)
      if (bytes.length < STEP_BYTES) continue
      file.write(bytes.view())
      written += bytes.length
      bytes.clear()
      await this.#pause()
    }
    file.write(bytes.view())
    const place: Place = [start, written + bytes.length]
    const { blocks, index } = dictionary.finish()
    return {
      postings: place,
      dictionary: { blocks: file.part(blocks), index: file.part(index) },
      terms: dictionary.count,
    }
  }

  #lengths(): Pick<SegmentDescription, 'lengths' | 'lengthSums'> {
    const lengthSums: number[] = []
    const lengths = this.#schema.text.map((_, field) => {
      const merged = new Uint8Array(this.#records)
      let at = 0
      let sum = 0
      for (const part of this.#parts) {
        const codes = part.segment.lengths[field]!
        for (let record = 0; record < codes.length; record++) {
          if (!isKept(part, record)) continue
          sum += LENGTHS[codes[record]!]!
          merged[at++] = codes[record]!
        }
      }
      lengthSums.push(sum)
      return this.#file.part(merged)
    })
    return { lengths, lengthSums }
  }

  #pages(): Pick<
    SegmentDescription,
    'pages' | 'firstRecords' | 'hashes' | 'ids' | 'sketches' | 'keywords' | 'numbers'
  > {
    const file = this.#file
    const { keywords, numbers } = this.#schema
    const firsts = new NumberList()
    const hashes = new NumberList()
    this.#eachPage((part, page) => {
      const record = part.segment.firstRecords[page]!
      firsts.push(part.kept === undefined ? part.base + record : part.kept[record]! - 1)
      for (let word = 0; word < 3; word++) hashes.push(part.segment.hashes[page * 3 + word]!)
    })
    const pages = firsts.length
    firsts.push(this.#records)
    return {
      pages,
      firstRecords: file.part(bytesOf(firsts.view())),
      hashes: file.part(bytesOf(hashes.view())),
      ids: writeIds(file, hashes.view()),
      sketches: this.#sketches(),
      keywords: Object.fromEntries(keywords.map((name) => [name, this.#keywordColumn(name)])),
      numbers: Object.fromEntries(numbers.map((name) => [name, this.#numberColumn(name)])),
    }
  }

  #sketches(): Place {
    const start = this.#file.length
    this.#eachPage(({ segment }, page) => this.#file.write(segment.sketch(page)))
    return [start, this.#file.length - start]
  }

  #keywordColumn(name: string) {
    const writer = new KeywordColumnWriter()
    this.#eachPage(({ segment }, page) => writer.add(segment.keywords(name)?.words(page) ?? []))
    return writer.write(this.#file)
  }

  #numberColumn(name: string): Place {
    const writer = new NumberColumnWriter()
    this.#eachPage(({ segment }, page) => writer.add(segment.numbers(name)?.[page]))
    return writer.write(this.#file)
  }
}

function isKept({ kept }: Part, record: number): boolean {
  return kept === undefined || kept[record]! > 0
}

/** Marks the items of deleted pages; undefined if there are none. */
function droppedItems(part: Part): Uint8Array | undefined {
  if (part.kept === undefined) return undefined
  const { segment } = part
  const { firstRecords } = segment
  const dropped = new Uint8Array(segment.records + segment.pages)
  for (let page = 0; page < segment.pages; page++) {
    if (isKept(part, firstRecords[page]!)) continue
    dropped.fill(1, firstRecords[page]! + page, firstRecords[page + 1]! + page + 1)
  }
  return dropped
}

function someBetween(marks: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (marks[at] === 1) return true
  return false
}

/** All terms in order. */
class MergedTerms {
  /** Streams that have the current term, in the order of their parts. */
  readonly streams: TermStream[] = []
  #left: TermStream[]
  term = ''

  constructor(parts: readonly Part[]) {
    this.#left = parts.map((part) => new TermStream(part)).filter((stream) => stream.next())
  }

  next(): boolean {
    let hasEnded = false
    for (const stream of this.streams) if (!stream.next()) hasEnded = true
    if (hasEnded) this.#left = this.#left.filter((stream) => !stream.isAtEnd)
    this.streams.length = 0
    for (const stream of this.#left) {
      const { term } = stream.cursor
      if (this.streams.length === 0 || term < this.term) {
        this.term = term
        this.streams.length = 0
        this.streams.push(stream)
      } else if (term === this.term) this.streams.push(stream)
    }
    return this.streams.length > 0
  }
}

/** The terms of a segment from the first to the last, with their postings read ahead. */
class TermStream {
  readonly part: Part
  #block = 0
  cursor: BlockCursor
  isAtEnd = false
  /** Postings that were read ahead, and where they begin in the segment. */
  bytes: Uint8Array = new Uint8Array(0)
  #aheadAt = 0
  /** Where those of the current term are among `bytes`. */
  start = 0
  end = 0

  constructor(part: Part) {
    this.part = part
    this.cursor = NO_TERMS
  }

  next(): boolean {
    const { dictionary } = this.part.segment
    while (!this.cursor.next()) {
      if (this.#block >= dictionary.firsts.length) {
        this.isAtEnd = true
        return false
      }
      this.cursor = dictionary.block(this.#block++)
    }
    return true
  }

  /** Reads the postings of the current term. */
  readPostings(): void {
    const { offset, length } = this.cursor
    if (offset < this.#aheadAt || offset + length > this.#aheadAt + this.bytes.length) {
      const { segment } = this.part
      const [start, total] = segment.description.postings
      this.bytes = segment.file.read([start + offset, Math.min(Math.max(length, READ_AHEAD), total - offset)])
      this.#aheadAt = offset
    }
    this.start = offset - this.#aheadAt
    this.end = this.start + length
  }
}

const READ_AHEAD = 2 ** 16
/** A block that has ended. */
const NO_TERMS = {
  next: () => false,
} as unknown as BlockCursor
