/**
 * Decodes content encodings. The output is limited while it is produced, so a decompression bomb costs no more than the
 * limit. Small bodies are decoded on this thread, because a trip to the thread pool costs more than the work. The
 * readable beginning of a broken or truncated body is kept: part of a page is better than none.
 */

import { constants as bufferLimits } from 'node:buffer'
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliDecompress,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzip,
  gunzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib'
import { messageOf } from '../../errors.js'
import type { MaybePromise } from '../../types.js'
import type { FailureKind } from './failures.js'

/** A class and not a literal: see docs/decisions/0008. */
class Readable {
  readonly ok = true

  constructor(
    readonly body: Uint8Array,
    readonly truncated: boolean,
  ) {}
}

/** A decoded body, or a failure. */
export type Decoded =
  /** `truncated`: this is only the beginning, because the compression was broken or cut off, or it was too large. */
  | { readonly ok: true; readonly body: Uint8Array; readonly truncated: boolean }
  | ({ readonly ok: false } & FailureKind)

/**
 * Larger inputs go to the thread pool. 128 KB of HTML inflate in 1 to 1.3 ms, 128 KB of empty blocks
 * that are nothing but tables, the slowest input we know, in 15 to 20; the way to the pool costs 0.1 ms.
 */
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

/**
 * A decoder that fails discards what it has read since its last output. To find out how far the input is valid, it is fed
 * in smaller and smaller pieces: five passes find the exact byte, whatever the length.
 */
const SALVAGE_STEPS_BYTES = [Number.POSITIVE_INFINITY, 64 * 1024, 1024, 32, 1]

/** A gzip header is rejected after its second byte (magic) or its fourth (method and flags). */
const GZIP_HEADER_REFUSED = /header|method/
const MAX_SOUND_BYTES_OF_REFUSED_HEADER = 3

/** Two encodings are rare, three are a test; more is an attack on the decoder. */
const MAX_ENCODINGS = 3

/**
 * Registered codings that are not supported here (and `x-compress`, an alias of `compress` in RFC 9110). `zstd` is one of
 * them because Node has it only since 22.15. A name that is not a coding at all (`none`, `UTF-8`, `text/html`) is
 * ignored, as browsers do.
 */
const NOT_UNDONE = new Set([
  'aes128gcm',
  'compress',
  'dcb',
  'dcz',
  'exi',
  'pack200-gzip',
  'x-compress',
  'zstd',
])

/** The supported codings. */
const UNDONE = new Set(['br', 'deflate', 'gzip', 'x-gzip'])

/** A view may keep this much unused memory alive, or a quarter of its size; otherwise it is copied. */
const TOLERABLE_WASTE_BYTES = 2 * 1024

/** The code of zlib's error for output beyond the limit. */
const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE'
const TOO_MUCH = Object.assign(new Error('More came out than is wanted'), { code: TOO_LARGE })

type Options = ZlibOptions & BrotliOptions
type Done = (error: Error | null, output: Buffer) => void

interface Codec {
  readonly now: (input: Uint8Array, options: Options) => Buffer
  readonly later: (input: Uint8Array, options: Options) => Promise<Buffer>
  /** Piece by piece, also on the pool. */
  readonly open: (options: Options) => Transform
}

const codec = (
  now: Codec['now'],
  later: (input: Uint8Array, options: Options, done: Done) => void,
  open: Codec['open'],
): Codec => ({ now, later: promisify(later), open })

const GZIP = codec(gunzipSync, gunzip, createGunzip)
const ZLIB = codec(inflateSync, inflate, createInflate)
const RAW = codec(inflateRawSync, inflateRaw, createInflateRaw)
const BROTLI = codec(brotliDecompressSync, brotliDecompress, createBrotliDecompress)

/**
 * Decodes the codings of a `Content-Encoding` header, last first.
 *
 * @param maxBytes The limit of the output of every step.
 * @param cuts Whether a larger body is truncated instead of rejected.
 * @returns A promise only for large bodies. Never throws or rejects.
 */
