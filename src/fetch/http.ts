/**
 * The fetcher that crawls use by default: HTTP/1.1 GET on undici, one request for each call, every limit enforced
 * while bytes arrive. It knows no time: the engine holds the deadline and says so through `context.onAbort`.
 */

import { KumoError } from '../errors.js'
import type { CrawlRequest, FailureCode } from '../types.js'
import { type Borrower, type Connection, Connections, type Ticket } from './connections.js'
import type { FetchContext, Fetcher, FetchFailure, Outcome } from './contract.js'
import { type Decoded, decodeBody } from './decode.js'
import { CLOSED, type FailureKind } from './failures.js'
import { requestHeaders } from './headers.js'
import { type ResponseOwner, ResponseReader } from './response.js'

export interface HttpFetcherOptions {
  /** Sent with every request. Its product name is also what robots.txt groups are matched with. */
  readonly userAgent: string
  /** More headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Most bytes of a body, on the wire and decoded. Default 8 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Most bytes of header names and values in a response. Default 32 KiB. */
  readonly maxHeaderBytes?: number | undefined
  /** Most connections to one origin. Default 1. */
  readonly connectionsPerHost?: number | undefined
  /** Most connections over all hosts, idle ones included. Requests beyond wait for one. Default 1,000. */
  readonly maxConnections?: number | undefined
  /** How long an idle connection is kept, if the server does not ask for less. Default 10 s. */
  readonly keepAliveMs?: number | undefined
  /** How long a connection may take to be made. Default 30 s. */
  readonly connectTimeoutMs?: number | undefined
}

export interface HttpFetcher extends Fetcher {
  fetch(request: CrawlRequest, context: FetchContext): Promise<Outcome>
  /** Gives up what is in flight and resolves when every socket is gone. A later `fetch` fails with `aborted`. */
  close(): Promise<void>
  readonly stats: { readonly openConnections: number }
}

/** Where a crawl has an option of the same meaning, its default is the same; a test compares them. */
export const HTTP_DEFAULTS = {
  headers: {},
  maxBodyBytes: 8 * 1024 * 1024,
  /** Twice what Node accepts: large cookies and policies are common on the web. */
  maxHeaderBytes: 32 * 1024,
  connectionsPerHost: 1,
  /** Below the 1,024 open files that many systems allow a process. */
  maxConnections: 1000,
  /** Longer than the usual pause between two visits to a host, so that the second finds the connection. */
  keepAliveMs: 10_000,
  connectTimeoutMs: 30_000,
}

/**
 * Makes a fetcher. undici is loaded at the first fetch, so that importing the library stays cheap.
 *
 * @example
 * const fetcher = httpFetcher({ userAgent: 'Example/1.0 (+https://example.com/bot)' })
 * const outcome = await fetcher.fetch(request, context)
 * await fetcher.close()
 *
 * @throws KumoError `KUMO_INVALID_OPTION` for an unknown or missing option, and for a header that cannot be sent.
 */
export function httpFetcher(options: HttpFetcherOptions): HttpFetcher {
  checkOptions(options)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const settings = { ...HTTP_DEFAULTS, ...Object.fromEntries(given) } as Required<typeof HTTP_DEFAULTS>
  const headers = requestHeaders(options.userAgent, settings.headers)
  let connections: Connections | undefined
  let loading: Promise<void> | undefined
  let closing: Promise<void> | undefined

  const load = async () => {
    connections = new Connections(await import('undici'), settings)
  }
  const close = async () => {
    await loading
    await connections?.close()
  }
  return {
    fetch(request, context) {
      return new Promise((resolve, reject) => {
        const call = new Call(request, context, settings.maxBodyBytes, headers, resolve)
        if (context.aborted) return call.abort()
        if (closing) return call.refused(CLOSED)
        context.onAbort = () => call.abort()
        if (connections) return call.start(connections)
        loading ??= load()
        loading.then(() => call.start(connections!)).catch(reject)
      })
    },
    close() {
      closing ??= close()
      return closing
    },
    stats: {
      get openConnections() {
        return connections?.openSockets ?? 0
      },
    },
  }
}

/** A misspelt limit must not pass for one that was left out. */
function checkOptions(options: unknown): void {
  const known = ['userAgent', ...Object.keys(HTTP_DEFAULTS)]
  if (typeof options !== 'object' || options === null) {
    throw invalid(`httpFetcher: got ${String(options)}; allowed: { ${known.join(', ')} }`)
  }
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key))
      throw invalid(`httpFetcher: got '${key}'; allowed: the keys ${known.join(', ')}`)
    const isLimit = key !== 'userAgent' && key !== 'headers'
    if (isLimit && value !== undefined && !(typeof value === 'number' && value >= 0)) {
      throw invalid(`httpFetcher.${key}: got ${String(value)}; allowed: a number, 0 or more`)
    }
  }
  if ((options as Partial<HttpFetcherOptions>).userAgent === undefined) {
    throw invalid(
      "httpFetcher.userAgent: got undefined; allowed: a text such as 'MyBot/1.0 (+https://example.com/bot)'",
    )
  }
}

