/**
 * HTTP/2, one request at a time, for connections on which the server negotiates it. undici opens the connections and
 * speaks HTTP/1.1. Its own HTTP/2 treats a reset stream as a complete page, ends a response at a graceful GOAWAY, and
 * waits for ever after Node has closed a session, so this file uses node:http2 instead.
 */

import { EventEmitter } from 'node:events'
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { messageOf } from '../../../errors.js'
import { Http2Error } from '../access/failures.js'
import { CLOSED, type FailureKind } from '../failures.js'
import { CurrentHandler, type ResponseHandler, type ResponseListener } from '../undici/handlers.js'
import { codeName, type Http2Code, WatchedSocket } from './frames.js'

/** undici's defaults: how much of a body a server may send before it is acknowledged. */
const STREAM_WINDOW_BYTES = 256 * 1024
const SESSION_WINDOW_BYTES = 512 * 1024

/** Passed to undici instead of a socket. It has no `code`, so that undici does not reconnect. */
const SPEAKS_HTTP2 = new Error('The server speaks HTTP/2.')

/** A client for one origin, with at most one socket, that speaks the protocol that the server chooses. */
export class NegotiatingClient extends EventEmitter {
  readonly #http1: Client
  readonly #origin: string
  readonly #maxHeaderBytes: number
  #session: Session | undefined
  destroyed = false

  /** @param http1 Creates undici's client, which connects with the connector. */
  constructor(
    origin: string,
    connect: buildConnector.connector,
    http1: (connect: buildConnector.connector) => Client,
    maxHeaderBytes: number,
  ) {
    super()
    this.#origin = origin
    this.#maxHeaderBytes = maxHeaderBytes
    this.#http1 = http1((options, callback) =>
      connect(options, (error, socket) => {
        if (error !== null) callback(error, null)
        else if ((socket as TLSSocket).alpnProtocol !== 'h2') callback(null, socket!)
        else {
          this.#open(socket as TLSSocket)
          callback(SPEAKS_HTTP2, null)
        }
      }),
    ).on('disconnect', () => this.emit('disconnect', this.#origin, [this]))
  }

  dispatch(options: Dispatcher.DispatchOptions, { listener }: ResponseHandler): boolean {
    const ask = () => this.#session!.ask(options, listener)
    if (this.#session?.isOpen) ask()
    else this.#http1.dispatch(options, new CurrentHandler(new Negotiation(listener, ask)))
    return true
  }

  close(): Promise<void> {
    return this.destroy()
  }

  destroy(..._: unknown[]): Promise<void> {
    this.destroyed = true
    this.#session?.end()
    return this.#http1.destroy()
  }

  #open(socket: TLSSocket): void {
    if (this.destroyed) {
      socket.destroy()
      return
    }
    const session = new Session(this.#origin, socket, this.#maxHeaderBytes, () => {
      if (this.#session === session) this.emit('disconnect', this.#origin, [this])
    })
    this.#session = session
  }
}

/** Passes undici's events on, until undici reports that the server speaks HTTP/2. */
class Negotiation implements ResponseListener {
  readonly #listener: ResponseListener
  readonly #askOverHttp2: () => void

  constructor(listener: ResponseListener, askOverHttp2: () => void) {
    this.#listener = listener
    this.#askOverHttp2 = askOverHttp2
  }

  onRequestStart(): void {
    this.#listener.onRequestStart()
  }

  onFirstBytes(): void {
    this.#listener.onFirstBytes()
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): void {
    this.#listener.onHeaders(status, rawHeaders, resume)
  }

  onData(chunk: Buffer): boolean {
    return this.#listener.onData(chunk)
  }

  onEnd(): void {
    this.#listener.onEnd()
  }

  onError(error: Error): void {
    if (error === SPEAKS_HTTP2) this.#askOverHttp2()
    else this.#listener.onError(error)
  }
}

/** One connection. */
class Session {
  readonly #socket: TLSSocket
  readonly #watched: WatchedSocket
  readonly #session: ClientHttp2Session
  readonly #maxHeaderBytes: number
  #exchange: Exchange | undefined
  /** The code of the server's GOAWAY. */
  #ended: Http2Code = 'NO_ERROR'

  constructor(origin: string, socket: TLSSocket, maxHeaderBytes: number, onClose: () => void) {
    const { connect } = process.getBuiltinModule('node:http2')
    this.#socket = socket
    this.#maxHeaderBytes = maxHeaderBytes
    this.#watched = new WatchedSocket(socket, (code) => {
      // Node sends this code for its own errors, and the event that follows has details.
      if (code !== 'INTERNAL_ERROR') this.#giveUp(broken(code))
    })
    this.#session = connect(origin, {
      createConnection: () => this.#watched,
      // A header takes at least one byte, so this limit never applies before the one in bytes.
      maxHeaderListPairs: maxHeaderBytes,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    })
      .once('connect', (session) => {
        // The request may have been given up before.
        if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW_BYTES)
      })
      .on('goaway', (code) => {
        this.#ended = codeName(code)
      })
      .on('error', (error) => this.#giveUp(this.#whyEnded(error)))
      .on('close', () => {
        this.#giveUp(this.#whyEnded())
        onClose()
      })
  }

  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  ask(options: Dispatcher.DispatchOptions, listener: ResponseListener): void {
    this.#socket.ref()
    const exchange = new Exchange(listener, this.#maxHeaderBytes, () => this.#socket.unref())
    this.#exchange = exchange
    listener.onRequestStart()
    try {
      const body = options.body as Buffer | null
      const stream = this.#session.request(requestHeaders(options), { endStream: body === null })
      exchange.follow(stream, (said) => this.#whyReset(stream, said))
      if (body !== null) stream.end(body)
    } catch (error) {
      exchange.fail(new Http2Error(lost(`did not accept the request (${messageOf(error)})`), true))
    }
  }

  end(): void {
    this.#giveUp(new Http2Error(CLOSED))
  }

  #giveUp(error: Http2Error): void {
    this.#exchange?.fail(error)
    // First, so that the server sees the connection close and does not finish its response.
    this.#socket.destroy()
    this.#session.destroy()
  }

  #whyReset(stream: ClientHttp2Stream, said: Error | undefined): Http2Error {
    const ours = this.#watched.resetOf(stream.id)
    if (ours !== undefined) return broken(ours)
    if (this.#session.destroyed) return this.#whyEnded(said)
    const code = codeName(stream.rstCode ?? 0)
    // A refused stream was not processed (RFC 9113, 8.7).
    return new Http2Error(lost(`reset the stream (${code})`), code === 'REFUSED_STREAM')
  }

  #whyEnded(said?: NodeJS.ErrnoException): Http2Error {
    if (this.#ended !== 'NO_ERROR') return new Http2Error(lost(`ended the connection (${this.#ended})`))
    if (said?.code !== 'ERR_HTTP2_ERROR') return new Http2Error(lost('closed the connection'), true)
    // Headers may continue over any number of frames, so Node limits those as well.
    return /CONTINUATION/.test(said.message) ? new Http2Error(TOO_MANY_HEADERS) : broken(said.message)
  }
}

