/**
 * Gzip data → what is in it, in pieces both ways. Node.js can do that only off the thread, which is welcome:
 * a few kilobytes may hold many megabytes, and the event loop turns between any two pieces of them.
 */

import { createGunzip } from 'node:zlib'

/**
 * Given to zlib at a time. What one portion unpacks to is lost if it is damaged, so it is small; but each
 * costs a trip to another thread.
 */
const PORTION_BYTES = 4096
/** Unpacked and read at a time: well below a millisecond. */
const PIECE_BYTES = 65_536

export type GzipEnd = 'whole' | 'truncated' | 'broken-gzip'

/** Whether data begins as gzip does. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** Never rejects. Each call is to be awaited before the next. */
export class Unpacking {
  readonly #gunzip = createGunzip({ chunkSize: PIECE_BYTES })
  readonly #take: (piece: Uint8Array) => void
  #end: GzipEnd | undefined
  /** Resolves the call that waits. */
  #wake: () => void = () => {}

  /** `take` is handed each piece as it is unpacked. */
  constructor(take: (piece: Uint8Array) => void) {
    this.#take = take
    const ended = (how: GzipEnd) => {
      this.#end ??= how
      this.#wake()
    }
    this.#gunzip
      .on('readable', () => this.#drain())
      .on('end', () => ended('whole'))
      .on('error', (error: NodeJS.ErrnoException) =>
        ended(error.code === 'Z_BUF_ERROR' ? 'truncated' : 'broken-gzip'),
      )
      .on('close', () => ended('truncated'))
  }

  async push(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && this.#end === undefined; at += PORTION_BYTES) {
      const portion = bytes.subarray(at, at + PORTION_BYTES)
      await this.#untilWoken(() => this.#gunzip.write(portion, () => this.#wake()))
      this.#drain()
    }
  }

  async end(): Promise<GzipEnd> {
    if (this.#end === undefined) await this.#untilWoken(() => this.#gunzip.end())
    return this.#end!
  }

  /** Frees what zlib holds. */
  stop(): void {
    this.#gunzip.destroy()
  }

  #untilWoken(start: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      start()
    })
  }

  #drain(): void {
    for (let piece = this.#gunzip.read(); piece !== null; piece = this.#gunzip.read()) this.#take(piece)
  }
}
