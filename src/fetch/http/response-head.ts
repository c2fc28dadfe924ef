/**
 * What comes before a body over HTTP/1, brought into the one form that undici's parser takes. RFC 9110 (15.2) has a client
 * pass over interim answers that it did not ask for; undici ends the connection at a `100 Continue`. RFC 9112 (5.2) has
 * it join a header that is folded over several lines, and RFC 9110 (8.6) lets it take a length that is named twice if both
 * are the same; the parser refuses either.
 *
 * Nearly every head needs none of this and is handed on as it came. What does is mended in place, with spaces: they mean
 * nothing at the end of a value.
 */

import type { Socket } from 'node:net'

/** A server may send a few interim answers (103 Early Hints); one that sends nothing else is not answering. */
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
/** What says where the body ends is left to the parser's judgement if it is folded. */
const FRAMING = [CONTENT_LENGTH, 'transfer-encoding']
/** A name, a colon, two numbers of twenty digits and some space. What is longer names no length. */
const LONGEST_LENGTH_LINE = 64

/**
 * Lets undici read from a socket what its parser takes. What is held back of an interim answer has at most `maxBytes`; of
 * more undici sees all, and refuses it.
 */
export function mendHeads<T extends Socket>(socket: T, maxBytes: number, onHeldBack: () => void): T {
  const head = new ResponseHead(maxBytes, onHeldBack)
  const { read, write } = socket
  socket.read = (size?: number) => {
    const came: Buffer | null = read.call(socket, size)
    return came === null ? null : head.mend(came)
  }
  // One request at a time: what is read after it was written begins with a head.
  socket.write = ((...written: Parameters<typeof write>) => {
    head.begin()
    return write.apply(socket, written)
  }) as typeof write
  // A body that ends with the connection is complete unless the connection says that it was cut (RFC 9112, 8). undici
  // takes a reset for such an end; under another name of the same trouble it does not.
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
  /** Bytes that cannot be understood without those that follow them. */
  #held: Buffer | undefined
  /** The beginning of the current line was handed on already. */
  #isInLine = false
  #isFraming = false
  #interim = 0
  /** What the first Content-Length says. */
  #length: number | undefined

  /**
   * @param onHeldBack Called when bytes of a response have arrived and the caller gets none of them: an interim response,
   * or the beginning of a status line.
   */
  constructor(maxBytes: number, onHeldBack: () => void = () => {}) {
    this.#maxBytes = maxBytes
    this.#onHeldBack = onHeldBack
  }

  /** The answer has begun. */
  get isPassed(): boolean {
    return this.#reading !== 'status'
  }

  /** A response is to come. */
  begin(): void {
    this.#reading = 'status'
    this.#held = undefined
    this.#isInLine = false
    this.#interim = 0
    this.#length = undefined
  }

  /** What undici is to read; null if that depends on what follows. */
  mend(came: Buffer): Buffer | null {
    if (this.#reading === 'rest') return came
    let bytes = this.#held === undefined ? came : Buffer.concat([this.#held, came])
    this.#held = undefined
    if (this.#reading === 'status') bytes = this.#withoutInterim(bytes)
    if (this.#reading === 'headers') bytes = this.#withPlainLines(bytes)
    return bytes.length === 0 ? null : bytes
  }

  /** From the first line of the answer itself. */
  #withoutInterim(bytes: Buffer): Buffer {
    let start = 0
    // Nearly always.
    if (bytes.length >= STATUS_END && bytes[0] === CAPITAL_H && bytes[STATUS_AT] !== ONE) {
      this.#reading = 'headers'
      return bytes
    }
    for (;;) {
      // Some servers send an empty line more.
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

  /** With folds joined and equal lengths named once, as far as the lines are complete. */
  #withPlainLines(bytes: Buffer): Buffer {
    let line = this.#isInLine ? -1 : 0
    // An empty line whose predecessor was handed on, or left out.
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

  /** Hands on what lies from `start` to `held`, and keeps the rest for later. */
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

/** Where the line ends whose LF is at `at`. */
function lineEnd(bytes: Buffer, at: number): number {
  return bytes[at - 1] === CR ? at - 1 : at
}

/** Where a line end begins that is the last of these bytes, whole or not; their length if there is none. */
function lastLineEnd(bytes: Buffer): number {
  const last = bytes.length - 1
  if (bytes[last] === LF) return lineEnd(bytes, last)
  return bytes[last] === CR ? last : bytes.length
}

function isLength(bytes: Buffer, line: number, end: number): boolean {
  if (bytes[line + CONTENT_LENGTH.length] !== COLON || end - line > LONGEST_LENGTH_LINE) return false
  return begins(CONTENT_LENGTH, bytes, line, end)
}

/** The number between two places, with space around it; undefined if there is something else. */
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

/** Moves a value to the end of its place, with spaces before it. */
function alignRight(bytes: Buffer, from: number, end: number): void {
  let [start, stop] = [from, end]
  while (start < stop && isBlank(bytes[start])) start++
  while (start < stop && isBlank(bytes[stop - 1])) stop--
  bytes.copyWithin(end - (stop - start), start, stop)
  bytes.fill(SPACE, from, end - (stop - start))
}

/** Whether a line says where the body ends, or may do so once it is complete. */
function isFraming(bytes: Buffer, line: number, end: number): boolean {
  return FRAMING.some((name) => begins(name, bytes, line, end))
}

function begins(name: string, bytes: Buffer, line: number, end: number): boolean {
  return name.startsWith(bytes.toString('latin1', line, Math.min(line + name.length, end)).toLowerCase())
}

/** Where the body begins: after an empty line. Undefined if that is not among these bytes. */
function endOfHead(bytes: Buffer, start: number): number | undefined {
  for (let at = bytes.indexOf(LF, start); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3
  }
  return undefined
}