function invalid(message: string): KumoError {
  return new KumoError('KUMO_INVALID_OPTION', message)
}

/** A canonical URL, taken apart without parsing it: origin, path and query. */
const CANONICAL = /^(https?:\/\/[a-z0-9._\-:[\]]+)(\/[!"$-~]*)$/

function splitUrl(url: string): [origin: string, path: string] | undefined {
  const match = CANONICAL.exec(url)
  if (match) return [match[1]!, match[2]!]
  if (!URL.canParse(url)) return undefined
  const { protocol, origin, pathname, search } = new URL(url)
  return protocol === 'http:' || protocol === 'https:' ? [origin, pathname + search] : undefined
}

/** One call of `fetch`, from the wait for a connection to the decoded body. */
class Call implements Borrower, ResponseOwner {
  readonly #request: CrawlRequest
  readonly #context: FetchContext
  readonly #maxBodyBytes: number
  readonly #headers: string[]
  readonly #resolve: (outcome: Outcome) => void
  #connections: Connections | undefined
  #origin = ''
  #path = ''
  #ticket: Ticket | undefined
  #connection: Connection | undefined
  #response: ResponseReader | undefined
  #settled = false
  #triedAgain = false

  constructor(
    request: CrawlRequest,
    context: FetchContext,
    maxBodyBytes: number,
    headers: string[],
    resolve: (outcome: Outcome) => void,
  ) {
    this.#request = request
    this.#context = context
    this.#maxBodyBytes = maxBodyBytes
    this.#headers = headers
    this.#resolve = resolve
  }

  start(connections: Connections): void {
    if (this.#settled) return
    const parts = splitUrl(this.#request.url)
    if (parts === undefined) {
      this.#fail('fetcher-failed', `cannot be fetched: ${this.#request.url} is not an http or https URL`)
      return
    }
    this.#connections = connections
    ;[this.#origin, this.#path] = parts
    this.#ticket = connections.borrow(this.#origin, this)
  }

  lent(connection: Connection): void {
    this.#ticket = undefined
    this.#connection = connection
    this.#response = new ResponseReader(this.#context, this.#maxBodyBytes, this)
    const options = { path: this.#path, method: 'GET', headers: this.#headers } as const
    connection.client.dispatch(options, this.#response)
  }

  refused(reason: FailureKind): void {
    this.#fail(reason.code, reason.what)
  }

  abort(): void {
    if (this.#settled) return
    if (this.#ticket) this.#connections!.cancel(this.#ticket)
    this.#response?.abort()
    this.#fail('aborted', 'was not waited for any longer')
  }

  answered(response: ResponseReader, clean: boolean): void {
    const connection = this.#connection!
    if (clean) this.#connections!.giveBack(connection)
    else this.#connections!.drop(connection)
    const encoding = response.headers!.get('content-encoding')
    const decoded = decodeBody(encoding, response.takeBody(), this.#maxBodyBytes)
    if (decoded instanceof Promise) void decoded.then((done) => this.#finish(response, done))
    else this.#finish(response, decoded)
  }

  failed(response: ResponseReader, failure: FailureKind, cause: unknown): void {
    const connection = this.#connection!
    const stale = isStale(connection, response, failure)
    this.#connections!.drop(connection)
    if (stale && !this.#triedAgain) {
      this.#triedAgain = true
      this.#connections!.dropIdle(connection.host)
      this.#ticket = this.#connections!.borrow(this.#origin, this)
      return
    }
    this.#fail(failure.code, failure.what, response.wireBytes, cause)
  }

  #finish(response: ResponseReader, decoded: Decoded): void {
    const { status, headers, wireBytes, skippedBody } = response
    if (decoded.ok) {
      this.#settle({ ok: true, status, headers: headers!, body: decoded.body, wireBytes, skippedBody })
    } else {
      this.#fail(decoded.code, decoded.what, wireBytes)
    }
  }

  #fail(code: FailureCode, what: string, wireBytes = 0, cause?: unknown): void {
    const failure: FetchFailure = { ok: false, code, message: `${this.#request.host} ${what}.`, wireBytes }
    this.#settle(cause === undefined ? failure : { ...failure, cause })
  }

  #settle(outcome: Outcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#resolve(outcome)
  }
}

/**
 * A server may close a kept connection at the very moment when we use it again. It has then not taken the request,
 * so sending it once more, on a new connection, is still one request as the server sees it; RFC 9112 (9.3.1) allows
 * it and browsers do it. On a new connection, or after the first byte of an answer, the failure is the server's
 * and the engine decides when to come back.
 */
function isStale(connection: Connection, response: ResponseReader, failure: FailureKind): boolean {
  return connection.answers > 0 && response.phase === 'waiting' && failure.code === 'connection-lost'
}
