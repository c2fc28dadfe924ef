/** Records as bytes, written one after another into a buffer that is used again and again. */

import { type GzipMember, gzipBound } from './gzip.js'

/** The fields of a record, in order. Undefined: the field is left out. */
export type Fields = readonly (readonly [name: string, value: string | number | undefined])[]

const LINE_BREAKS = /[\r\n]+/g
const INITIAL_BYTES = 128 * 1024
/** A buffer that a large page has grown is given up, so that it does not stay for the whole crawl. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/** Builds records and compresses each into a member of its own. `take` returns what was built since the last call. */
export class RecordBuffer {
  readonly #gzip: GzipMember | undefined
  /** A record before compression. */
  #plain: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #output: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #end = 0

  constructor(gzip: GzipMember | undefined) {
    this.#gzip = gzip
  }

  /** Bytes built so far. */
  get length(): number {
    return this.#end
  }

  /** Adds a record. Its block consists of the parts. Returns how many bytes it takes. */
  add(fields: Fields, ...block: readonly Uint8Array[]): number {
    const head = headOf(fields, lengthOf(block))
    // Fields are UTF-8: a character takes at most three bytes for each unit of the text.
    const most = head.length * 3 + lengthOf(block) + END.length
    const before = this.#end
    if (this.#gzip === undefined) {
      this.#output = grown(this.#output, before, before + most)
      this.#end = write(this.#output, before, head, block)
    } else {
      this.#plain = grown(this.#plain, 0, most)
      const length = write(this.#plain, 0, head, block)
      this.#output = grown(this.#output, before, before + gzipBound(length))
      this.#end = this.#gzip(this.#plain, length, this.#output, before)
    }
    return this.#end - before
  }

  /** What was built. Valid until the next `add`. */
  take(): Buffer {
    const built = this.#output.subarray(0, this.#end)
    this.#end = 0
    if (this.#output.length > MAX_KEPT_BYTES) this.#output = Buffer.allocUnsafeSlow(INITIAL_BYTES)
    if (this.#plain.length > MAX_KEPT_BYTES) this.#plain = Buffer.allocUnsafeSlow(INITIAL_BYTES)
    return built
  }
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

function write(target: Buffer, at: number, head: string, block: readonly Uint8Array[]): number {
  let end = at + target.write(head, at, 'utf8')
  for (const part of block) {
    target.set(part, end)
    end += part.length
  }
  return end + target.write(END, end, 'latin1')
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

/** A buffer of at least `size` bytes that begins with the first `used` bytes of this one. */
function grown(buffer: Buffer, used: number, size: number): Buffer {
  if (buffer.length >= size) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.max(size, buffer.length * 2))
  buffer.copy(larger, 0, 0, used)
  return larger
}
