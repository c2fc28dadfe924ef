/**
 * One gzip member for each record, made and found.
 *
 * Node's zlib allocates and clears 256 KB for every call of `gzipSync`. An archive writes two members for each page, so
 * this file keeps one compressor and resets it. Its handle is not part of Node's public interface: if it does not behave
 * as expected, `gzipSync` is used.
 */

import {
  crc32,
  createDeflateRaw,
  createGzip,
  deflateRawSync,
  gunzipSync,
  gzipSync,
  inflateRawSync,
  constants as zlib,
} from 'node:zlib'

/** Writes a member into `output` from `at` on and returns where it ends; there is room for `gzipBound` bytes. */
export type GzipMember = (input: Buffer, length: number, output: Buffer, at: number) => number

/** A member takes at most this many bytes: what does not compress is stored with 5 bytes for each 16 KB block. */
export function gzipBound(length: number): number {
  return length + 5 * (Math.ceil(length / 16_383) + 1) + 64
}

interface Handle {
  writeSync(
    flush: number,
    input: Buffer,
    from: number,
    length: number,
    output: Buffer,
    at: number,
    room: number,
  ): void
}

/** Makes members of one level, with one compressor for all of them. */
export function gzipMembers(level: number): GzipMember {
  const reused = reusedCompressor(level)
  return reused !== undefined && works(reused) ? reused : withGzipSync(level)
}

/** Exported for its tests. */
export function withGzipSync(level: number): GzipMember {
  return (input, length, output, at) => {
    const member = gzipSync(input.subarray(0, length), { level })
    return at + member.copy(output, at)
  }
}

interface Engine {
  readonly _handle?: Handle
  /** Room in the output, and bytes of the input, that the last write has left. */
  readonly _writeState?: Uint32Array
  reset(): void
}

function reusedCompressor(level: number): GzipMember | undefined {
  return reused(createGzip({ level }) as unknown as Engine, zlib.Z_FINISH)
}

function reused(engine: Engine, flush: number): GzipMember | undefined {
  const { _handle: handle, _writeState: left } = engine
  if (typeof handle?.writeSync !== 'function' || !(left instanceof Uint32Array)) return undefined
  return (input, length, output, at) => {
    const room = output.length - at
    handle.writeSync(flush, input, 0, length, output, at, room)
    engine.reset()
    if (left[1] !== 0) throw new Error('a gzip member did not fit into its buffer')
    return at + room - left[0]!
  }
}

/**
 * Writes a member whose first `headBytes` are compressed and whose rest is stored as it is, because it is compressed
 * already and would only cost time.
 */
export type HalfStoredMember = (
  input: Buffer,
  headBytes: number,
  length: number,
  output: Buffer,
  at: number,
) => number

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
const MAX_STORED = 65_535
const [NOT_LAST, LAST] = [0, 1]

/** Makes such members (RFC 1951, 3.2.4; RFC 1952, 2.3). */
export function halfStoredMembers(level: number): HalfStoredMember {
  const deflate = flushed(level)
  return (input, headBytes, length, output, at) => {
    let end = at + GZIP_HEADER.copy(output, at)
    // The flush ends at a whole byte, so that stored blocks can follow.
    end = deflate(input, headBytes, output, end)
    for (let from = headBytes; ; from += MAX_STORED) {
      const size = Math.min(MAX_STORED, length - from)
      const isLast = from + size === length
      output[end] = isLast ? LAST : NOT_LAST
      output.writeUInt16LE(size, end + 1)
      output.writeUInt16LE(~size & MAX_STORED, end + 3)
      end += 5 + input.copy(output, end + 5, from, from + size)
      if (isLast) break
    }
    end = output.writeUInt32LE(crc32(input.subarray(0, length)), end)
    return output.writeUInt32LE(length >>> 0, end)
  }
}