export function decodeBody(
  contentEncoding: string | undefined,
  body: Uint8Array,
  maxBytes: number,
  cuts = false,
): MaybePromise<Decoded> {
  // Servers label empty bodies too, and an empty body is not a broken stream.
  if (body.length === 0) return whole(body)
  const encodings = encodingsOf(contentEncoding)
  if (encodings.length > MAX_ENCODINGS) {
    return failed(`sent a body with ${encodings.length} content encodings, more than ${MAX_ENCODINGS}`)
  }
  // One reading on this thread is quick, whatever the server made of it; three in a row need not be.
  if (encodings.length > 1) return undoAll(encodings, body, maxBytes, cuts)
  return undo(encodings[0], body, maxBytes, cuts, MAX_SYNC_INPUT_BYTES)
}

function encodingsOf(contentEncoding: string | undefined): string[] {
  if (contentEncoding === undefined) return []
  return contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => UNDONE.has(name) || NOT_UNDONE.has(name))
}

async function undoAll(
  encodings: string[],
  body: Uint8Array,
  maxBytes: number,
  cuts: boolean,
): Promise<Decoded> {
  let result: Decoded = new Readable(body, false)
  for (const encoding of encodings.reverse()) {
    const step: Decoded = await undo(encoding, result.body, maxBytes, cuts, 0)
    if (!step.ok) return step
    result = { ...step, truncated: result.truncated || step.truncated }
  }
  return result
}

function undo(
  encoding: string | undefined,
  body: Uint8Array,
  maxBytes: number,
  cuts: boolean,
  maxSyncBytes: number,
): MaybePromise<Decoded> {
  if (encoding === undefined || body.length === 0) return whole(body)
  const codec = codecOf(encoding, body)
  if (codec === undefined) {
    return failed(
      `sent a body in the content encoding "${encoding}", which was not asked for and cannot be undone`,
    )
  }
  const isQuick = codec !== BROTLI || brotliWindowBits(body) <= MAX_SYNC_BROTLI_WINDOW_BITS
  if (!isQuick || body.length > maxSyncBytes) return inflatedOnPool(codec, encoding, body, maxBytes, cuts)
  return inflatedHere(codec, encoding, body, maxBytes, cuts)
}

function codecOf(encoding: string, body: Uint8Array): Codec | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return GZIP
    case 'br':
      return BROTLI
    case 'deflate':
      return hasZlibHeader(body) ? ZLIB : RAW
    default:
      return undefined
  }
}

function inflatedHere(
  codec: Codec,
  encoding: string,
  body: Uint8Array,
  maxBytes: number,
  cuts: boolean,
): MaybePromise<Decoded> {
  const limit = Math.min(maxBytes, MAX_SYNC_OUTPUT_BYTES)
  try {
    const guess = Math.max(MIN_PIECE_BYTES, body.length * EXPECTED_RATIO)
    const options = { chunkSize: Math.min(guess, MAX_PIECE_BYTES), maxOutputLength: limit }
    return whole(codec.now(body, options))
  } catch (error) {
    if (isTooLarge(error) && limit < maxBytes) return inflatedOnPool(codec, encoding, body, maxBytes, cuts)
    return afterError(error, codec, encoding, body, maxBytes, cuts)
  }
}

async function inflatedOnPool(
  codec: Codec,
  encoding: string,
  body: Uint8Array,
  maxBytes: number,
  cuts: boolean,
): Promise<Decoded> {
  try {
    return whole(await codec.later(body, poolOptions(maxBytes)))
  } catch (error) {
    return afterError(error, codec, encoding, body, maxBytes, cuts)
  }
}

function afterError(
  error: unknown,
  codec: Codec,
  encoding: string,
  body: Uint8Array,
  maxBytes: number,
  cuts: boolean,
): MaybePromise<Decoded> {
  if (isTooLarge(error) && !cuts) return failure(error, encoding, maxBytes)
  return salvaged(codec, encoding, body, maxBytes, cuts)
}

