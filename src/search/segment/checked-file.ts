/**
 * A file that notices when its bytes have changed. It has a checksum for each chunk of 64 KB; a chunk is checked when it
 * is first read. What a file says is therefore what was written, or an error.
 */

import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { KumoError, messageOf } from '../../errors.js'

const CHUNK = 2 ** 16
/** CRC of what is before it, length of the description, length of the data (two words), mark. */
const TRAILER = 24
const MARK = Buffer.from('KUMOIDX1', 'latin1')

/** Where a part of a file is. */
export type Place = readonly [offset: number, length: number]

/** Writes a file from start to end. */
export class CheckedWriter {
  readonly #fd: number
  readonly #path: string
  readonly #chunk = Buffer.alloc(CHUNK)
  #filled = 0
  readonly #sums: number[] = []
  /** Bytes of data so far. */
  length = 0

  /** @throws the error of the file system */
  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, 'w')
  }

  write(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      const count = Math.min(bytes.length - at, CHUNK - this.#filled)
      this.#chunk.set(bytes.subarray(at, at + count), this.#filled)
      this.#filled += count
      at += count
      if (this.#filled === CHUNK) this.#writeChunk()
    }
    this.length += bytes.length
  }

  /** Writes bytes and returns where they are. */
  part(bytes: Uint8Array): Place {
    const place: Place = [this.length, bytes.length]
    this.write(bytes)
    return place
  }

  /** Ends the file with a description of its parts; with `sync`, waits until it is on the disk. */
  async finish(description: object, sync: boolean): Promise<void> {
    if (this.#filled > 0) this.#writeChunk()
    const sums = Buffer.alloc(this.#sums.length * 4)
    for (const [index, sum] of this.#sums.entries()) sums.writeUInt32LE(sum, index * 4)
    const text = Buffer.from(JSON.stringify(description), 'utf8')
    const trailer = Buffer.alloc(TRAILER)
    trailer.writeUInt32LE(crc32(text, crc32(sums)), 0)
    trailer.writeUInt32LE(text.length, 4)
    trailer.writeUInt32LE(this.length >>> 0, 8)
    trailer.writeUInt32LE(Math.floor(this.length / 2 ** 32), 12)
    MARK.copy(trailer, 16)
    for (const part of [sums, text, trailer]) writeAll(this.#fd, part, part.length)
    closeSync(this.#fd)
    if (!sync) return
    const file = await open(this.#path, 'r+')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  }

  /** Lets go of a file that is not finished. */
  abandon(): void {
    try {
      closeSync(this.#fd)
    } catch {
      // It is closed already.
    }
  }

  #writeChunk(): void {
    this.#sums.push(crc32(this.#chunk.subarray(0, this.#filled)))
    writeAll(this.#fd, this.#chunk, this.#filled)
    this.#filled = 0
  }
}

function writeAll(fd: number, bytes: Uint8Array, length: number): void {
  for (let at = 0; at < length; ) at += writeSync(fd, bytes, at, length - at)
}

/** Reads a file in any order. */
export class CheckedFile {
  readonly path: string
  readonly size: number
  /** What `finish` was given. */
  readonly description: unknown
  readonly #fd: number
  readonly #length: number
  readonly #sums: Uint32Array
  readonly #isChecked: Uint8Array
  #isOpen = true

  /** @throws KumoError `KUMO_INDEX_DAMAGED`; or the error of the file system if the file cannot be opened. */
  constructor(path: string) {
    this.path = path
    this.#fd = openSync(path, 'r')
    try {
      this.size = fstatSync(this.#fd).size
      const trailer = this.#raw(this.size - TRAILER, TRAILER)
      if (!trailer.subarray(16).equals(MARK)) throw damaged(path, 'its end is missing')
      const textLength = trailer.readUInt32LE(4)
      this.#length = trailer.readUInt32LE(8) + trailer.readUInt32LE(12) * 2 ** 32
      const chunks = Math.ceil(this.#length / CHUNK)
      if (this.#length + chunks * 4 + textLength + TRAILER !== this.size)
        throw damaged(path, 'it does not have the size that it should')
      const tail = this.#raw(this.#length, chunks * 4 + textLength)
      if (crc32(tail) !== trailer.readUInt32LE(0)) throw damaged(path, 'its description has changed')
      this.#sums = new Uint32Array(chunks)
      for (let i = 0; i < chunks; i++) this.#sums[i] = tail.readUInt32LE(i * 4)
      this.#isChecked = new Uint8Array(chunks)
      this.description = JSON.parse(tail.toString('utf8', chunks * 4))
    } catch (error) {
      this.close()
      throw error instanceof KumoError ? error : damaged(path, messageOf(error))
    }
  }

  /** @throws KumoError `KUMO_INDEX_DAMAGED` */
  read([offset, length]: Place): Uint8Array {
    if (length === 0) return EMPTY
    const first = Math.floor(offset / CHUNK)
    const last = Math.floor((offset + length - 1) / CHUNK)
    let isChecked = true
    for (let chunk = first; chunk <= last; chunk++) if (this.#isChecked[chunk] !== 1) isChecked = false
    if (isChecked) return this.#raw(offset, length)
    const start = first * CHUNK
    const bytes = this.#raw(start, Math.min((last + 1) * CHUNK, this.#length) - start)
    for (let chunk = first; chunk <= last; chunk++) {
      const at = (chunk - first) * CHUNK
      if (crc32(bytes.subarray(at, at + CHUNK)) !== this.#sums[chunk])
        throw damaged(this.path, `bytes from ${chunk * CHUNK} on have changed`)
      this.#isChecked[chunk] = 1
    }
    // A view: what is kept longer is copied by its reader.
    return bytes.subarray(offset - start, offset - start + length)
  }

  /** Reads everything. @throws KumoError `KUMO_INDEX_DAMAGED` */
  verify(): void {
    this.#isChecked.fill(0)
    for (let at = 0; at < this.#length; at += CHUNK) this.read([at, Math.min(CHUNK, this.#length - at)])
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#fd)
  }

  #raw(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, length))
    let at = 0
    while (at < length) {
      const count = readSync(this.#fd, bytes, at, length - at, offset + at)
      if (count === 0) throw damaged(this.path, `it ends at ${offset + at} bytes`)
      at += count
    }
    return bytes
  }
}

const EMPTY = new Uint8Array(0)

/** The error for a file of an index that is not what was written. */
export function damaged(path: string, what: string): KumoError {
  return new KumoError(
    'KUMO_INDEX_DAMAGED',
    `${path} is damaged: ${what}; restore the folder of the index from a backup, or index again into another folder`,
  )
}

/** The error for a file that a newer version wrote. */
export function tooNew(path: string, format: unknown, known: number): KumoError {
  const message = `${path} has the format ${format}, and this version of Kumo knows up to ${known}: update Kumo, or index again into another folder`
  return new KumoError('KUMO_INDEX_MISMATCH', message)
}
