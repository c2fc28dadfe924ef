/**
 * Streaming gunzip. Node.js offers it only asynchronously, which is welcome: a few kilobytes may expand to many megabytes,
 * and the event loop stays free between chunks.
 */

import { createGunzip } from 'node:zlib'

/**
 * Bytes written to zlib at a time. If the data is damaged, the whole input is lost, so it is small; but each one costs a
 * round trip to another thread.
 */
const INPUT_BYTES = 4096
/** Size of an unpacked chunk: reading it takes well below a millisecond. */
const OUTPUT_BYTES = 65_536

export type GzipEnd = 'complete' | 'truncated' | 'broken-gzip'

/** Whether the bytes start with the gzip magic number. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** Never rejects. Await each call before the next. */
export class Gunzip {
  readonly #gunzip = createGunzip({ chunkSize: OUTPUT_BYTES })
  readonly #onChunk: (chunk: Uint8Array) => void
  #end: GzipEnd | undefined
  /** Resolves the pending call. */
  #done: () => void = () => {}

  /** `onChunk` receives each chunk as it is unpacked. */
  constructor(onChunk: (chunk: Uint8Array) => void) {
    this.#onChunk = onChunk
    const ended = (how: GzipEnd) => {
      this.#end ??= how
      this.#done()
    }
    this.#gunzip
      .on('readable', () => this.#drain())
      .on('end', () => ended('complete'))
      .on('error', (error: NodeJS.ErrnoException) =>
        ended(error.code === 'Z_BUF_ERROR' ? 'truncated' : 'broken-gzip'),
      )
      .on('close', () => ended('truncated'))
  }

  async push(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && this.#end === undefined; at += INPUT_BYTES) {
      const input = bytes.subarray(at, at + INPUT_BYTES)
      await this.#untilDone(() => this.#gunzip.write(input, () => this.#done()))
      this.#drain()
    }
  }

  async end(): Promise<GzipEnd> {
    if (this.#end === undefined) await this.#untilDone(() => this.#gunzip.end())
    return this.#end!
  }

  /** Frees zlib's memory. */
  stop(): void {
    this.#gunzip.destroy()
  }

  #untilDone(start: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve
      start()
    })
  }

  #drain(): void {
    for (let chunk = this.#gunzip.read(); chunk !== null; chunk = this.#gunzip.read()) this.#onChunk(chunk)
  }
}
