/**
 * The characters of a page as numbers in an array. V8 reads an array's element in a fraction of the time that
 * `charCodeAt` takes to find out how the string is stored, and the scanner asks for most characters of every tag.
 */

import { endianness } from 'node:os'

/** One number for each UTF-16 unit of the page. */
export type Codes = Uint8Array | Uint16Array

/** The codes of any string. Where the page is ASCII its own bytes are the codes, and this is not needed. */
export function codesOf(text: string): Codes {
  const bytes = Buffer.allocUnsafeSlow(2 * text.length)
  bytes.write(text, 'utf16le')
  if (endianness() === 'BE') bytes.swap16()
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
}

/** The string of some codes; of one byte a character where that is enough. */
export function textOf(codes: Uint16Array): string {
  let all = 0
  for (let at = 0; at < codes.length; at++) all |= codes[at]!
  if (all <= 0xff) return Buffer.from(codes).toString('latin1')
  const bytes = Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength)
  if (endianness() === 'BE') bytes.swap16()
  return bytes.toString('utf16le')
}
