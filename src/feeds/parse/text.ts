/**
 * Turns the bytes of a feed into text. Feeds name their encoding in the header and in the XML declaration, and either may be
 * wrong, so that bytes which are valid UTF-8 count more than a name that fits any bytes.
 */

import { isAscii, isUtf8 } from 'node:buffer'
import { byteOrderMark, declaredEncoding } from '../../extract/charset/charset.js'
import { decoderFor, decodeWith } from '../../extract/charset/decoders.js'
import { guessEncoding } from '../../extract/charset/guess.js'
import { charsetOf } from '../../extract/charset/header.js'

/** An XML declaration is at the start, unless a PHP warning or a blank line is before it. */
const DECLARATION_BYTES = 4096
/** Two bytes a character, so any sequence of bytes is valid, and short texts may be valid UTF-8 as well. */
const PAIRED = /^(?:gb|big5|euc|shift_jis|iso-2022)/
const REPLACEMENT = '\ufffd'

/** The text of a feed. Every sequence of bytes results in a text. */
export function feedText(body: Uint8Array, contentType: string | undefined): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const marked = byteOrderMark(bytes)
  if (marked !== undefined) return decodeWith(decoderFor(marked)!, bytes)
  const label = contentType === undefined ? undefined : charsetOf(contentType)
  const named = label === undefined ? undefined : decoderFor(label)?.encoding
  const wide = bytes[0] === 0 || bytes[1] === 0
  const declared = declaredIn(bytes)
  if (!wide && isUtf8(bytes)) {
    const encoding = named ?? declared
    if (encoding === undefined || !PAIRED.test(encoding)) {
      return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8')
    }
  }
  // Of two names, the one that fits.
  for (const encoding of [named, declared]) {
    if (encoding === undefined || (encoding === 'utf-8' && !wide)) continue
    const text = decodeWith(decoderFor(encoding)!, bytes)
    if (!text.includes(REPLACEMENT)) return text
  }
  const encoding = named ?? declared
  const best = encoding === undefined || encoding === 'utf-8' ? guessEncoding(bytes) : encoding
  return decodeWith(decoderFor(isUtf8ExceptAtEnd(bytes) ? 'utf-8' : best)!, bytes)
}

function declaredIn(bytes: Buffer): string | undefined {
  if (bytes[0] === 0 || bytes[1] === 0) return declaredEncoding(bytes, 'text/xml', DECLARATION_BYTES)
  const at = bytes.toString('latin1', 0, DECLARATION_BYTES).indexOf('<?xml')
  return at === -1 ? undefined : declaredEncoding(bytes.subarray(at), 'text/xml', DECLARATION_BYTES)
}

/** A cut may be in the middle of a character. */
function isUtf8ExceptAtEnd(bytes: Buffer): boolean {
  for (let cut = 1; cut <= 3 && cut < bytes.length; cut++) {
    if (isUtf8(bytes.subarray(0, bytes.length - cut))) return true
  }
  return false
}
