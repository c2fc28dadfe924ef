/**
 * Detects protocol errors that Node reports to the server but not to the program. Node answers an invalid frame with a
 * GOAWAY or RST_STREAM: after the first no event follows, after the second the stream looks as if the server had reset
 * it. So the outgoing frames are read.
 */

import { Duplex } from 'node:stream'

/** The error codes of RFC 9113, section 7, in order. */
const CODES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const

export type Http2Code = (typeof CODES)[number] | `code ${number}`

/** The name of a code, or its number if it has none. */
export function codeName(code: number): Http2Code {
  return CODES[code] ?? `code ${code}`
}

/** The connection preface (RFC 9113, 3.4). */
const PREFACE_BYTES = 24
/** Length (3 bytes), type, flags, stream (4 bytes). */
const FRAME_HEADER_BYTES = 9
const RST_STREAM = 3
const GOAWAY = 7
/** The code of a GOAWAY follows the id of the last stream. */
const GOAWAY_CODE_AT = 4

/** Wraps the socket of Node's HTTP/2 and reads what is written to it. */
export class WatchedSocket extends Duplex {
  readonly #socket: Duplex
  readonly #onGivenUp: (code: Http2Code) => void
  #toSkip = PREFACE_BYTES
  #unread: Buffer = Buffer.alloc(0)
  #lastReset: { readonly stream: number; readonly code: Http2Code } | undefined

  /** @param onGivenUp Called when Node closes the connection with an error. */
  constructor(socket: Duplex, onGivenUp: (code: Http2Code) => void) {
    super()
    this.#socket = socket
    this.#onGivenUp = onGivenUp
    socket
      .on('data', (chunk: Buffer) => {
        if (!this.push(chunk)) socket.pause()
      })
      .on('end', () => this.push(null))
      .on('error', (error: Error) => this.destroy(error))
      .on('close', () => this.destroy())
  }

  /** The code with which Node has reset this stream, if it is the last one that it reset. */
  resetOf(stream: number | undefined): Http2Code | undefined {
    return this.#lastReset !== undefined && this.#lastReset.stream === stream
      ? this.#lastReset.code
      : undefined
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#watch(chunk)
    this.#socket.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  #watch(chunk: Buffer): void {
    const skipped = Math.min(this.#toSkip, chunk.length)
    this.#toSkip -= skipped
    let bytes = Buffer.concat([this.#unread, chunk.subarray(skipped)])
    while (bytes.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + bytes.readUIntBE(0, 3)
      if (bytes.length < end) break
      this.#frame(bytes[3]!, bytes.readUInt32BE(5), bytes.subarray(FRAME_HEADER_BYTES, end))
      bytes = bytes.subarray(end)
    }
    this.#unread = bytes
  }

  #frame(type: number, stream: number, payload: Buffer): void {
    if (type === RST_STREAM) this.#lastReset = { stream, code: codeName(payload.readUInt32BE(0)) }
    if (type !== GOAWAY) return
    const code = codeName(payload.readUInt32BE(GOAWAY_CODE_AT))
    if (code !== 'NO_ERROR') this.#onGivenUp(code)
  }
}
