/**
 * Decodes a sitemap in chunks. The encoding comes from its byte order mark, the pattern of UTF-16, its XML declaration, or is
 * UTF-8, which the protocol requires.
 */

import { decodeWith } from '../charset/decoders.js'

/** An XML declaration is in these bytes, even after white space. */
const PRESCAN_BYTES = 512
const DECLARED = /<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})["']/i

type Decode = (bytes: Uint8Array, more: boolean) => string

export class SitemapDecoder {
  /** Bytes held back until there are enough to determine the encoding. */
  #head: Uint8Array = new Uint8Array(0)
  #decode: Decode | undefined

  push(bytes: Uint8Array): string {
    if (this.#decode !== undefined) return this.#decode(bytes, true)
    this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes])
    return this.#head.length < PRESCAN_BYTES ? '' : this.#begin(true)
  }

  end(): string {
    return this.#decode === undefined ? this.#begin(false) : this.#decode(new Uint8Array(0), false)
  }

  #begin(more: boolean): string {
    const head = this.#head
    this.#head = new Uint8Array(0)
    this.#decode = decoderFor(head)
    return this.#decode(head, more)
  }
}

function decoderFor(head: Uint8Array): Decode {
  const label = charsetOf(head)
  // Not by Node's decoder, which reads Latin-1 in many versions (see charset/index-tables.ts). One byte is one character,
  // so no state is needed between pieces.
  if (label === 'windows-1252') {
    return (bytes) =>
      decodeWith({ encoding: label }, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }
  const decoder = new TextDecoder(label)
  return (bytes, more) => decoder.decode(bytes, { stream: more })
}

/** As the Encoding Standard names it. */
function charsetOf(head: Uint8Array): string {
  const [first, second] = head
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0 && second !== 0) return 'utf-16be'
  if (first !== 0 && second === 0) return 'utf-16le'
  if (first === 0xef && second === 0xbb) return 'utf-8'
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, PRESCAN_BYTES))
  const label = known(DECLARED.exec(start.toString('latin1'))?.[1])
  // A declaration that could be read as ASCII cannot be true if it says UTF-16.
  return label === undefined || label.startsWith('utf-16') ? 'utf-8' : label
}

function known(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}
