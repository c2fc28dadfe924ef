/** Bytes that arrive in chunks, of which a reader needs as many at a time as it asks for. */
export class ByteWindow {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  #bytes: Buffer = Buffer.alloc(0)
  #ended = false
  /** Where the window begins in all bytes. */
  offset = 0

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#chunks = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  }

  /** At least `length` bytes, or all that are left. They stay in the window until they are skipped. */
  async fill(length: number): Promise<Buffer> {
    if (this.#bytes.length >= length || this.#ended) return this.#bytes
    const parts: Uint8Array[] = [this.#bytes]
    let size = this.#bytes.length
    while (size < length) {
      const next = await this.#chunks.next()
      if (next.done) {
        this.#ended = true
        break
      }
      parts.push(next.value)
      size += next.value.length
    }
    this.#bytes = parts.length === 2 && parts[0]!.length === 0 ? asBuffer(parts[1]!) : Buffer.concat(parts)
    return this.#bytes
  }

  skip(length: number): void {
    this.#bytes = this.#bytes.subarray(length)
    this.offset += length
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
