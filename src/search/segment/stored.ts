/**
 * The documents themselves: for each page an item that describes it, followed by an item for each of its records. Items
 * are compressed together in blocks; merging copies blocks in which nothing was deleted.
 */

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FieldValue } from '../contract.js'
import { ByteReader, ByteWriter } from './bytes.js'
import { type CheckedFile, type CheckedWriter, damaged, type Place } from './checked-file.js'

/** Large enough to compress well, small enough that a hit is read quickly. */
const BLOCK_BYTES = 2 ** 14
/** The fastest level; and no larger tables than a block needs, because they are set up for each of them. */
const DEFLATE = { level: 1, windowBits: 14, memLevel: 7 }
/** Decompressed blocks that a reader keeps. */
const BLOCKS_KEPT = 32

/** What describes a page. */
export interface PageItem {
  readonly id: string
  readonly url: string
  readonly title: string
  readonly language?: string | undefined
  readonly date?: number | undefined
  readonly fields?: Readonly<Record<string, FieldValue>> | undefined
}

/** A section as stored. */
export interface RecordItem {
  readonly anchor: string
  readonly heading: string
  readonly path: readonly string[]
  readonly text: string
}

/** Packs items into compressed blocks. They are kept in memory, or written to a file at once. */
export class StoredWriter {
  readonly #out: CheckedWriter | ByteWriter
  readonly #block = new ByteWriter(BLOCK_BYTES * 2)
  readonly #item = new ByteWriter(BLOCK_BYTES)
  /** For each block: its first item and its length in bytes. */
  readonly #index = new ByteWriter(256)
  #items = 0
  #blockItems = 0

  constructor(out: CheckedWriter | ByteWriter) {
    this.#out = out
  }

  page(item: PageItem): void {
    this.#item.clear()
    this.#item.text(JSON.stringify(item))
    this.item(this.#item.view())
  }

  record({ anchor, heading, path, text }: RecordItem): void {
    const item = this.#item
    item.clear()
    item.text(anchor)
    item.text(heading)
    item.varint(path.length)
    for (const each of path) item.text(each)
    item.text(text)
    this.item(item.view())
  }

  item(bytes: Uint8Array): void {
    this.#block.varint(bytes.length)
    this.#block.append(bytes)
    this.#blockItems++
    this.#items++
    if (this.#block.length >= BLOCK_BYTES) this.#endBlock()
  }

  /** Copies a block of another segment as it is. */
  block(bytes: Uint8Array, items: number): void {
    this.#endBlock()
    this.#items += items
    this.#blockItems = items
    this.#write(bytes)
  }

  /** Returns the index of the blocks. */
  finish(): Uint8Array {
    this.#endBlock()
    return this.#index.view()
  }

  #endBlock(): void {
    if (this.#blockItems === 0) return
    const bytes = deflateRawSync(this.#block.view(), DEFLATE)
    this.#block.clear()
    this.#write(bytes)
  }

  #write(bytes: Uint8Array): void {
    this.#index.varint(this.#blockItems)
    this.#index.varint(bytes.length)
    this.#blockItems = 0
    if (this.#out instanceof ByteWriter) this.#out.append(bytes)
    else this.#out.write(bytes)
  }
}

/** Reads items of a segment. */
export class Stored {
  readonly #file: CheckedFile
  /** First item of each block, and the number of items. */
  readonly firstItems: Uint32Array
  /** Offset of each block, and the end. */
  readonly #offsets: Float64Array
  readonly #cache = new Map<number, readonly Uint8Array[]>()

  constructor(file: CheckedFile, blocks: Place, index: Place) {
    this.#file = file
    const reader = new ByteReader(file.read(index))
    const items: number[] = [0]
    const offsets: number[] = [blocks[0]]
    while (!reader.isAtEnd) {
      items.push(items.at(-1)! + reader.varint())
      offsets.push(offsets.at(-1)! + reader.varint())
    }
    this.firstItems = Uint32Array.from(items)
    this.#offsets = Float64Array.from(offsets)
  }

  get blocks(): number {
    return this.firstItems.length - 1
  }

  page(number: number): PageItem {
    return JSON.parse(new ByteReader(this.item(number)).text()) as PageItem
  }

  record(number: number): RecordItem {
    const reader = new ByteReader(this.item(number))
    const anchor = reader.text()
    const heading = reader.text()
    const path = Array.from({ length: reader.varint() }, () => reader.text())
    return { anchor, heading, path, text: reader.text() }
  }

  /** The bytes of a block, compressed. */
  raw(block: number): Uint8Array {
    const start = this.#offsets[block]!
    return this.#file.read([start, this.#offsets[block + 1]! - start])
  }

  /** The items of a block. */
  items(block: number): readonly Uint8Array[] {
    let items = this.#cache.get(block)
    if (items !== undefined) return items
    const reader = new ByteReader(this.#inflate(block))
    const count = this.firstItems[block + 1]! - this.firstItems[block]!
    items = Array.from({ length: count }, () => reader.take(reader.varint()))
    if (this.#cache.size >= BLOCKS_KEPT) this.#cache.delete(this.#cache.keys().next().value!)
    this.#cache.set(block, items)
    return items
  }

  item(number: number): Uint8Array {
    const { firstItems } = this
    let low = 0
    let high = firstItems.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (firstItems[middle]! <= number) low = middle
      else high = middle - 1
    }
    return this.items(low)[number - firstItems[low]!]!
  }

  #inflate(block: number): Uint8Array {
    try {
      return inflateRawSync(this.raw(block))
    } catch (error) {
      throw damaged(this.#file.path, `block ${block} cannot be decompressed (${String(error)})`)
    }
  }
}
