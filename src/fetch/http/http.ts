/**
 * The fetcher that crawls use by default: GET on undici, HTTP/1.1 unless HTTP/2 is asked for, one request for each call, every limit enforced
 * while bytes arrive. It knows no time: the engine holds the deadline and says so through `context.onAbort`.
 */

import { KumoError, sentence } from '../../errors.js'
import { require } from '../../require.js'
import { type Clock, systemClock } from '../../time.js'
import type { CrawlRequest, FailureCode } from '../../types.js'
import type { FetchContext, Fetcher, FetchFailure, Outcome } from '../contract.js'
import type { Resolver } from '../dns/resolver.js'
import { ACCESS_KEYS, type AccessOptions, checkAccess } from './access/access.js'
import { checkLiteral, tlsSettings } from './access/dial.js'
import { AccessRefused, accessFailure, Http2Error } from './access/failures.js'
import { OriginHeaders } from './access/headers.js'
import { loadRanges, type TrustedHosts } from './address-guard.js'
import { type Borrower, type Connection, Connections, type Ticket } from './connections.js'
import { Cookies, withCookies } from './cookies.js'
import { type Decoded, decodeBody } from './decode.js'
import { CLOSED, type FailureKind, failureKind, isShortage } from './failures.js'
import { handlerFactory, type ResponseHandler, type ResponseListener } from './handlers.js'
import { withConditions } from './headers.js'
import { type ProxyServer, proxyChooser } from './proxy.js'
import { Answer, type ResponseOwner, ResponseReader } from './response.js'

export interface HttpFetcherOptions extends AccessOptions {
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
  /** Looks host names up. Whoever made it closes it. Default: Node's own look-up. */
  readonly resolver?: Resolver | undefined
  /** Times idle HTTP/2 connections and rival addresses. Default: real time. */
  readonly clock?: Clock | undefined
  /**
   * Whether an address that is not public may be connected to for the sake of a host; needs a `resolver`. Without it
   * every address may be.
   */
  readonly allowsAddress?: ((hostname: string, address: string) => boolean) | undefined
  /** Hosts that may have a private address besides, if they had one from the start; needs `allowsAddress`. */
  readonly trusted?: TrustedHosts | undefined
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
 * Makes a fetcher. undici is loaded here, so that importing the library stays cheap.
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
  const settings = { ...HTTP_DEFAULTS, ...Object.fromEntries(given) } as Settings
  const { resolver, allowsAddress, trusted: named, clock, http2, proxy } = options
  const tls = options.tls && tlsSettings(options.tls)
  if (allowsAddress) loadRanges()
  const undici = require('undici') as typeof import('undici')
  const access: Access = {
    handlerFor: handlerFactory(),
    headers: new OriginHeaders(options),
    cookies: options.cookies ? Cookies.load() : undefined,
    proxyFor: proxy === undefined ? undefined : proxyChooser(proxy),
    allowsAddress,
    named,
    clock: clock ?? systemClock(),
  }
  const dial = { resolver, allowsAddress, named, clock, http2, tls }
  const connections = new Connections(undici, { ...settings, ...dial })
  let closing: Promise<void> | undefined

  return {
    fetch(request, context) {
      return new Promise((resolve) => {
        const maxBodyBytes = context.maxBodyBytes ?? settings.maxBodyBytes
        const call = new Call(request, context, maxBodyBytes, access, resolve)
        if (context.aborted) return call.abort()
        if (closing) return call.refused(CLOSED)
        context.onAbort = () => call.abort()
        call.start(connections)
      })
    },
    close() {
      closing ??= connections.close()
      return closing
    },
    get capacity() {
      return connections.capacity
    },
    stats: {
      get openConnections() {
        return connections.openSockets
      },
    },
  }
}

type Settings = Required<typeof HTTP_DEFAULTS>

