/** The operations of a commit, and how they are packed: one MessagePack array, which the script unpacks in C. */

/** `[command, key without its prefix, …arguments]`, or one of the script's own: `mail`, `take`, `give`, `work`, `done`. */
export type Operation = readonly [what: string, key: string, ...rest: (string | Uint8Array)[]]

/** More than Lua's `unpack` can take would fail in the middle of a commit. */
export const MOST_ARGUMENTS = 900

const ARRAY_32 = 0xdd
const STRING_32 = 0xdb

/** Packs an array of arrays of strings and bytes. */
export function packOperations(operations: readonly Operation[]): Buffer {
  const buffer = Buffer.allocUnsafe(packedLength(operations))
  let at = writeHead(buffer, 0, ARRAY_32, operations.length)
  for (const operation of operations) {
    at = writeHead(buffer, at, ARRAY_32, operation.length)
    for (const part of operation) {
      const start = at + HEAD_BYTES
      const length =
        typeof part === 'string' ? buffer.write(part, start, 'utf8') : copyTo(buffer, start, part)
      at = writeHead(buffer, at, STRING_32, length) + length
    }
  }
  return buffer.subarray(0, at)
}

/** Bytes that one part of an operation takes beside its own. */
const HEAD_BYTES = 5
/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const MOST_BYTES_PER_CHARACTER = 3

function packedLength(operations: readonly Operation[]): number {
  let bytes = HEAD_BYTES
  for (const operation of operations) {
    bytes += HEAD_BYTES
    for (const part of operation) {
      bytes +=
        HEAD_BYTES + (typeof part === 'string' ? part.length * MOST_BYTES_PER_CHARACTER : part.byteLength)
    }
  }
  return bytes
}

function writeHead(buffer: Buffer, at: number, kind: number, length: number): number {
  buffer[at] = kind
  buffer.writeUInt32BE(length, at + 1)
  return at + HEAD_BYTES
}

function copyTo(buffer: Buffer, at: number, bytes: Uint8Array): number {
  buffer.set(bytes, at)
  return bytes.byteLength
}
