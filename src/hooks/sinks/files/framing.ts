/**
 * How batches are laid out in a file, so that the end of the last whole batch can be found again after a crash. Compressed
 * batches are gzip members or zstd frames of their own, which every tool reads as one stream; each is preceded by its
 * length in a place that readers skip.
 */

import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { KumoError } from '../../../errors.js'
import { require } from '../../../require.js'

export type Compression = 'gzip' | 'zstd' | 'none'

export const COMPRESSIONS: readonly Compression[] = ['gzip', 'zstd', 'none']

export interface Framing {
  /** What file names end with. */
  readonly suffix: string
  encode(text: string): Promise<Uint8Array>
  /** The end of the last whole batch in a file of this size; undefined if it was not written like this. */
  wholeBytes(file: FileHandle, size: number): Promise<number | undefined>
}

/** `isQuoted`: an end of a line between double quotes is part of a cell. */
export function framingOf(compression: Compression, isQuoted: boolean): Framing {
  if (compression === 'gzip') return gzipFraming
  if (compression === 'zstd') return zstdFraming()
  return isQuoted ? { ...plainFraming, wholeBytes: wholeRows } : plainFraming
}

const SCAN_BYTES = 65_536
const NEWLINE = 0x0a

const plainFraming: Framing = {
  suffix: '',
  encode: async (text) => Buffer.from(text),
  async wholeBytes(file, size) {
    const piece = Buffer.alloc(SCAN_BYTES)
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - SCAN_BYTES)
      const { bytesRead } = await file.read(piece, 0, end - start, start)
      const at = piece.subarray(0, bytesRead).lastIndexOf(NEWLINE)
      if (at >= 0) return start + at + 1
      end = start
    }
    return 0
  },
}

const QUOTE = 0x22

async function wholeRows(file: FileHandle, size: number): Promise<number> {
  const piece = Buffer.alloc(SCAN_BYTES)
  let isInside = false
  let whole = 0
  for (let start = 0; start < size; start += SCAN_BYTES) {
    const { bytesRead } = await file.read(piece, 0, SCAN_BYTES, start)
    for (let at = 0; at < bytesRead; at++) {
      if (piece[at] === QUOTE) isInside = !isInside
      else if (piece[at] === NEWLINE && !isInside) whole = start + at + 1
    }
  }
  return whole
}

/** Walks over frames whose header says how long they are. `lengthAt` returns undefined if the header is not ours. */
async function walk(
  file: FileHandle,
  size: number,
  headerBytes: number,
  lengthOf: (header: Buffer) => number | undefined,
): Promise<number | undefined> {
  const header = Buffer.alloc(headerBytes)
  let at = 0
  while (at + headerBytes <= size) {
    await file.read(header, 0, headerBytes, at)
    const length = lengthOf(header)
    // The end of the file may be a header that was only half written; the start of a foreign file is not.
    if (length === undefined) return at === 0 ? undefined : at
    if (at + length > size) break
    at += length
  }
  return at
}

const compress = promisify(gzip)
/** Node.js writes a header without extras. */
const PLAIN_GZIP_HEADER = 10
const FLAGS_AT = 3
const HAS_EXTRA = 4
/** XLEN, then one subfield: its name, its length, and the length of the whole member. */
const EXTRA = Buffer.from([8, 0, 0x4b, 0x55, 4, 0])
const GZIP_HEADER = PLAIN_GZIP_HEADER + EXTRA.length + 4
const GZIP_LENGTH_AT = GZIP_HEADER - 4

const gzipFraming: Framing = {
  suffix: '.gz',
  async encode(text) {
    const plain = await compress(text)
    const member = Buffer.alloc(plain.length + GZIP_HEADER - PLAIN_GZIP_HEADER)
    plain.copy(member, 0, 0, PLAIN_GZIP_HEADER)
    member[FLAGS_AT] = HAS_EXTRA
    EXTRA.copy(member, PLAIN_GZIP_HEADER)
    member.writeUInt32LE(member.length, GZIP_LENGTH_AT)
    plain.copy(member, GZIP_HEADER, PLAIN_GZIP_HEADER)
    return member
  },
  wholeBytes: (file, size) =>
    walk(file, size, GZIP_HEADER, (header) => {
      const isOurs =
        header[FLAGS_AT] === HAS_EXTRA && EXTRA.equals(header.subarray(PLAIN_GZIP_HEADER, GZIP_LENGTH_AT))
      return isOurs ? header.readUInt32LE(GZIP_LENGTH_AT) : undefined
    }),
}

/** A frame that decoders skip: magic number, length of its content, and the length of the frame after it. */
const SKIPPABLE_MAGIC = 0x184d2a50
const SKIPPABLE_BYTES = 12

/** Node.js has it since 22.15. */
interface Zstd {
  zstdCompress?(text: string, callback: (error: Error | null, result: Buffer) => void): void
}

function zstdFraming(): Framing {
  const { zstdCompress } = require('node:zlib') as Zstd
  if (zstdCompress === undefined) {
    const message = `compress: 'zstd' needs Node.js 22.15 or later, and this is ${process.version}; use 'gzip'`
    throw new KumoError('KUMO_UNSUPPORTED_RUNTIME', message)
  }
  const compress = promisify(zstdCompress)
  return {
    suffix: '.zst',
    async encode(text) {
      const frame = await compress(text)
      const head = Buffer.alloc(SKIPPABLE_BYTES)
      head.writeUInt32LE(SKIPPABLE_MAGIC, 0)
      head.writeUInt32LE(4, 4)
      head.writeUInt32LE(frame.length, 8)
      return Buffer.concat([head, frame])
    },
    wholeBytes: (file, size) =>
      walk(file, size, SKIPPABLE_BYTES, (header) => {
        const isOurs = header.readUInt32LE(0) === SKIPPABLE_MAGIC && header.readUInt32LE(4) === 4
        return isOurs ? SKIPPABLE_BYTES + header.readUInt32LE(8) : undefined
      }),
  }
}
