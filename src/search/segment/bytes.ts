/** Bytes that grow, and numbers in as few of them as they need (LEB128). */

/** A buffer that doubles. */
export class ByteWriter {
  bytes: Uint8Array
  length = 0

  constructor(capacity = 1024) {
    this.bytes = new Uint8Array(capacity)
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    const needed = this.length + more
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1)
    this.bytes[this.length++] = value
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    if (this.length + 8 > this.bytes.length) this.reserve(8)
    const { bytes } = this
    let at = this.length
    while (value > 0x7fff_ffff) {
      bytes[at++] = (value % 128) | 0x80
      value = Math.floor(value / 128)
    }
    while (value > 127) {
      bytes[at++] = (value & 127) | 0x80
      value >>>= 7
    }
    bytes[at++] = value
    this.length = at
  }

  append(source: Uint8Array): void {
    this.reserve(source.length)
    this.bytes.set(source, this.length)
    this.length += source.length
  }

  /** A part of other bytes. */
  appendPart(source: Uint8Array, start: number, end: number): void {
    if (end - start > FEW_BYTES) {
      this.append(source.subarray(start, end))
      return
    }
    this.reserve(end - start)
    const { bytes } = this
    let to = this.length
    for (let at = start; at < end; at++) bytes[to++] = source[at]!
    this.length = to
  }

  /** Length in bytes, then the text in UTF-8. */
  text(text: string): void {
    // Most texts are short.
    if (text.length <= FEW_UNITS) {
      this.#short(text)
      return
    }
    if (text.length < 64 && this.#ascii(text)) return
    const encoded = Buffer.from(text, 'utf8')
    this.varint(encoded.length)
    this.append(encoded)
  }

  /** At most 127 bytes, so that their number has one byte and can be written last. */
  #short(text: string): void {
    const { length } = text
    this.reserve(length * 3 + 1)
    const { bytes } = this
    const start = this.length
    let at = start + 1
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < 0x80) bytes[at++] = unit
      else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6)
        bytes[at++] = 0x80 | (unit & 63)
      } else if (unit < 0xd800 || unit > 0xdfff) {
        bytes[at++] = 0xe0 | (unit >> 12)
        bytes[at++] = 0x80 | ((unit >> 6) & 63)
        bytes[at++] = 0x80 | (unit & 63)
      } else {
        // Half of a character, or the first half of one outside the basic plane: both are rare.
        const encoded = Buffer.from(text, 'utf8')
        bytes.set(encoded, start + 1)
        at = start + 1 + encoded.length
        break
      }
    }
    bytes[start] = at - start - 1
    this.length = at
  }

  #ascii(text: string): boolean {
    const { length } = text
    this.reserve(length + 1)
    const { bytes } = this
    let at = this.length
    bytes[at++] = length
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 127) return false
      bytes[at++] = unit
    }
    this.length = at
    return true
  }

  /** What was written so far: a view that the next write may outdate. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }
}

/** Copying fewer bytes one by one is faster than making a view of them. */
const FEW_BYTES = 48
/** Texts of so many units have at most 127 bytes. */
const FEW_UNITS = 42

/** How many bytes `varint` writes. */
export function varintBytes(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  return value < 0x1000_0000 ? 4 : 5
}

/** Reads what a `ByteWriter` wrote. */
export class ByteReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length
  }

  varint(): number {
    const { bytes } = this
    let byte = bytes[this.at++]!
    if (byte < 128) return byte
    let value = byte & 127
    let factor = 128
    do {
      byte = bytes[this.at++]!
      value += (byte & 127) * factor
      factor *= 128
    } while (byte > 127)
    return value
  }

  text(): string {
    const length = this.varint()
    const start = this.at
    this.at += length
    return decodeText(this.bytes, start, this.at)
  }

  take(length: number): Uint8Array {
    const start = this.at
    this.at += length
    return this.bytes.subarray(start, this.at)
  }
}

/** UTF-8 as a string. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start < 24) {
    let text = ''
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!
      if (byte > 127) return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
      text += String.fromCharCode(byte)
    }
    return text
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}

/** A typed array that doubles, for numbers of 32 bits. */
export class NumberList {
  items: Uint32Array
  length = 0

  constructor(capacity = 1024) {
    this.items = new Uint32Array(capacity)
  }

  push(value: number): void {
    if (this.length === this.items.length) {
      const grown = new Uint32Array(this.items.length * 2)
      grown.set(this.items)
      this.items = grown
    }
    this.items[this.length++] = value
  }

  view(): Uint32Array {
    return this.items.subarray(0, this.length)
  }
}

/** The bytes of a typed array. */
export function bytesOf(array: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}
