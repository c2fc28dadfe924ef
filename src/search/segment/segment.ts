/** An immutable segment on disk. Parts are read when they are first needed; what is small is then kept. */

import { basename } from 'node:path'
import { CheckedFile, tooNew } from './checked-file.js'
import { KeywordColumn, readDoubles, readNumbers } from './columns.js'
import { Dictionary, type TermEntry } from './dictionary.js'
import { Ids } from './ids.js'
import { SEGMENT_FORMAT, type SegmentDescription } from './layout.js'
import { SKETCH_BYTES } from './sketch.js'
import { Stored } from './stored.js'

export class Segment {
  readonly name: string
  readonly file: CheckedFile
  readonly description: SegmentDescription
  #dictionary: Dictionary | undefined
  #stored: Stored | undefined
  #ids: Ids | undefined
  #lengths: readonly Uint8Array[] | undefined
  #firstRecords: Uint32Array | undefined
  #pageOfRecord: Uint32Array | undefined
  #hashes: Uint32Array | undefined
  readonly #keywords = new Map<string, KeywordColumn>()
  readonly #numbers = new Map<string, Float64Array>()

  /** @throws KumoError `KUMO_INDEX_DAMAGED`, `KUMO_INDEX_MISMATCH`; or the error of the file system */
  constructor(path: string) {
    this.name = basename(path)
    this.file = new CheckedFile(path)
    this.description = this.file.description as SegmentDescription
    if (this.description.format !== SEGMENT_FORMAT) {
      this.file.close()
      throw tooNew(path, this.description.format, SEGMENT_FORMAT)
    }
  }

  get records(): number {
    return this.description.records
  }

  get pages(): number {
    return this.description.pages
  }

  get dictionary(): Dictionary {
    const { blocks, index } = this.description.dictionary
    this.#dictionary ??= new Dictionary(this.file, blocks, index)
    return this.#dictionary
  }

  get stored(): Stored {
    const { blocks, index } = this.description.stored
    this.#stored ??= new Stored(this.file, blocks, index)
    return this.#stored
  }

  get ids(): Ids {
    this.#ids ??= new Ids(this.file, this.description.ids)
    return this.#ids
  }

  /** Length codes of records, by text field. */
  get lengths(): readonly Uint8Array[] {
    this.#lengths ??= this.description.lengths.map((place) => new Uint8Array(this.file.read(place)))
    return this.#lengths
  }

  /** The first record of each page, and the number of records. */
  get firstRecords(): Uint32Array {
    this.#firstRecords ??= readNumbers(this.file, this.description.firstRecords)
    return this.#firstRecords
  }

  /** The page of each record. */
  get pageOfRecord(): Uint32Array {
    if (this.#pageOfRecord !== undefined) return this.#pageOfRecord
    const firsts = this.firstRecords
    const pages = new Uint32Array(this.records)
    for (let page = 0; page < this.pages; page++) pages.fill(page, firsts[page]!, firsts[page + 1]!)
    this.#pageOfRecord = pages
    return pages
  }

  /** Three words of the hash of each page's id. */
  get hashes(): Uint32Array {
    this.#hashes ??= readNumbers(this.file, this.description.hashes)
    return this.#hashes
  }

  sketch(page: number): Uint8Array {
    return this.file.read([this.description.sketches[0] + page * SKETCH_BYTES, SKETCH_BYTES])
  }

  /** Undefined if the segment has no such column. */
  keywords(name: string): KeywordColumn | undefined {
    let column = this.#keywords.get(name)
    if (column === undefined) {
      const { keywords } = this.description
      if (!Object.hasOwn(keywords, name)) return undefined
      column = new KeywordColumn(this.file, keywords[name]!)
      this.#keywords.set(name, column)
    }
    return column
  }

  numbers(name: string): Float64Array | undefined {
    let column = this.#numbers.get(name)
    if (column === undefined) {
      const { numbers } = this.description
      if (!Object.hasOwn(numbers, name)) return undefined
      column = readDoubles(this.file, numbers[name]!)
      this.#numbers.set(name, column)
    }
    return column
  }

  postings({ offset, length }: TermEntry): Uint8Array {
    return this.file.read([this.description.postings[0] + offset, length])
  }

  /** The item of a page among the stored ones. */
  pageItem(page: number): number {
    return this.firstRecords[page]! + page
  }

  /** The item of a record: each page up to its own has one more. */
  recordItem(record: number): number {
    return record + this.pageOfRecord[record]! + 1
  }

  /** Lets go of what can be read again. */
  close(): void {
    this.file.close()
  }
}
