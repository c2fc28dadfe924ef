/** Reads what `packOperations` wrote: arrays of arrays of strings. */
export function unpackOperations(packed: Uint8Array): Buffer[][] {
  const buffer = Buffer.from(packed)
  let at = 0
  const length = () => {
    at += 5
    return buffer.readUInt32BE(at - 4)
  }
  return Array.from({ length: length() }, () =>
    Array.from({ length: length() }, () => {
      const bytes = length()
      at += bytes
      return buffer.subarray(at - bytes, at)
    }),
  )
}
