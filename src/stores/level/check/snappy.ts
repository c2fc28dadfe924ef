import { ByteReader } from './bytes.js'

/** The lowest two bits of an element give its kind: literal bytes, or a copy with an offset of 1, 2 or 4 bytes. */
const LITERAL = 0
const NEAR_COPY = 1
const MIDDLE_COPY = 2
/** A literal up to this length has its length in the first byte; for a longer one, one to four length bytes follow. */
const SHORT_LITERAL = 60
/** No block of LevelDB is larger. */
const MOST_BYTES = 2 ** 30

/** Decompresses Snappy data, as used in LevelDB's blocks: github.com/google/snappy, format_description.txt. */
export function unsnappy(packed: Uint8Array): Uint8Array {
  const reader = new ByteReader(packed)
  const length = reader.varint()
  if (length > MOST_BYTES) throw new Error('its length is impossible')
  const out = new Uint8Array(length)
  let at = 0
  const put = (bytes: Uint8Array) => {
    if (bytes.length > length - at) throw new Error('it is longer than it says')
    out.set(bytes, at)
    at += bytes.length
  }
  while (!reader.isAtEnd) {
    const tag = reader.byte()
    const kind = tag & 3
    if (kind === LITERAL) {
      put(reader.piece(1 + literalLength(tag >>> 2, reader)))
      continue
    }
    const isNear = kind === NEAR_COPY
    const count = isNear ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2)
    const offset = isNear
      ? ((tag >>> 5) << 8) | reader.byte()
      : littleEndian(reader, kind === MIDDLE_COPY ? 2 : 4)
    if (offset === 0 || offset > at || count > length - at)
      throw new Error('it copies from outside of its output')
    // Byte by byte: a copy may overlap its own output.
    for (const end = at + count; at < end; at++) out[at] = out[at - offset]!
  }
  if (at !== length) throw new Error('it is shorter than it says')
  return out
}

function literalLength(first: number, reader: ByteReader): number {
  return first < SHORT_LITERAL ? first : littleEndian(reader, first - SHORT_LITERAL + 1)
}

function littleEndian(reader: ByteReader, bytes: number): number {
  let value = 0
  for (let i = 0; i < bytes; i++) value += reader.byte() * 256 ** i
  return value
}
