/**
 * What undici does differently when a response comes over HTTP/2: it hands headers over in another encoding, and knows no
 * limit for them.
 */

import type { FetchContext } from './contract.js'
import { type ResponseOwner, ResponseReader } from './response.js'

/** Reads a response that may come over HTTP/2, with the limits and the spelling that HTTP/1.1 has. */
export class Http2ResponseReader extends ResponseReader {
  readonly #maxHeaderBytes: number

  constructor(
    context: Pick<FetchContext, 'wants' | 'cutsBody'>,
    maxBodyBytes: number,
    owner: ResponseOwner,
    maxHeaderBytes: number,
  ) {
    super(context, maxBodyBytes, owner)
    this.#maxHeaderBytes = maxHeaderBytes
  }

  override onHeaders(status: number, raw: Buffer[], _resume?: () => void, reason?: string): boolean {
    if (sizeOf(raw) > this.#maxHeaderBytes) throw tooLarge()
    // HTTP/2 has no reason phrase. An HTTP/1.1 server that leaves it out too loses nothing.
    return super.onHeaders(status, reason === '' ? raw.map(asSent) : raw)
  }
}

function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

/** undici makes the handler's error the request's, with the code that it uses for HTTP/1.1. */
function tooLarge(): Error {
  return Object.assign(new Error('The headers exceed the limit.'), { code: 'UND_ERR_HEADERS_OVERFLOW' })
}

/** Node reads each byte as a character and undici writes each character as UTF-8, which doubles every é. */
function asSent(part: Buffer): Buffer {
  const text = part.toString('utf8')
  return text.length === part.length || WIDE.test(text) ? part : Buffer.from(text, 'latin1')
}

/** Never the work of undici. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: all single bytes are meant
const WIDE = /[^\x00-\xff]/
