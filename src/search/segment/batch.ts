/**
 * Documents that are not yet on disk. Words go into one long list in the order in which they are read; when the batch is
 * written, a counting sort turns it into postings. A batch takes eight bytes for each word, and its text compressed.
 */

import type { FieldValue } from '../contract.js'
import type { Analyzer, Analyzers } from '../words/analyzer.js'
import { normalized, Scanner } from '../words/scanner.js'
import { ByteWriter, bytesOf, NumberList } from './bytes.js'
import { CheckedWriter, type Place } from './checked-file.js'
import { KeywordColumnWriter, NumberColumnWriter } from './columns.js'
import { DictionaryWriter } from './dictionary.js'
import { hashId, writeIds } from './ids.js'
import { type Schema, SEGMENT_FORMAT, type SegmentDescription } from './layout.js'
import { LENGTHS, lengthCode } from './lengths.js'
import { BODY, HEADINGS, MOST_POSITIONS, PATH, POSITION_BITS, TITLE, writePostings } from './postings.js'
import { Sketcher } from './sketch.js'
import { StoredWriter } from './stored.js'
import { NO_TERM, type TermTable } from './term-table.js'

/** A document with every default filled in. */
export interface PlainDocument {
  readonly id: string
  readonly url: string
  readonly title: string
  readonly language: string | undefined
  readonly date: number | undefined
  readonly host: string
  readonly sections: readonly PlainSection[]
  /** Own text fields by number. */
  readonly texts: readonly (readonly [field: number, text: string])[]
  /** Keyword values by column of the schema, from the third on. */
  readonly keywords: readonly (readonly string[])[]
  /** Numbers by column of the schema, from the second on. */
  readonly numbers: readonly (number | undefined)[]
  readonly fields: Readonly<Record<string, FieldValue>> | undefined
}

export interface PlainSection {
  readonly anchor: string
  readonly heading: string
  readonly path: readonly string[]
  readonly text: string
}

export class Batch {
  readonly #schema: Schema
  readonly #analyzers: Analyzers
  readonly #table: TermTable
  /** For each word: its term, and `field << 28 | position`. */
  readonly #terms = new NumberList(2 ** 14)
  readonly #occurrences = new NumberList(2 ** 14)
  /** Where the words of each record begin. */
  readonly #recordStarts = new NumberList(256)
  readonly #lengths: ByteWriter[]
  readonly #lengthSums: number[]
  readonly #storedBytes = new ByteWriter(2 ** 16)
  readonly #stored = new StoredWriter(this.#storedBytes)
  readonly #firstRecords = new NumberList(64)
  readonly #hashes = new NumberList(256)
  readonly #pageOf = new Map<string, number>()
  readonly #dropped = new Set<number>()
  readonly #keywords: KeywordColumnWriter[]
  readonly #numbers: NumberColumnWriter[]
  readonly #scanner = new Scanner('')
  readonly #sketcher = new Sketcher()
  readonly #sketches = new ByteWriter(1024)

  /** @param table Words of earlier batches, which most words of this one are among. */
  constructor(schema: Schema, analyzers: Analyzers, table: TermTable) {
    this.#schema = schema
    this.#table = table
    this.#analyzers = analyzers
    this.#lengths = schema.text.map(() => new ByteWriter(256))
    this.#lengthSums = schema.text.map(() => 0)
    this.#keywords = schema.keywords.map(() => new KeywordColumnWriter())
    this.#numbers = schema.numbers.map(() => new NumberColumnWriter())
  }

  get pages(): number {
    return this.#firstRecords.length
  }

  get records(): number {
    return this.#recordStarts.length
  }

  /** Words so far. */
  get words(): number {
    return this.#terms.length
  }

  /** Whether it has a page with this id. */
  has(id: string): boolean {
    return this.#pageOf.has(id)
  }

  put(document: PlainDocument): void {
    this.drop(document.id)
    const page = this.pages
    this.#pageOf.set(document.id, page)
    this.#firstRecords.push(this.records)
    for (const word of hashId(document.id)) this.#hashes.push(word)
    const { id, url, title, language, date, fields } = document
    this.#stored.page({ id, url, title, language, date, fields })
    const analyzer = this.#analyzers.of(language)
    this.#sketcher.begin()
    for (const [index, section] of document.sections.entries()) {
      this.#recordStarts.push(this.#terms.length)
      const counts = this.#schema.text.map(() => 0)
      counts[TITLE] = this.#words(title, TITLE, 0, analyzer, false)
      counts[HEADINGS] = this.#words(section.heading, HEADINGS, 0, analyzer, false)
      counts[BODY] = this.#words(section.text, BODY, 0, analyzer, true)
      for (const heading of section.path)
        counts[PATH] = this.#words(heading, PATH, counts[PATH]!, analyzer, false)
      // Fields of the page are found with its first record.
      if (index === 0)
        for (const [field, text] of document.texts)
          counts[field] = this.#words(text, field, 0, analyzer, false)
      for (const [field, count] of counts.entries()) {
        const code = lengthCode(count)
        this.#lengths[field]!.byte(code)
        this.#lengthSums[field]! += LENGTHS[code]!
      }
      this.#stored.record(section)
    }
    this.#sketches.append(this.#sketcher.end())
    this.#keywords[0]!.add([document.host])
    this.#keywords[1]!.add(language === undefined ? [] : [language])
    for (const [index, values] of document.keywords.entries()) this.#keywords[index + 2]!.add(values)
    this.#numbers[0]!.add(date)
    for (const [index, value] of document.numbers.entries()) this.#numbers[index + 1]!.add(value)
  }

