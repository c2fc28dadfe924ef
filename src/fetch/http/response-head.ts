/**
 * Rewrites HTTP/1 response heads that undici's parser rejects although clients should accept them. RFC 9110 (15.2) has
 * clients skip unexpected interim responses; undici closes the connection at a `100 Continue`. RFC 9112 (5.2) has them
 * join headers that are folded over several lines, and RFC 9110 (8.6) lets them accept a repeated Content-Length with
 * equal values; the parser rejects both.
 *
 * Nearly every head is passed on unchanged. The others are changed in place.
 */

import type { Socket } from 'node:net'

/** A server may send a few interim responses (103 Early Hints), but must then send a final one. */
export const MAX_INTERIM_RESPONSES = 8

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const ZERO = 0x30
const ONE = 0x31
const NINE = 0x39
const COLON = 0x3a
const CAPITAL_H = 0x48

const STATUS_LINE = 'HTTP/1.'
/** Where the status stands in `HTTP/1.1 100`. */
const STATUS_AT = 9
const STATUS_END = 12
const SWITCHING_PROTOCOLS = '101'

const CONTENT_LENGTH = 'content-length'
/** Headers that determine the length of the body. If they are folded, the parser decides. */
const FRAMING = [CONTENT_LENGTH, 'transfer-encoding']
/** A name, a colon, two numbers of twenty digits and some space. A longer line has no valid length. */
const LONGEST_LENGTH_LINE = 64

/**
 * Rewrites the heads that undici reads from a socket. Up to `maxBytes` of an interim response are held back; a longer one
 * is passed on to undici, which rejects it.
 */
export function mendHeads<T extends Socket>(socket: T, maxBytes: number, onHeldBack: () => void): T {
  const head = new ResponseHead(maxBytes, onHeldBack)
  const { read, write } = socket
  socket.read = (size?: number) => {
    const came: Buffer | null = read.call(socket, size)
    return came === null ? null : head.mend(came)
  }
  // One request at a time: what arrives after a write begins with a head.
  socket.write = ((...written: Parameters<typeof write>) => {
    head.begin()
    return write.apply(socket, written)
  }) as typeof write
  // A body that ends with the connection is incomplete if the connection is reset (RFC 9112, 8). undici treats
  // ECONNRESET as a regular end, but not ECONNABORTED.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET' && head.isPassed) error.code = 'ECONNABORTED'
  })
  return socket
}

/** Exported for its tests. */
export class ResponseHead {
  readonly #maxBytes: number
  readonly #onHeldBack: () => void
  #reading: 'status' | 'headers' | 'rest' = 'rest'
  /** Bytes that can only be interpreted together with those that follow. */
  #held: Buffer | undefined
  /** The beginning of the current line has already been passed on. */
  #isInLine = false
  #isFraming = false
  #interim = 0
  /** The value of the first Content-Length. */
  #length: number | undefined

  /**
   * @param onHeldBack Called when bytes of a response have arrived and the caller gets none of them: an interim response,
   * or the beginning of a status line.
   */
  constructor(maxBytes: number, onHeldBack: () => void = () => {}) {
    this.#maxBytes = maxBytes
    this.#onHeldBack = onHeldBack
  }

  /** The final response has begun. */
  get isPassed(): boolean {
    return this.#reading !== 'status'
  }

  /** Expects a response. */
  begin(): void {
    this.#reading = 'status'
    this.#held = undefined
    this.#isInLine = false
    this.#interim = 0
    this.#length = undefined
  }