/** A misspelt limit must not pass for one that was left out. */
function checkOptions(options: HttpFetcherOptions): void {
  const limits = Object.keys(HTTP_DEFAULTS).filter((key) => key !== 'headers')
  const known = [
    'userAgent',
    'headers',
    ...limits,
    ...ACCESS_KEYS,
    'resolver',
    'allowsAddress',
    'trusted',
    'clock',
  ]
  if (typeof options !== 'object' || options === null) {
    throw invalid(`httpFetcher: got ${String(options)}; allowed: { ${known.join(', ')} }`)
  }
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key))
      throw invalid(`httpFetcher: got '${key}'; allowed: the keys ${known.join(', ')}`)
    if (limits.includes(key) && value !== undefined && !(typeof value === 'number' && value >= 0)) {
      throw invalid(`httpFetcher.${key}: got ${String(value)}; allowed: a number, 0 or more`)
    }
  }
  if (options.userAgent === undefined) {
    throw invalid(
      "httpFetcher.userAgent: got undefined; allowed: a text such as 'MyBot/1.0 (+https://example.com/bot)'",
    )
  }
  const { resolver, allowsAddress } = options
  if (resolver !== undefined && typeof resolver?.resolve !== 'function') {
    throw invalid(
      `httpFetcher.resolver: got ${typeof resolver}; allowed: an object with a method resolve(host)`,
    )
  }
  if (allowsAddress !== undefined && (typeof allowsAddress !== 'function' || resolver === undefined)) {
    throw invalid(
      'httpFetcher.allowsAddress: allowed: a function of host and address, together with a resolver',
    )
  }
  checkAccess(options)
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

/**
 * News of a connection that was closed before a request reached the server come within a round trip. Over a longer way the
 * failure counts as the server's, which costs a pause and nothing else.
 */
const AT_ONCE_MS = 100

/** What all calls of a fetcher share. */
interface Access {
  readonly handlerFor: (listener: ResponseListener) => ResponseHandler
  readonly headers: OriginHeaders
  cookies: Cookies | undefined
  readonly proxyFor: ((url: string) => ProxyServer | undefined) | undefined
  readonly allowsAddress: HttpFetcherOptions['allowsAddress']
  readonly named: TrustedHosts | undefined
  readonly clock: Clock
}

/** One call of `fetch`, from the wait for a connection to the decoded body. */
class Call implements Borrower, ResponseOwner {
  readonly #request: CrawlRequest
  readonly #context: FetchContext
  readonly #maxBodyBytes: number
  readonly #access: Access
  readonly #resolve: (outcome: Outcome) => void
  #connections: Connections | undefined
  #origin = ''
  #path = ''
  #headers: string[] | undefined
  #proxy: ProxyServer | undefined
  #ticket: Ticket | undefined
  #connection: Connection | undefined
  #response: ResponseReader | undefined
  #settled = false
  #sentAt = 0
  #resent = 0