  /** Forgets a page. Returns false if there was none with this id. */
  drop(id: string): boolean {
    const page = this.#pageOf.get(id)
    if (page === undefined) return false
    this.#pageOf.delete(id)
    this.#dropped.add(page)
    return true
  }

  /** Adds the words of a text at positions from `from` on; returns the next position. */
  #words(text: string, field: number, from: number, analyzer: Analyzer, isSketched: boolean): number {
    if (text === '') return from
    const plain = normalized(text)
    const scanner = this.#scanner
    scanner.restart(plain, analyzer.language, analyzer.segmenter)
    const table = this.#table
    const sketcher = this.#sketcher
    const terms = this.#terms
    const occurrences = this.#occurrences
    const base = field << POSITION_BITS
    let position = from
    while (scanner.next()) {
      const term = table.number(scanner, plain, analyzer)
      if (term === NO_TERM) continue
      terms.push(term)
      occurrences.push((base | position) >>> 0)
      if (isSketched) sketcher.word(table.termHash)
      if (position < MOST_POSITIONS) position++
    }
    return position
  }

  /** Pages that were replaced or deleted before they were written. */
  droppedPages(): number[] {
    return [...this.#dropped]
  }

  /**
   * Writes the segment. The batch stays as it is, so that a failed write can be repeated.
   *
   * @throws the error of the file system
   */
  async write(path: string, sync: boolean): Promise<void> {
    const file = new CheckedWriter(path)
    try {
      await file.finish(this.#writeParts(file), sync)
    } catch (error) {
      file.abandon()
      throw error
    }
  }

  #writeParts(file: CheckedWriter): SegmentDescription {
    const storedIndex = this.#stored.finish()
    const stored = {
      blocks: file.part(this.#storedBytes.view()),
      index: file.part(storedIndex),
    }
    const { postings, dictionary, terms } = this.#writePostings(file)
    const firsts = Uint32Array.from([...this.#firstRecords.view(), this.records])
    const hashes = this.#hashes.view()
    return {
      format: SEGMENT_FORMAT,
      records: this.records,
      pages: this.pages,
      terms,
      lengthSums: this.#lengthSums,
      postings,
      dictionary,
      stored,
      lengths: this.#lengths.map((each) => file.part(each.view())),
      firstRecords: file.part(bytesOf(firsts)),
      hashes: file.part(bytesOf(hashes)),
      ids: writeIds(file, hashes, (page) => this.#dropped.has(page)),
      sketches: file.part(this.#sketches.view()),
      keywords: Object.fromEntries(
        this.#schema.keywords.map((name, index) => [name, this.#keywords[index]!.write(file)]),
      ),
      numbers: Object.fromEntries(
        this.#schema.numbers.map((name, index) => [name, this.#numbers[index]!.write(file)]),
      ),
    }
  }

  #writePostings(file: CheckedWriter): Pick<SegmentDescription, 'postings' | 'dictionary' | 'terms'> {
    const { starts, places } = this.#sorted()
    const { terms } = this.#table
    const offset = file.length
    const dictionary = new DictionaryWriter()
    const bytes = new ByteWriter(2 ** 16)
    let written = 0
    for (const term of this.#table.sorted()) {
      const start = starts[term]!
      const end = starts[term + 1]!
      if (start === end) continue
      const before = bytes.length
      const count = writePostings(bytes, places, start * 2, end * 2)
      dictionary.add(terms[term]!, count, written + before, bytes.length - before, places[end * 2 - 2]!)
      if (bytes.length < 2 ** 18) continue
      file.write(bytes.view())
      written += bytes.length
      bytes.clear()
    }
    file.write(bytes.view())
    const postings: Place = [offset, written + bytes.length]
    const { blocks, index } = dictionary.finish()
    return {
      postings,
      dictionary: { blocks: file.part(blocks), index: file.part(index) },
      terms: dictionary.count,
    }
  }

  /** The words by term: where those of each begin, and their records and occurrences in turn, in their order. */
  #sorted(): { readonly starts: Uint32Array; readonly places: Uint32Array } {
    const words = this.#terms.view()
    const occurrences = this.#occurrences.items
    const starts = new Uint32Array(this.#table.terms.length + 1)
    for (let at = 0; at < words.length; at++) starts[words[at]! + 1]!++
    for (let term = 1; term < starts.length; term++) starts[term]! += starts[term - 1]!
    const next = starts.slice()
    const places = new Uint32Array(words.length * 2)
    const { items: recordStarts } = this.#recordStarts
    for (let record = 0; record < this.records; record++) {
      const end = record + 1 < this.records ? recordStarts[record + 1]! : words.length
      for (let at = recordStarts[record]!; at < end; at++) {
        const place = next[words[at]!]!++ * 2
        places[place] = record
        places[place + 1] = occurrences[at]!
      }
    }
    return { starts, places }
  }
}
