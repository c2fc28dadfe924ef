/**
 * Collects the chunks of a body in larger blocks. The server chooses the size of its chunks, and each one that is kept
 * costs some hundred bytes: 8 MiB in chunks of one byte took more than a gigabyte. In blocks they take their own size, and
 * twice that while the blocks are joined.
 */

/** Smaller blocks would cost bookkeeping; larger ones would waste the end of the last block. */
const MIN_BLOCK_BYTES = 16 * 1024
const MAX_BLOCK_BYTES = 256 * 1024

export class BodyBlocks {
  /** All but the last are full. */
  readonly #blocks: Buffer[] = []
  #last: Buffer | undefined
  /** Bytes used of the last block. */
  #used = 0
  #length = 0
  readonly #expected: number

  /** @param expected The announced length of the body, which may be wrong. */
  constructor(expected: number) {
    this.#expected = expected
  }

  add(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) {
      const block = this.#withRoom(piece.length - from)
      const fits = Math.min(piece.length - from, block.length - this.#used)
      block.set(fits === piece.length ? piece : piece.subarray(from, from + fits), this.#used)
      this.#used += fits
      this.#length += fits
      from += fits
    }
  }

  /** The whole body. Nothing may be added afterwards. */
  join(): Uint8Array {
    const rest = this.#last?.subarray(0, this.#used) ?? NO_BYTES
    if (this.#blocks.length <= 1) return rest
    const body = Buffer.allocUnsafeSlow(this.#length)
    let at = 0
    for (const block of this.#blocks) {
      body.set(block === this.#last ? rest : block, at)
      at += block.length
    }
    return body
  }

  /** The last block, or a new one if it is full: as long as the missing bytes if known, or doubling the length so far. */
  #withRoom(wanted: number): Buffer {
    if (this.#last !== undefined && this.#used < this.#last.length) return this.#last
    const missing = this.#expected - this.#length
    const bytes = missing >= wanted ? missing : Math.max(this.#length + wanted, MIN_BLOCK_BYTES)
    this.#last = Buffer.allocUnsafeSlow(Math.min(bytes, MAX_BLOCK_BYTES))
    this.#blocks.push(this.#last)
    this.#used = 0
    return this.#last
  }
}

const NO_BYTES = new Uint8Array(0)
