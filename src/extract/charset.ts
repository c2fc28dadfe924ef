/**
 * Bytes → text. The simple cases: byte order mark, then the charset of Content-Type, then what the markup declares in
 * its first kilobyte, then UTF-8 if the bytes are valid UTF-8, then windows-1252 as browsers do.
 */

import { isAscii, isUtf8 } from 'node:buffer'
import { WINDOWS_1252 } from './entities.js'

/** Where browsers look for a declaration in the markup. */
const PRESCAN_BYTES = 1024
const DECLARED =
  /<meta\s[^>]*charset\s*=\s*["']?\s*([\w:.-]+)|^\s*<\?xml\s[^>]*encoding\s*=\s*["']([\w:.-]+)/i

export interface DecodedText {
  readonly text: string
  /** As the Encoding Standard names it, e.g. `utf-8`. */
  readonly charset: string
  /** True if every byte is one ASCII character, so that the bytes are the codes of the text. */
  readonly ascii: boolean
}

export function decodeBytes(body: Uint8Array, contentType: string | undefined): DecodedText {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const marked = byteOrderMark(bytes)
  if (marked !== undefined) return decodeAs(bytes, marked)
  const declared = known(headerCharset(contentType)) ?? known(markupCharset(bytes))
  if (declared !== undefined) return decodeAs(bytes, declared)
  return isUtf8(bytes) ? decodeAs(bytes, 'utf-8') : decodeAs(bytes, 'windows-1252')
}

function decodeAs(bytes: Buffer, charset: string): DecodedText {
  const decoder = decoderFor(charset)!
  const { encoding } = decoder
  if (encoding === 'utf-8' && isAscii(bytes))
    return { text: bytes.toString('latin1'), charset: encoding, ascii: true }
  const text = encoding === 'windows-1252' ? fromWindows1252(bytes) : decoder.decode(bytes)
  return { text, charset: encoding, ascii: false }
}

/**
 * Node's own decoder takes windows-1252 for Latin-1 in many versions (20.18.3 to 24.x), and turns quotation marks,
 * dashes and the euro sign into control characters.
 */
function fromWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80]!)
}

function byteOrderMark(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return undefined
}

function headerCharset(contentType: string | undefined): string | undefined {
  const at = contentType?.toLowerCase().indexOf('charset=') ?? -1
  if (at < 0) return undefined
  return /^["']?\s*([\w:.-]+)/.exec(contentType!.slice(at + 'charset='.length))?.[1]
}

function markupCharset(bytes: Buffer): string | undefined {
  const match = DECLARED.exec(bytes.toString('latin1', 0, PRESCAN_BYTES))
  const charset = match?.[1] ?? match?.[2]
  // A declaration that could be read as ASCII cannot be true if it says UTF-16.
  return charset !== undefined && /^utf-16/i.test(charset) ? 'utf-8' : charset
}

/** A label that names no encoding says nothing, and the next declaration is asked. */
function known(label: string | undefined): string | undefined {
  return label !== undefined && decoderFor(label) !== undefined ? label : undefined
}

/** By label as written. There are some 220 valid labels; the bound is for invented ones. */
const decoders = new Map<string, TextDecoder | undefined>()
const LABELS_REMEMBERED = 1000

function decoderFor(label: string): TextDecoder | undefined {
  if (decoders.has(label)) return decoders.get(label)
  let decoder: TextDecoder | undefined
  try {
    decoder = new TextDecoder(label)
  } catch {
    // Not a name of any encoding.
  }
  if (decoders.size < LABELS_REMEMBERED) decoders.set(label, decoder)
  return decoder
}
