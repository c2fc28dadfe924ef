/**
 * Undoes content encodings. The output is bounded while it is made, so that a bomb costs the limit and no more;
 * small bodies are inflated on this thread, because the way to the thread pool and back costs more than the work.
 */

import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliDecompress,
  brotliDecompressSync,
  gunzip,
  gunzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib'
import { messageOf } from '../errors.js'
import type { MaybePromise } from '../types.js'
import type { FailureKind } from './failures.js'

/** A decoded body, or why there is none. */
export type Decoded =
  | { readonly ok: true; readonly body: Uint8Array }
  | ({ readonly ok: false } & FailureKind)

/** Larger inputs go to the thread pool. 128 KB of HTML inflate in 1 to 1.3 ms; the way to the pool costs 0.1 ms. */
const MAX_SYNC_INPUT_BYTES = 128 * 1024

/** The sync attempt stops here and is repeated on the pool: 1 MB of output takes about 2 ms. */
const MAX_SYNC_OUTPUT_BYTES = 1024 * 1024

/** A decoder of brotli fills its whole window before it can be stopped: 16 MB take 14 ms, 4 MB less than 5. */
const MAX_SYNC_BROTLI_WINDOW_BITS = 22

/** zlib answers in pieces of this size; the first guess is that text inflates five-fold. */
const EXPECTED_RATIO = 5
const MIN_PIECE_BYTES = 4 * 1024
const MAX_PIECE_BYTES = 64 * 1024
const POOL_PIECE_BYTES = 256 * 1024

/** Two encodings are rare, three are a test; more is an attack on the decoder. */
const MAX_ENCODINGS = 3

/** A message quotes no more of a name that a server made up. */
const MAX_NAME_LENGTH = 40

/** A view may hold on to a quarter more memory than it shows, or to this much; otherwise it is copied. */
const TOLERABLE_WASTE_BYTES = 2 * 1024

type Codec = Readonly<{
  now: (input: Uint8Array, options: ZlibOptions & BrotliOptions) => Buffer
  later: (input: Uint8Array, options: ZlibOptions & BrotliOptions) => Promise<Buffer>
}>

const GZIP: Codec = { now: gunzipSync, later: promisify<Uint8Array, ZlibOptions, Buffer>(gunzip) }
const ZLIB: Codec = { now: inflateSync, later: promisify<Uint8Array, ZlibOptions, Buffer>(inflate) }
const RAW: Codec = { now: inflateRawSync, later: promisify<Uint8Array, ZlibOptions, Buffer>(inflateRaw) }
const BROTLI: Codec = {
  now: brotliDecompressSync,
  later: promisify<Uint8Array, BrotliOptions, Buffer>(brotliDecompress),
}

/**
 * Undoes what a `Content-Encoding` value lists, last first.
 *
 * @param maxBytes The most that may come out, after every step.
 * @returns At once for small bodies, otherwise a promise; it never throws or rejects.
 */
export function decodeBody(
  contentEncoding: string | undefined,
  body: Uint8Array,
  maxBytes: number,
): MaybePromise<Decoded> {
  // Servers label empty bodies too, and nothing at all is not a broken stream.
  if (body.length === 0) return { ok: true, body }
  const encodings = encodingsOf(contentEncoding)
  if (encodings.length > MAX_ENCODINGS) {
    return failed(`sent a body with ${encodings.length} content encodings, more than ${MAX_ENCODINGS}`)
  }
  return undo(encodings, body, maxBytes)
}

function encodingsOf(contentEncoding: string | undefined): string[] {
  if (contentEncoding === undefined) return []
  return contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
}

function undo(encodings: readonly string[], body: Uint8Array, maxBytes: number): MaybePromise<Decoded> {
  if (encodings.length === 0) return { ok: true, body: compact(body) }
  const rest = encodings.slice(0, -1)
  const step = undoOne(encodings[encodings.length - 1]!, body, maxBytes)
  if (step instanceof Promise) {
    return step.then((done) => (done.ok ? undo(rest, done.body, maxBytes) : done))
  }
  return step.ok ? undo(rest, step.body, maxBytes) : step
}

function undoOne(encoding: string, body: Uint8Array, maxBytes: number): MaybePromise<Decoded> {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return inflated(GZIP, encoding, body, maxBytes)
    case 'br':
      return inflated(BROTLI, encoding, body, maxBytes, brotliWindowBits(body) <= MAX_SYNC_BROTLI_WINDOW_BITS)
    case 'deflate':
      return inflated(hasZlibHeader(body) ? ZLIB : RAW, encoding, body, maxBytes)
    default:
      return failed(`sent a body in the unknown content encoding "${encoding.slice(0, MAX_NAME_LENGTH)}"`)
  }
}

function inflated(
  codec: Codec,
  encoding: string,
  body: Uint8Array,
  maxBytes: number,
  quick = true,
): MaybePromise<Decoded> {
  if (!quick || body.length > MAX_SYNC_INPUT_BYTES) return inflatedOnPool(codec, encoding, body, maxBytes)
  const limit = Math.min(maxBytes, MAX_SYNC_OUTPUT_BYTES)
  try {
    const guess = Math.max(MIN_PIECE_BYTES, body.length * EXPECTED_RATIO)
    const options = { chunkSize: Math.min(guess, MAX_PIECE_BYTES), maxOutputLength: limit }
    return { ok: true, body: compact(codec.now(body, options)) }
  } catch (error) {
    if (isTooLarge(error) && limit < maxBytes) return inflatedOnPool(codec, encoding, body, maxBytes)
    return failure(error, encoding, maxBytes)
  }
}

async function inflatedOnPool(
  codec: Codec,
  encoding: string,
  body: Uint8Array,
  maxBytes: number,
): Promise<Decoded> {
  try {
    const options = { chunkSize: POOL_PIECE_BYTES, maxOutputLength: maxBytes }
    return { ok: true, body: compact(await codec.later(body, options)) }
  } catch (error) {
    return failure(error, encoding, maxBytes)
  }
}

function failure(error: unknown, encoding: string, maxBytes: number): Decoded {
  if (isTooLarge(error)) {
    return {
      ok: false,
      code: 'body-too-large',
      what: `sent a body that is larger than ${maxBytes} bytes once its ${encoding} encoding is undone`,
    }
  }
  return failed(`sent a body that is not valid ${encoding} (${messageOf(error)})`)
}

function failed(what: string): Decoded {
  return { ok: false, code: 'decode-failed', what }
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_BUFFER_TOO_LARGE'
}

/** "deflate" means a zlib stream, but many servers send the bare one; the two header bytes tell (RFC 1950). */
function hasZlibHeader(body: Uint8Array): boolean {
  const [method = 0, flags = 0] = body
  return (method & 0x0f) === 8 && method >> 4 <= 7 && ((method << 8) | flags) % 31 === 0
}

/** The base-2 logarithm of the window that the first byte of a brotli stream asks for (RFC 7932, section 9.1). */
function brotliWindowBits(body: Uint8Array): number {
  const first = body[0]!
  if ((first & 1) === 0) return 16
  const wide = (first >> 1) & 7
  return wide === 0 ? 17 : 17 + wide
}

/** The same bytes in memory of about their own size: a view of a larger buffer would keep all of it alive. */
export function compact(bytes: Uint8Array): Uint8Array {
  const waste = bytes.buffer.byteLength - bytes.byteLength
  if (waste <= TOLERABLE_WASTE_BYTES || waste * 4 <= bytes.byteLength) return bytes
  return new Uint8Array(bytes)
}