  /** What undici should read; null if that depends on the bytes that follow. */
  mend(came: Buffer): Buffer | null {
    if (this.#reading === 'rest') return came
    let bytes = this.#held === undefined ? came : Buffer.concat([this.#held, came])
    this.#held = undefined
    if (this.#reading === 'status') bytes = this.#withoutInterim(bytes)
    if (this.#reading === 'headers') bytes = this.#withPlainLines(bytes)
    return bytes.length === 0 ? null : bytes
  }

  /** Skips interim responses. */
  #withoutInterim(bytes: Buffer): Buffer {
    let start = 0
    // The common case.
    if (bytes.length >= STATUS_END && bytes[0] === CAPITAL_H && bytes[STATUS_AT] !== ONE) {
      this.#reading = 'headers'
      return bytes
    }
    for (;;) {
      // Some servers send an extra empty line.
      while (bytes[start] === CR || bytes[start] === LF) start++
      const status = bytes.toString('latin1', start, start + STATUS_END)
      if (!STATUS_LINE.startsWith(status.slice(0, STATUS_LINE.length))) return this.#leave(bytes, start)
      if (start < bytes.length) this.#onHeldBack()
      if (status.length < STATUS_END) return this.#hold(bytes, start, start)
      const isInterim = bytes[start + STATUS_AT] === ONE && !status.endsWith(SWITCHING_PROTOCOLS)
      if (!isInterim) break
      const end = endOfHead(bytes, start)
      const length = (end ?? bytes.length) - start
      if (length > this.#maxBytes || this.#interim === MAX_INTERIM_RESPONSES) return this.#leave(bytes, start)
      if (end === undefined) return this.#hold(bytes, start, start)
      this.#interim++
      start = end
    }
    this.#reading = 'headers'
    return start === 0 ? bytes : bytes.subarray(start)
  }

  /** Joins folded lines and removes repeated lengths, as far as the lines are complete. */
  #withPlainLines(bytes: Buffer): Buffer {
    let line = this.#isInLine ? -1 : 0
    // An empty line whose predecessor was passed on or removed.
    if (line === 0 && (bytes[0] === CR || bytes[0] === LF)) return this.#leave(bytes, 0)
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== LF) continue
      const next = bytes[at + 1]
      if (next === undefined) break
      if (next === SPACE || next === TAB) {
        if (!(line < 0 ? this.#isFraming : isFraming(bytes, line, at)))
          bytes.fill(SPACE, lineEnd(bytes, at), at + 2)
        continue
      }
      if (line >= 0 && isLength(bytes, line, at) && this.#repeatsLength(bytes, line, lineEnd(bytes, at))) {
        // Removed in place: what precedes the line moves to where it ended.
        const removed = at + 1 - line
        bytes.copyWithin(removed, 0, line)
        bytes = bytes.subarray(removed)
        at = line - 1
      }
      line = at + 1
      this.#isInLine = false
      if (next === CR || next === LF) return this.#leave(bytes, 0)
    }
    if (line >= 0) this.#isFraming = isFraming(bytes, line, bytes.length)
    const isHeld = line >= 0 && this.#isFraming && bytes.length - line <= LONGEST_LENGTH_LINE
    return this.#hold(bytes, 0, isHeld ? line : lastLineEnd(bytes), line)
  }

  /** Reduces a list of equal lengths to one. True if an earlier line has the same length. */
  #repeatsLength(bytes: Buffer, line: number, end: number): boolean {
    const from = line + CONTENT_LENGTH.length + 1
    const length = numberIn(bytes, from, end) ?? onlyOneOf(bytes, from, end)
    // undici 8 takes a space behind the number for a digit.
    if (isBlank(bytes[end - 1])) alignRight(bytes, from, end)
    if (this.#length !== undefined) return this.#length === length
    this.#length = length
    return false
  }

  /** Returns the bytes from `start` to `held`, and keeps the rest for later. */
  #hold(bytes: Buffer, start: number, held: number, line = start): Buffer {
    if (held < bytes.length) this.#held = bytes.subarray(held)
    this.#isInLine = held !== line
    return bytes.subarray(start, held)
  }

  #leave(bytes: Buffer, start: number): Buffer {
    this.#reading = 'rest'
    return start === 0 ? bytes : bytes.subarray(start)
  }
}

/** The end of the line whose LF is at `at`. */
function lineEnd(bytes: Buffer, at: number): number {
  return bytes[at - 1] === CR ? at - 1 : at
}

/** The start of a complete or partial line end at the end of the bytes; their length if there is none. */
function lastLineEnd(bytes: Buffer): number {
  const last = bytes.length - 1
  if (bytes[last] === LF) return lineEnd(bytes, last)
  return bytes[last] === CR ? last : bytes.length
}

function isLength(bytes: Buffer, line: number, end: number): boolean {
  if (bytes[line + CONTENT_LENGTH.length] !== COLON || end - line > LONGEST_LENGTH_LINE) return false
  return begins(CONTENT_LENGTH, bytes, line, end)
}

/** The number between two positions, without surrounding space; undefined if there is anything else. */
function numberIn(bytes: Buffer, from: number, end: number): number | undefined {
  while (isBlank(bytes[from])) from++
  while (isBlank(bytes[end - 1])) end--
  let number = from < end ? 0 : Number.NaN
  for (let at = from; at < end; at++) {
    const digit = bytes[at]!
    if (digit < ZERO || digit > NINE) return undefined
    number = number * 10 + digit - ZERO
  }
  return number
}

/** Reduces a list of equal numbers to the first. */
function onlyOneOf(bytes: Buffer, from: number, end: number): number | undefined {
  const listed = bytes.toString('latin1', from, end)
  const [first, ...others] = listed.split(',').map((value) => value.trim())
  if (others.length === 0 || others.some((other) => other !== first)) return undefined
  bytes.fill(SPACE, from + listed.indexOf(','), end)
  return Number(first)
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}

/** Moves a value to the end of its range, with spaces before it. */
function alignRight(bytes: Buffer, from: number, end: number): void {
  let [start, stop] = [from, end]
  while (start < stop && isBlank(bytes[start])) start++
  while (start < stop && isBlank(bytes[stop - 1])) stop--
  bytes.copyWithin(end - (stop - start), start, stop)
  bytes.fill(SPACE, from, end - (stop - start))
}

/** Whether a line determines the length of the body, or may do so once it is complete. */
function isFraming(bytes: Buffer, line: number, end: number): boolean {
  return FRAMING.some((name) => begins(name, bytes, line, end))
}

function begins(name: string, bytes: Buffer, line: number, end: number): boolean {
  return name.startsWith(bytes.toString('latin1', line, Math.min(line + name.length, end)).toLowerCase())
}

/** The start of the body, after an empty line; undefined if it is not among these bytes. */
function endOfHead(bytes: Buffer, start: number): number | undefined {
  for (let at = bytes.indexOf(LF, start); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3
  }
  return undefined
}
