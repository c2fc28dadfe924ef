/** HTTP messages as bytes: what their lines say, and the body without its transfer coding. */

import { endOfHead, joinChunks } from '../../fetch/http/wire.js'
import type { HttpMessage } from '../contract.js'

const START = /^(?:HTTP\/\d(?:\.\d)? (\d{3})|[A-Z][A-Z-]* \S+ HTTP\/\d)/
const CHUNKED = /(?:^|,)\s*chunked\s*$/i

/** Undefined if the bytes are not an HTTP message. A head that does not end is read as far as it goes. */
export function parseHttp(block: Uint8Array): HttpMessage | undefined {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.length)
  const begin = START.exec(bytes.toString('latin1', 0, 256))
  if (begin === null) return undefined
  const end = endOfHead(bytes)
  const bodyAt = end < 0 ? bytes.length : end
  const [start = '', ...lines] = bytes
    .toString('latin1', 0, bodyAt)
    .replace(/\r?\n[ \t]+/g, ' ')
    .trimEnd()
    .split(/\r?\n/)
  const headers = lines.flatMap((line): [string, string][] => {
    const colon = line.indexOf(':')
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).trim()]] : []
  })
  return new ParsedMessage(Number(begin[1] ?? 0), start, headers, bytes.subarray(bodyAt))
}

class ParsedMessage implements HttpMessage {
  readonly #received: Buffer
  #body: Uint8Array | undefined

  constructor(
    readonly status: number,
    readonly start: string,
    readonly headers: HttpMessage['headers'],
    received: Buffer,
  ) {
    this.#received = received
  }

  header(name: string): string | undefined {
    const lines = this.headers.filter(([key]) => key.toLowerCase() === name)
    return lines.length === 0 ? undefined : lines.map(([, value]) => value).join(', ')
  }

  /** Some archives keep the header of a transfer coding whose chunks they have joined. */
  get body(): Uint8Array {
    if (this.#body === undefined) {
      const isChunked = CHUNKED.test(this.header('transfer-encoding') ?? '')
      this.#body = (isChunked ? joinChunks(this.#received)?.body : undefined) ?? this.#received
    }
    return this.#body
  }
}