/** zlib rejects a limit above the largest buffer; ours may be infinite. */
function poolOptions(maxBytes: number): Options {
  return { chunkSize: POOL_PIECE_BYTES, maxOutputLength: Math.min(maxBytes, bufferLimits.MAX_LENGTH) }
}

/** The readable beginning of a body that is invalid or too large. */
async function salvaged(
  codec: Codec,
  encoding: string,
  body: Uint8Array,
  maxBytes: number,
  cuts: boolean,
): Promise<Decoded> {
  let reading: Reading = { output: [], soundBytes: 0, error: undefined }
  for (const step of SALVAGE_STEPS_BYTES) {
    reading = await read(codec, body, reading.soundBytes, step, maxBytes)
    if (reading.error === undefined || isTooLarge(reading.error)) break
  }
  const { soundBytes, error } = reading
  if (isTooLarge(error) && !cuts) return failure(error, encoding, maxBytes)
  const output = Buffer.concat(reading.output)
  if (isTooLarge(error)) return new Readable(compact(output), true)
  if (codec === GZIP && (await endsWithMember(body, reading, maxBytes))) return whole(output)
  // Plain text with a wrong label decodes as a few bytes of raw deflate or brotli, which have no header.
  const isChance = (codec === RAW || codec === BROTLI) && error !== undefined && output.length <= soundBytes
  if (output.length === 0 || isChance) return failure(error ?? 'it ends too early', encoding, maxBytes)
  return new Readable(compact(output), true)
}

/** How far an input is sound, what came out of that part, and what is wrong with the next byte, if there is one. */
interface Reading {
  readonly output: readonly Buffer[]
  readonly soundBytes: number
  readonly error: unknown
}

/** Feeds a decoder with `known` bytes, which are sound, and then with `step` bytes at a time until it fails. */
async function read(
  codec: Codec,
  body: Uint8Array,
  known: number,
  step: number,
  maxBytes: number,
): Promise<Reading> {
  const decoder = codec.open({ chunkSize: POOL_PIECE_BYTES })
  const output: Buffer[] = []
  let room = maxBytes
  let soundBytes = 0
  // zlib never calls back for a write that fails; it only emits an event.
  const broken = new Promise<never>((_, reject) => decoder.once('error', reject))
  broken.catch(() => {})
  decoder.on('data', (piece: Buffer) => {
    if (room > 0) output.push(piece.subarray(0, room))
    room -= piece.length
    if (room < 0) decoder.destroy(TOO_MUCH)
  })
  try {
    while (soundBytes < body.length) {
      const end = Math.min(soundBytes < known ? known : soundBytes + step, body.length)
      await Promise.race([written(decoder, body.subarray(soundBytes, end)), broken])
      if (room < 0) throw TOO_MUCH
      soundBytes = end
    }
    return { output, soundBytes, error: undefined }
  } catch (error) {
    return { output, soundBytes, error }
  } finally {
    decoder.destroy()
  }
}

function written(decoder: Transform, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => void decoder.write(piece, () => resolve()))
}

/**
 * Whether all members of a gzip file were read, and only what follows them is invalid. Servers append line ends and error
 * messages; zlib takes anything but zeros for another member.
 */
async function endsWithMember(body: Uint8Array, reading: Reading, maxBytes: number): Promise<boolean> {
  const { soundBytes, error } = reading
  if (error !== undefined) {
    return soundBytes > MAX_SOUND_BYTES_OF_REFUSED_HEADER && GZIP_HEADER_REFUSED.test(messageOf(error))
  }
  // A single byte is too short to be rejected as a header.
  return GZIP.later(body.subarray(0, -1), poolOptions(maxBytes)).then(
    () => true,
    () => false,
  )
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

function whole(body: Uint8Array): Decoded {
  return new Readable(compact(body), false)
}

function failed(what: string): Decoded {
  return { ok: false, code: 'decode-failed', what }
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === TOO_LARGE
}

/** "deflate" means a zlib stream, but many servers send raw deflate. The two header bytes tell them apart (RFC 1950). */
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
