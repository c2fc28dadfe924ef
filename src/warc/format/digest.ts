/** Digests as archives write them: SHA-1 in base 32. Other tools find equal payloads by comparing these texts. */

import * as crypto from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** `sha1:` and 32 characters. */
export function sha1(bytes: Uint8Array): string {
  return `sha1:${base32(crypto.hash('sha1', bytes, 'buffer'))}`
}

/** RFC 4648, for lengths that are a multiple of five, as that of SHA-1 is. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i + 4 < bytes.length; i += 5) {
    const high = (bytes[i]! << 12) | (bytes[i + 1]! << 4) | (bytes[i + 2]! >> 4)
    const low = ((bytes[i + 2]! & 15) << 16) | (bytes[i + 3]! << 8) | bytes[i + 4]!
    text +=
      ALPHABET[high >> 15]! +
      ALPHABET[(high >> 10) & 31]! +
      ALPHABET[(high >> 5) & 31]! +
      ALPHABET[high & 31]! +
      ALPHABET[low >> 15]! +
      ALPHABET[(low >> 10) & 31]! +
      ALPHABET[(low >> 5) & 31]! +
      ALPHABET[low & 31]!
  }
  return text
}

/**
 * Whether a digest, as some tool wrote it, is that of the bytes: any algorithm that Node knows, in base 32 or base 16.
 * Undefined if the algorithm is unknown.
 */
export function matchesDigest(digest: string, bytes: Uint8Array): boolean | undefined {
  const [algorithm = '', value = ''] = digest.split(/:(.*)/s)
  const name = algorithm.toLowerCase().replace('-', '')
  if (!crypto.getHashes().includes(name)) return undefined
  const found = crypto.createHash(name).update(bytes).digest()
  if (value.toLowerCase() === found.toString('hex')) return true
  // Padded, if the length of the hash is no multiple of five.
  const padded = Buffer.alloc(Math.ceil(found.length / 5) * 5)
  found.copy(padded)
  const text = base32(padded).slice(0, Math.ceil((found.length * 8) / 5))
  return value.toUpperCase().replace(/=+$/, '') === text
}
