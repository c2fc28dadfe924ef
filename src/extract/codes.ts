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
