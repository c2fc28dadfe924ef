/**
 * The characters of a page as an array of numbers. V8 reads an array element in a fraction of the time of `charCodeAt`,
 * which must find out how the string is stored, and the scanner reads most characters of every tag.
 */

import { endianness } from 'node:os'

/** One number per UTF-16 unit. */
export type Codes = Uint8Array | Uint16Array

/**
 * A page in an encoding that contains ASCII, which is scanned as bytes: markup is ASCII, so only the few texts that are
 * read from it need decoding.
 */
export interface EncodedText {
  /** The text of some bytes. */
  slice(start: number, end: number): string
}

/** The codes of any string. For ASCII pages it is not needed: their bytes are the codes. */
export function codesOf(text: string): Codes {
  const bytes = Buffer.allocUnsafeSlow(2 * text.length)
  bytes.write(text, 'utf16le')
  if (endianness() === 'BE') bytes.swap16()
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
}

/** The string of some codes, stored as one byte per character if possible. */
export function textOf(codes: Uint16Array): string {
  let all = 0
  for (let at = 0; at < codes.length; at++) all |= codes[at]!
  if (all <= 0xff) return Buffer.from(codes).toString('latin1')
  const bytes = Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength)
  if (endianness() === 'BE') bytes.swap16()
  return bytes.toString('utf16le')
}