/** Deflates without an end, with one compressor if Node allows it. */
function flushed(level: number): GzipMember {
  const kept = reused(createDeflateRaw({ level }) as unknown as Engine, zlib.Z_SYNC_FLUSH)
  const inflates = (deflate: GzipMember) => {
    const text = Buffer.from('WARC/1.1\r\n'.repeat(20))
    const output = Buffer.alloc(gzipBound(text.length))
    return [1, 2].every(() => {
      const end = deflate(text, text.length, output, 0)
      return inflateRawSync(output.subarray(0, end), { finishFlush: zlib.Z_SYNC_FLUSH }).equals(text)
    })
  }
  try {
    if (kept !== undefined && inflates(kept)) return kept
  } catch {
    // Node behaves differently from what is expected.
  }
  return (input, length, output, at) => {
    const bytes = deflateRawSync(input.subarray(0, length), { level, finishFlush: zlib.Z_SYNC_FLUSH })
    return at + bytes.copy(output, at)
  }
}

/** Two members in a row, so that the reset is tried too. */
function works(member: GzipMember): boolean {
  try {
    const text = Buffer.from('WARC/1.1\r\n'.repeat(20))
    const output = Buffer.alloc(2 * gzipBound(text.length))
    const end = member(text, text.length, output, member(text, text.length, output, 0))
    return gunzipSync(output.subarray(0, end)).equals(Buffer.concat([text, text]))
  } catch {
    return false
  }
}

/** A member that was read: its content, and how many bytes it takes. */
export interface ReadMember {
  readonly content: Buffer
  readonly length: number
  /** Absent: it is intact. */
  readonly problem?: string
}

const MAGIC = [0x1f, 0x8b, 0x08] as const
const FIXED_HEAD = 10
const TRAILER = 8
const [HEADER_CRC, EXTRA, NAME, COMMENT] = [2, 4, 8, 16]

export function isGzip(bytes: Uint8Array, at = 0): boolean {
  return MAGIC.every((byte, i) => bytes[at + i] === byte)
}

/**
 * Inflates the member at the beginning of the bytes. `more`: it does not end among them. `too-large`: its content is
 * larger than `maxBytes`. `damaged`: it cannot be read.
 */
export function readMember(bytes: Buffer, maxBytes: number): ReadMember | 'more' | 'too-large' | 'damaged' {
  if (!isGzip(bytes)) return bytes.length < MAGIC.length ? 'more' : 'damaged'
  const start = endOfHeader(bytes)
  if (start === undefined) return 'more'
  try {
    const { buffer, engine } = inflateRawSync(bytes.subarray(start), {
      info: true,
      maxOutputLength: maxBytes,
    } as object) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }
    const end = start + engine.bytesWritten
    if (end + TRAILER > bytes.length) return 'more'
    const member = { content: buffer, length: end + TRAILER }
    const isSound =
      bytes.readUInt32LE(end) === crc32(buffer) && bytes.readUInt32LE(end + 4) === buffer.length >>> 0
    return isSound ? member : { ...member, problem: 'its gzip checksum is wrong' }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'Z_BUF_ERROR') return 'more'
    return code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'damaged'
  }
}

/** What can be inflated of a member that is cut off; empty if nothing can. */
export function beginningOf(bytes: Buffer, maxBytes: number): Buffer {
  const start = isGzip(bytes) ? endOfHeader(bytes) : undefined
  if (start === undefined) return Buffer.alloc(0)
  try {
    return inflateRawSync(bytes.subarray(start), {
      finishFlush: zlib.Z_SYNC_FLUSH,
      maxOutputLength: maxBytes,
    })
  } catch {
    return Buffer.alloc(0)
  }
}

/** Where the compressed data begins (RFC 1952, 2.3); undefined if the header does not end among the bytes. */
function endOfHeader(bytes: Buffer): number | undefined {
  if (bytes.length < FIXED_HEAD) return undefined
  const flags = bytes[3]!
  let at = FIXED_HEAD
  if (flags & EXTRA!) {
    if (at + 2 > bytes.length) return undefined
    at += 2 + bytes.readUInt16LE(at)
  }
  for (const flag of [NAME, COMMENT]) {
    if ((flags & flag!) === 0) continue
    const end = bytes.indexOf(0, at)
    if (end < 0) return undefined
    at = end + 1
  }
  if (flags & HEADER_CRC!) at += 2
  return at < bytes.length ? at : undefined
}
