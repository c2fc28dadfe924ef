/**
 * The bytes of a body that comes in pieces, put together as they arrive. A server chooses its pieces, and a piece that is
 * kept costs some hundred bytes however short it is: 8 MiB in pieces of one byte took more than a gigabyte. Copied into
 * blocks they take what they are, and twice that for the moment in which the blocks become one body.
 */

/** Below this, the bookkeeping for a block would show; above, what the last one leaves empty would. */
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

  /** @param expected How long the body will be, as far as that is known. A server may lie about it. */
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

  /** The body as one. Nothing may be added any more. */
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

  /** The last block, or a new one if it is full: as long as what is still to come, if that is known, or as what came. */
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
