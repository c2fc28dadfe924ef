/** Records as bytes, written one after another into a buffer that is used again and again. */

import { type GzipMember, gzipBound, type HalfStoredMember } from './gzip.js'

/** The fields of a record, in order. Undefined: the field is left out. */
export type Fields = readonly (readonly [name: string, value: string | number | undefined])[]

const LINE_BREAKS = /[\r\n]+/g
const INITIAL_BYTES = 128 * 1024
/** A buffer that a large page has grown is given up, so that it does not stay for the whole crawl. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/** How records are compressed. */
export interface Compression {
  readonly member: GzipMember
  /** For blocks that are compressed already. */
  readonly halfStored: HalfStoredMember
}

/** Builds records and compresses each into a member of its own. `take` returns what was built since the last call. */
export class RecordBuffer {
  readonly #gzip: Compression | undefined
  /** A record before compression. */
  readonly #plain = new PlainRecord()
  #output: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #end = 0

  constructor(gzip: Compression | undefined) {
    this.#gzip = gzip
  }

  /** Adds a record. Returns how many bytes it takes. */
  add(fields: Fields, block: Uint8Array): number {
    if (this.#gzip === undefined) return this.#addPlain(fields, block)
    const { bytes, length } = this.#plain.set(fields, block)
    const before = this.#reserve(gzipBound(length))
    this.#end = this.#gzip.member(bytes, length, this.#output, before)
    return this.#end - before
  }

  /** Adds a record of whose block only the first `headBytes` are worth compressing. */
  addHalfStored(fields: Fields, block: Uint8Array, headBytes: number): number {
    if (this.#gzip === undefined) return this.#addPlain(fields, block)
    const { bytes, length, blockAt } = this.#plain.set(fields, block)
    const before = this.#reserve(gzipBound(length))
    this.#end = this.#gzip.halfStored(bytes, blockAt + headBytes, length, this.#output, before)
    return this.#end - before
  }

  /** Adds a record that was compressed elsewhere. */
  addMade(member: Uint8Array): number {
    const before = this.#reserve(member.length)
    this.#output.set(member, before)
    this.#end = before + member.length
    return member.length
  }

  #addPlain(fields: Fields, block: Uint8Array): number {
    const head = headOf(fields, block.length)
    const before = this.#reserve(mostBytes(head, block))
    this.#end = write(this.#output, before, head, block)
    return this.#end - before
  }

  /** Where the next bytes go. */
  #reserve(bytes: number): number {
    this.#output = grown(this.#output, this.#end, this.#end + bytes)
    return this.#end
  }

  /** What was built. Valid until the next `add`. */
  take(): Buffer {
    const built = this.#output.subarray(0, this.#end)
    this.#end = 0
    if (this.#output.length > MAX_KEPT_BYTES) this.#output = Buffer.allocUnsafeSlow(INITIAL_BYTES)
    return built
  }
}

/** One record before compression, in a buffer that is used again and again. */
export class PlainRecord {
  bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  /** Bytes of the record. */
  length = 0
  /** Where its block begins. */
  blockAt = 0

  set(fields: Fields, block: Uint8Array): this {
    const head = headOf(fields, block.length)
    const most = mostBytes(head, block)
    if (this.bytes.length > MAX_KEPT_BYTES && most <= MAX_KEPT_BYTES)
      this.bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
    this.bytes = grown(this.bytes, 0, most)
    this.length = write(this.bytes, 0, head, block)
    this.blockAt = this.length - END.length - block.length
    return this
  }
}

/** Fields are UTF-8: a character takes at most three bytes for each unit of the text. */
function mostBytes(head: string, block: Uint8Array): number {
  return head.length * 3 + block.length + END.length
}

const END = '\r\n\r\n'

function headOf(fields: Fields, blockBytes: number): string {
  let head = 'WARC/1.1\r\n'
  for (const [name, value] of fields) {
    if (value === undefined) continue
    const text = String(value)
    // A line break would begin another field.
    head += `${name}: ${text.includes('\n') || text.includes('\r') ? text.replace(LINE_BREAKS, ' ') : text}\r\n`
  }
  return `${head}Content-Length: ${blockBytes}\r\n\r\n`
}

function write(target: Buffer, at: number, head: string, block: Uint8Array): number {
  const blockAt = at + target.write(head, at, 'utf8')
  target.set(block, blockAt)
  return blockAt + block.length + target.write(END, blockAt + block.length, 'latin1')
}

/** A buffer of at least `size` bytes that begins with the first `used` bytes of this one. */
export function grown(buffer: Buffer, used: number, size: number): Buffer {
  if (buffer.length >= size) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.max(size, buffer.length * 2))
  buffer.copy(larger, 0, 0, used)
  return larger
}
