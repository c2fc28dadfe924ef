/**
 * Records what goes over a connection, for archives. undici removes chunks, the reason phrase and the protocol of a
 * response, and adds headers to a request, so the bytes are taken from the socket. Connections without a recorder are
 * not touched.
 */

import type { Socket } from 'node:net'
import type { WireExchange } from '../contract.js'

const CR = 0x0d
const LF = 0x0a
const NO_BODY: ReadonlySet<number> = new Set([204, 304])
const CHUNKED = /(?:^|,)[ \t]*chunked[ \t]*$/i
/** A size line with its extensions; longer ones are no size lines. */
const MAX_SIZE_LINE = 1024

/** Keeps the bytes of one request and its response at a time. */
export class WireRecorder {
  #sent: Buffer[] = []
  #received: Buffer[] = []
  /** Of the server, or of the proxy. */
  remoteAddress: string | undefined
  #startedAt = 0

  /** Forgets the last exchange. */
  begin(now: number): void {
    this.#sent = []
    this.#received = []
    this.#startedAt = now
  }

  /** Records the traffic of a socket, before anything else reads it. */
  watch(socket: Socket): void {
    const { read, write } = socket
    this.remoteAddress = socket.remoteAddress
    socket.read = (size?: number) => {
      const came: Buffer | null = read.call(socket, size)
      // A copy, because heads are mended in place.
      if (came !== null) this.#received.push(Buffer.from(came))
      return came
    }
    socket.write = ((...written: Parameters<typeof write>) => {
      const [data, encoding] = written as [string | Uint8Array, unknown]
      this.#sent.push(
        typeof data === 'string'
          ? Buffer.from(data, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
          : Buffer.from(data),
      )
      return write.apply(socket, written)
    }) as typeof write
  }

  /** The exchange; undefined if nothing was recorded, as with HTTP/2. `isComplete`: the response was read to its end. */
  take(now: number, isHead: boolean, isComplete: boolean): WireExchange | undefined {
    const [sent, received] = [join(this.#sent), join(this.#received)]
    const startedAt = this.#startedAt
    this.begin(0)
    const cut = finalResponse(received, isHead)
    if (cut === undefined) return undefined
    return {
      protocol: 'http/1.1',
      request: sent,
      ...cut,
      truncated: !isComplete,
      startedAt,
      durationMs: now - startedAt,
      remoteAddress: this.remoteAddress,
    }
  }
}

function join(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

/** The response without interim ones before it and without what a server sends behind its end. */
function finalResponse(
  bytes: Buffer,
  isHead: boolean,
): Pick<WireExchange, 'response' | 'headBytes' | 'body'> | undefined {
  for (let start = 0; ; ) {
    while (bytes[start] === CR || bytes[start] === LF) start++
    const end = endOfHead(bytes, start)
    if (end < 0) return undefined
    const head = bytes.toString('latin1', start, end)
    const status = Number(/^HTTP\/\d(?:\.\d)?[ \t]+(\d{3})/.exec(head)?.[1] ?? 0)
    if (status >= 100 && status < 200 && status !== 101) {
      start = end
      continue
    }
    const headBytes = end - start
    const rest = bytes.subarray(end)
    if (isHead || NO_BODY.has(status))
      return { response: bytes.subarray(start, end), headBytes, body: rest.subarray(0, 0) }
    if (CHUNKED.test(lastValue(head, 'transfer-encoding'))) {
      const chunks = joinChunks(rest)
      if (chunks !== undefined)
        return { response: bytes.subarray(start, end + chunks.end), headBytes, body: chunks.body }
    }
    const length = /^\d+/.exec(lastValue(head, 'content-length'))
    const body = length === null ? rest : rest.subarray(0, Number(length[0]))
    return { response: bytes.subarray(start, end + body.length), headBytes, body }
  }
}

function lastValue(head: string, name: string): string {
  const lines = [...head.matchAll(new RegExp(`^${name}[ \\t]*:[ \\t]*(.*?)[ \\t]*\\r?$`, 'gim'))]
  return lines.at(-1)?.[1] ?? ''
}

/** Where the body begins, after an empty line; -1 if the head does not end. */
export function endOfHead(bytes: Uint8Array, from = 0): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3
  }
  return -1
}

/** The body in chunks, joined, and where the last chunk ends. Undefined if the bytes do not begin with a chunk. */
export function joinChunks(
  bytes: Buffer,
): { readonly body: Buffer; readonly end: number; readonly isComplete: boolean } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const eol = bytes.indexOf(LF, at)
    const line = eol < 0 || eol - at > MAX_SIZE_LINE ? '' : bytes.toString('latin1', at, eol)
    const size = /^\s*([\da-f]{1,12})\s*(?:;[\s\S]*)?$/i.exec(line)?.[1]
    if (size === undefined) {
      return at === 0 ? undefined : { body: join(parts), end: at, isComplete: false }
    }
    const length = Number.parseInt(size, 16)
    const start = eol + 1
    if (length === 0) return { body: join(parts), ...endOfTrailers(bytes, start) }
    parts.push(bytes.subarray(start, start + length))
    at = start + length
    if (at >= bytes.length) return { body: join(parts), end: bytes.length, isComplete: false }
    if (bytes[at] === CR) at++
    if (bytes[at] === LF) at++
  }
}

function endOfTrailers(bytes: Buffer, from: number): { readonly end: number; readonly isComplete: boolean } {
  for (let at = from; ; ) {
    const eol = bytes.indexOf(LF, at)
    if (eol < 0) return { end: bytes.length, isComplete: false }
    if (eol === at || (eol === at + 1 && bytes[at] === CR)) return { end: eol + 1, isComplete: true }
    at = eol + 1
  }
}

/** What an exchange over HTTP/2 would have been in HTTP/1.1. Header names are in lower case there. */
export function writtenOut(
  request: {
    readonly method: string
    readonly path: string
    readonly host: string
    readonly body: Buffer | null
  },
  sent: readonly string[],
  status: number,
  headers: Iterable<readonly [name: string, value: string]>,
  body: Uint8Array,
): Pick<WireExchange, 'request' | 'response' | 'headBytes' | 'body'> {
  const lines = [`${request.method} ${request.path} HTTP/1.1`, `host: ${request.host}`]
  for (let i = 0; i + 1 < sent.length; i += 2) lines.push(`${sent[i]}: ${sent[i + 1]}`)
  const received = [`HTTP/1.1 ${status} `, ...[...headers].map(([name, value]) => `${name}: ${value}`)]
  const head = bytesOf(received)
  return {
    request: Buffer.concat([bytesOf(lines), request.body ?? Buffer.alloc(0)]),
    response: Buffer.concat([head, body]),
    headBytes: head.length,
    body,
  }
}

function bytesOf(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
