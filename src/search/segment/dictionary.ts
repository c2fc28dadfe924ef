/**
 * The terms of a segment, sorted by UTF-16 units, in blocks. A term shares its beginning with the one before it. The first
 * terms of all blocks are in memory; a block is read when it is needed.
 */

import { ByteReader, ByteWriter, decodeText } from './bytes.js'
import type { CheckedFile, Place } from './checked-file.js'

/** Few enough to be read in some microseconds, many enough that their first terms are few. */
const TERMS_PER_BLOCK = 32

/** A term and where its postings are. */
export interface TermEntry {
  readonly term: string
  /** Records that have it. */
  readonly count: number
  readonly offset: number
  readonly length: number
  /** The last record that has it. */
  readonly last: number
}

/** Collects terms in order. */
export class DictionaryWriter {
  readonly #blocks = new ByteWriter(2 ** 16)
  readonly #index = new ByteWriter(2 ** 12)
  #inBlock = 0
  #blockStart = 0
  #previous = ''
  /** Number of terms. */
  count = 0

  add(term: string, count: number, offset: number, length: number, last: number): void {
    const blocks = this.#blocks
    if (this.#inBlock === TERMS_PER_BLOCK) this.#endBlock()
    if (this.#inBlock === 0) {
      this.#index.text(term)
      this.#previous = ''
      this.#blockStart = blocks.length
      blocks.varint(offset)
    }
    const shared = sharedPrefix(this.#previous, term)
    blocks.varint(shared)
    blocks.text(shared === 0 ? term : term.slice(shared))
    blocks.varint(count)
    blocks.varint(length)
    blocks.varint(last)
    this.#previous = term
    this.#inBlock++
    this.count++
  }

  /** The blocks, and what finds them. */
  finish(): { readonly blocks: Uint8Array; readonly index: Uint8Array } {
    if (this.#inBlock > 0) this.#endBlock()
    return { blocks: this.#blocks.view(), index: this.#index.view() }
  }

  #endBlock(): void {
    this.#index.varint(this.#blocks.length - this.#blockStart)
    this.#inBlock = 0
  }
}

/** Not in the middle of a surrogate pair, whose halves have no UTF-8. */
function sharedPrefix(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++
  if (at > 0) {
    const unit = other.charCodeAt(at - 1)
    if (unit >= 0xd800 && unit <= 0xdbff) return at - 1
  }
  return at
}

/** The dictionary of a segment on disk. */
export class Dictionary {
  readonly #file: CheckedFile
  readonly #place: Place
  /** The first term of each block. */
  readonly firsts: readonly string[]
  /** Offsets of blocks, and their end. */
  readonly #starts: Uint32Array

  constructor(file: CheckedFile, blocks: Place, index: Place) {
    this.#file = file
    this.#place = blocks
    const reader = new ByteReader(file.read(index))
    const firsts: string[] = []
    const starts: number[] = [0]
    while (!reader.isAtEnd) {
      firsts.push(reader.text())
      starts.push(starts.at(-1)! + reader.varint())
    }
    this.firsts = firsts
    this.#starts = Uint32Array.from(starts)
  }

  /** The entry of a term; undefined if there is none. */
  find(term: string): TermEntry | undefined {
    const block = this.#blockOf(term)
    if (block < 0) return undefined
    const cursor = new BlockCursor(this.#read(block))
    while (cursor.next()) {
      if (cursor.term === term) return cursor.entry()
      if (cursor.term > term) return undefined
    }
    return undefined
  }

  /** Entries of terms with this beginning, in order, until `take` returns false. */
  each(prefix: string, take: (entry: TermEntry) => boolean): void {
    for (let block = Math.max(0, this.#blockOf(prefix)); block < this.firsts.length; block++) {
      const first = this.firsts[block]!
      if (first > prefix && !first.startsWith(prefix)) return
      const cursor = new BlockCursor(this.#read(block))
      while (cursor.next()) {
        if (cursor.term.startsWith(prefix)) {
          if (!take(cursor.entry())) return
        } else if (cursor.term > prefix) return
      }
    }
  }

  /** The terms of a block. */
  block(number: number): BlockCursor {
    return new BlockCursor(this.#read(number))
  }

  /** The last block whose first term is not after `term`; -1 if there is none. */
  #blockOf(term: string): number {
    const { firsts } = this
    let low = 0
    let high = firsts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (firsts[middle]! <= term) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  #read(block: number): Uint8Array {
    const start = this.#starts[block]!
    return this.#file.read([this.#place[0] + start, this.#starts[block + 1]! - start])
  }
}

/** Reads the terms of a block one after another. */
export class BlockCursor {
  readonly #reader: ByteReader
  term = ''
  /** Units that the term shares with the one before it. */
  shared = 0
  count = 0
  length = 0
  last = 0
  offset: number

  constructor(bytes: Uint8Array) {
    this.#reader = new ByteReader(bytes)
    this.offset = this.#reader.varint()
  }

  next(): boolean {
    const reader = this.#reader
    if (reader.isAtEnd) return false
    this.offset += this.length
    this.shared = reader.varint()
    const bytes = reader.varint()
    const start = reader.at
    reader.at += bytes
    const suffix = decodeText(reader.bytes, start, reader.at)
    this.term = this.shared === 0 ? suffix : this.term.slice(0, this.shared) + suffix
    this.count = reader.varint()
    this.length = reader.varint()
    this.last = reader.varint()
    return true
  }

  entry(): TermEntry {
    const { term, count, offset, length, last } = this
    return { term, count, offset, length, last }
  }
}
