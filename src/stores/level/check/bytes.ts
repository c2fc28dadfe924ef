/** Reads numbers and slices from bytes in LevelDB's encoding. Throws on anything that does not fit. */

/** A 64-bit number takes at most ten bytes of seven bits each. */
const HIGHEST_FACTOR = 128 ** 9

export class ByteReader {
  readonly bytes: Uint8Array
  readonly end: number
  at: number

  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.bytes = bytes
    this.at = from
    this.end = to
  }

  get isAtEnd(): boolean {
    return this.at >= this.end
  }

  /** Seven bits per byte, lowest first; the highest bit is set if more follow. */
  varint(): number {
    let value = 0
    for (let factor = 1; factor <= HIGHEST_FACTOR; factor *= 128) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw new Error('a number is too long')
  }

  byte(): number {
    if (this.at >= this.end) throw new Error('unexpected end of data')
    return this.bytes[this.at++]!
  }

  fixed32(): number {
    const { bytes, at } = this
    this.skip(4)
    return uint32(bytes, at)
  }

  fixed64(): number {
    const low = this.fixed32()
    return low + this.fixed32() * 2 ** 32
  }

  /** The next bytes, without copying them. */
  piece(length: number): Uint8Array {
    const from = this.at
    this.skip(length)
    return this.bytes.subarray(from, this.at)
  }

  skip(length: number): void {
    if (length > this.end - this.at) throw new Error('unexpected end of data')
    this.at += length
  }
}

/** Little-endian. */
export function uint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}