/** One request and its response. */
class Exchange {
  readonly #listener: ResponseListener
  readonly #maxHeaderBytes: number
  readonly #onEnd: () => void
  #isOver = false

  constructor(listener: ResponseListener, maxHeaderBytes: number, onEnd: () => void) {
    this.#listener = listener
    this.#maxHeaderBytes = maxHeaderBytes
    this.#onEnd = onEnd
  }

  /** @param whyReset The error if the stream closes before the response is complete. */
  follow(stream: ClientHttp2Stream, whyReset: (said: Error | undefined) => Http2Error): void {
    let isWhole = false
    let said: Error | undefined
    // Node ends a reset stream just like a complete one. Only the order differs: a reset closes the stream first.
    const push = stream.push
    stream.push = (chunk, encoding) => {
      if (chunk === null && !stream.closed) isWhole = true
      return push.call(stream, chunk, encoding)
    }
    stream
      .on('headers', (headers) => {
        this.#listener.onFirstBytes()
        this.#headers(Number(headers[':status']), [], () => stream.resume())
      })
      .on('response', (headers, _flags, ...[raw]: unknown[]) => {
        this.#listener.onFirstBytes()
        this.#headers(Number(headers[':status']), raw as string[], () => stream.resume())
        // Not earlier: data must not arrive before the headers.
        stream.on('data', (chunk: Buffer) => {
          if (!this.#isOver && !this.#listener.onData(chunk)) stream.pause()
        })
      })
      .on('end', () => {
        if (isWhole) this.#end(() => this.#listener.onEnd())
      })
      .on('error', (error) => {
        said = error
      })
      .on('close', () => this.fail(whyReset(said)))
  }

  fail(error: Error): void {
    this.#end(() => this.#listener.onError(error))
  }

  #headers(status: number, raw: string[], resume: () => void): void {
    if (this.#isOver) return
    const headers: Buffer[] = []
    let bytes = 0
    for (let i = 0; i < raw.length; i += 2) {
      if (raw[i]!.startsWith(':')) continue
      // Node decodes headers as Latin-1.
      headers.push(Buffer.from(raw[i]!, 'latin1'), Buffer.from(raw[i + 1]!, 'latin1'))
      bytes += raw[i]!.length + raw[i + 1]!.length
    }
    if (bytes > this.#maxHeaderBytes) {
      this.fail(new Http2Error(TOO_MANY_HEADERS))
      return
    }
    try {
      this.#listener.onHeaders(status, headers, resume)
    } catch (error) {
      this.fail(error as Error)
    }
  }

  #end(tell: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onEnd()
    tell()
  }
}

const TOO_MANY_HEADERS: FailureKind = {
  code: 'headers-too-large',
  what: 'sent more headers than the limit allows',
}

function lost(what: string): FailureKind {
  return { code: 'connection-lost', what: `${what} before the response was complete` }
}

/** The error for invalid frames, or for more headers than Node accepts. */
function broken(code: string): Http2Error {
  if (code === 'ENHANCE_YOUR_CALM') return new Http2Error(TOO_MANY_HEADERS)
  return new Http2Error({ code: 'bad-response', what: `sent invalid HTTP/2 (${code})` })
}

/** Methods that announce their content even if it is empty (RFC 9110, 8.6). */
const EXPECTS_CONTENT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Headers are a flat list, or an object with `host` if they come through undici's ProxyAgent. */
function requestHeaders(options: Dispatcher.DispatchOptions): OutgoingHttpHeaders {
  const { origin, path, method, headers } = options
  const body = options.body as Buffer | null
  const given = Array.isArray(headers) ? pairsOf(headers as string[]) : Object.entries(headers ?? {})
  const sent: OutgoingHttpHeaders = {
    ':method': method,
    ':scheme': 'https',
    ':authority': new URL(origin!).host,
    ':path': path,
  }
  for (const [name, value] of given) if (name !== 'host') sent[name] = value as string
  if (body !== null || EXPECTS_CONTENT.has(method)) sent['content-length'] = String(body?.byteLength ?? 0)
  return sent
}

function* pairsOf(flat: readonly string[]): Generator<[name: string, value: string]> {
  for (let i = 0; i + 1 < flat.length; i += 2) yield [flat[i]!, flat[i + 1]!]
}