  constructor(
    request: CrawlRequest,
    context: FetchContext,
    maxBodyBytes: number,
    access: Access,
    resolve: (outcome: Outcome) => void,
  ) {
    this.#request = request
    this.#context = context
    this.#maxBodyBytes = maxBodyBytes
    this.#access = access
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
    try {
      this.#headers = this.#access.headers.of(this.#origin)
      if (this.#access.proxyFor) this.#chooseProxy(this.#access.proxyFor)
    } catch (error) {
      const { code, what } = error instanceof AccessRefused ? error.kind : failureKind(error, 'connecting')
      this.#fail(code, what, 0, error)
      return
    }
    this.#ticket = connections.borrow(this.#origin, this, this.#proxy)
  }

  lent(connection: Connection): void {
    this.#ticket = undefined
    this.#connection = connection
    connection.isRetry = isRetry(this.#request)
    const { cookies } = this.#access
    this.#response = new ResponseReader(this.#context, this.#maxBodyBytes, this)
    let headers = this.#headers!
    if (cookies) headers = withCookies(headers, cookies.headerFor(this.#origin, this.#path))
    if (this.#context.known) headers = withConditions(headers, this.#context.known)
    // undici's own client knows its origin; an agent for a proxy does not.
    const options = { origin: this.#origin, path: this.#path, method: 'GET', headers } as const
    connection.client.dispatch(options, this.#access.handlerFor(this.#response))
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

  sent(): void {
    const connection = this.#connection!
    connection.hasUnreportedBytes = false
    // Only a failure on a kept connection depends on it.
    if (connection.answers > 0) this.#sentAt = this.#access.clock.now()
  }

  answered(response: ResponseReader, clean: boolean): void {
    const connection = this.#connection!
    // First, because the next request to the host may leave as soon as the connection is free.
    this.#keepCookies(response)
    if (clean) this.#connections!.giveBack(connection)
    else this.#connections!.drop(connection)
    const encoding = response.headers!.get('content-encoding')
    const decoded = decodeBody(encoding, response.takeBody(), this.#maxBodyBytes, this.#context.cutsBody)
    if (decoded instanceof Promise) void decoded.then((done) => this.#finish(response, done))
    else this.#finish(response, decoded)
  }

  failed(response: ResponseReader, reason: FailureKind, cause: unknown): void {
    const connection = this.#connection!
    const failure = accessFailure(cause) ?? reason
    this.#keepCookies(response)
    const isUnheard = this.#resent === 0 && this.#wasUnheard(connection, response, failure, cause)
    this.#connections!.drop(connection)
    if (isShortage(cause)) {
      this.#connections!.makeRoom()
      this.#fail(failure.code, failure.what, response.wireBytes, cause, true)
      return
    }
    if (isUnheard) {
      this.#resent++
      this.#connections!.dropIdle(connection.host)
      this.#ticket = this.#connections!.borrow(this.#origin, this, this.#proxy)
      return
    }
    this.#fail(failure.code, failure.what, response.wireBytes, cause)
  }

  /**
   * A server may close a kept connection at the very moment when we use it again. It has then not heard the request, so
   * sending it once more, on a new connection, is still one request as the server sees it; RFC 9112 (9.3.1) allows it
   * and browsers do it. A server that took its time has heard it. Then, and on a new connection, and after the first
   * byte of an answer, the failure is the server's and the engine decides when to come back.
   */
  #wasUnheard(
    connection: Connection,
    response: ResponseReader,
    failure: FailureKind,
    cause: unknown,
  ): boolean {
    if (connection.answers === 0 || response.phase !== 'waiting' || connection.hasUnreportedBytes)
      return false
    if (failure.code !== 'connection-lost' || (cause instanceof Http2Error && !cause.isUnheard)) return false
    return this.#access.clock.now() - this.#sentAt <= AT_ONCE_MS
  }

  #chooseProxy(proxyFor: (url: string) => ProxyServer | undefined): void {
    const { allowsAddress, named } = this.#access
    this.#proxy = proxyFor(this.#request.url)
    if (this.#proxy && allowsAddress) checkLiteral(this.#origin, allowsAddress, named)
  }

  #keepCookies(response: ResponseReader): void {
    if (response.headers) this.#access.cookies?.keep(this.#origin, this.#path, response.headers)
  }

  #finish(response: ResponseReader, decoded: Decoded): void {
    const { status, headers, wireBytes, skippedBody } = response
    if (decoded.ok) {
      const { body } = decoded
      const truncated = decoded.truncated || response.isCut
      this.#settle(new Answer(status, headers!, body, wireBytes, skippedBody, truncated, this.#resent))
    } else {
      this.#fail(decoded.code, decoded.what, wireBytes)
    }
  }

  #fail(code: FailureCode, what: string, wireBytes = 0, cause?: unknown, shortage = false): void {
    const message = sentence(`${this.#request.host} ${what}`)
    const failure: FetchFailure = { ok: false, code, message, wireBytes }
    const resent = this.#resent > 0 ? { resent: this.#resent } : {}
    this.#settle(
      cause === undefined
        ? { ...failure, ...resent }
        : { ...failure, ...resent, cause, ...(shortage && { shortage }) },
    )
  }

  #settle(outcome: Outcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#resolve(outcome)
  }
}

/** The request, or the last one to its host, has failed before. */
function isRetry({ attempt, hostTrouble }: CrawlRequest): boolean {
  return attempt > 0 || (hostTrouble?.incidents ?? 0) > 0
}
