/**
 * The default fetcher: undici, HTTP/1.1 or (optionally) HTTP/2, one request per call, every limit enforced while bytes
 * arrive. It has no timeout for a request: the engine holds the deadline and calls `context.onAbort`.
 */

import type { Dispatcher } from 'undici'
import { invalidOption, sentence } from '../../errors.js'
import { type Clock, systemClock, type Timer } from '../../time.js'
import type { CrawlRequest, FailureCode, RequestExtras } from '../../types.js'
import { isIdempotent } from '../../url/methods.js'
import type { FetchContext, Fetcher, FetchFailure, Outcome, WireExchange } from '../contract.js'
import type { Resolver } from '../dns/resolver.js'
import { ACCESS_KEYS, type AccessOptions, checkAccess } from './access/access.js'
import { checkLiteral, tlsSettings } from './access/dial.js'
import { AccessRefused, accessFailure, Http2Error } from './access/failures.js'
import { OriginHeaders } from './access/headers.js'
import { bodyOf, withRequestHeaders } from './access/message.js'
import { loadRanges, type TrustedHosts } from './address-guard.js'
import type { Bandwidth } from './bandwidth.js'
import { type Borrower, type Connection, Connections, type Ticket } from './connections.js'
import { Cookies, withCookies } from './cookies.js'
import { type Decoded, decodeBody } from './decode.js'
import { HTTP_DEFAULTS } from './defaults.js'
import { CLOSED, type FailureKind, failureKind, isShortage } from './failures.js'
import { withConditions } from './headers.js'
import { type ProxyServer, proxyChooser, withHostProxies } from './proxy.js'
import { Answer, type ResponseOwner, ResponseReader } from './response.js'
import { handlerFactory, type ResponseHandler, type ResponseListener } from './undici/handlers.js'
import { loadUndici } from './undici/load.js'
import { WireRecorder, writtenOut } from './wire.js'

export interface HttpFetcherOptions extends AccessOptions {
  /** Sent with every request. Groups of robots.txt are matched with its product token. */
  readonly userAgent: string
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Maximum size of a body in bytes, on the wire and decoded. Default 8 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Maximum size of the header names and values of a response, in bytes. Default 32 KiB. */
  readonly maxHeaderBytes?: number | undefined
  /** Maximum number of connections to one origin. Default 1. */
  readonly connectionsPerHost?: number | undefined
  /** Maximum number of connections to all hosts, idle ones included. Further requests wait. Default 1,000. */
  readonly maxConnections?: number | undefined
  /** Keep-alive time of idle connections, unless the server sets a shorter one. Default 10 s. */
  readonly keepAliveMs?: number | undefined
  /** Timeout for opening a connection. Default 30 s. */
  readonly connectTimeoutMs?: number | undefined
  /** Resolves host names. The caller closes it. Default: Node's own lookup. */
  readonly resolver?: Resolver | undefined
  /** Times idle HTTP/2 connections and parallel connection attempts. Default: real time. */
  readonly clock?: Clock | undefined
  /**
   * Whether connections to an address that is not public are allowed for a host; needs a `resolver`. Without it, every
   * address is allowed.
   */
  readonly allowsAddress?: ((hostname: string, address: string) => boolean) | undefined
  /** Hosts that may also have a private address, if they had one from the start; needs `allowsAddress`. */
  readonly trusted?: TrustedHosts | undefined
}

export interface HttpFetcher extends Fetcher {
  fetch(request: CrawlRequest, context: FetchContext): Promise<Outcome>
  /** Aborts requests in flight and resolves when every socket is closed. A later `fetch` fails with `aborted`. */
  close(): Promise<void>
  readonly stats: { readonly openConnections: number }
}

/**
 * Creates a fetcher. undici is loaded here, so that importing the library stays cheap.
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
  return fetcherWith(options, options.cookies ? Cookies.load() : undefined)
}

/** A fetcher whose cookies outlive it. The options are checked. */
export function fetcherWith(
  options: HttpFetcherOptions,
  cookies: Cookies | undefined,
  bandwidth?: Bandwidth | undefined,
): HttpFetcher {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const settings = { ...HTTP_DEFAULTS, ...Object.fromEntries(given) } as Settings
  const { resolver, allowsAddress, trusted: named, clock, http2, proxy, hosts } = options
  const tls = options.tls && tlsSettings(options.tls)
  const proxyFor = proxy === undefined ? undefined : proxyChooser(proxy)
  if (allowsAddress) loadRanges()
  const undici = loadUndici()
  const access: FetcherContext = {
    handlerFor: handlerFactory(),
    headers: new OriginHeaders(options),
    cookies,
    bandwidth,
    proxyFor: hosts ? withHostProxies(hosts, proxyFor) : proxyFor,
    allowsAddress,
    named,
    clock: clock ?? systemClock(),
  }
  const connectionsOf = hosts && ((origin: string) => hosts(origin)?.connections)
  const dial = { resolver, allowsAddress, named, clock, http2, tls, connectionsOf }
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
      return bandwidth?.isFull(access.clock.now()) ? 1 : connections.capacity
    },
    stats: {
      get openConnections() {
        return connections.openSockets
      },
    },
  }
}

type Settings = Required<typeof HTTP_DEFAULTS>

/** A misspelt option must not be silently ignored. */
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
    throw invalidOption('httpFetcher', options, `{ ${known.join(', ')} }`)
  }
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) throw invalidOption('httpFetcher', key, `the keys ${known.join(', ')}`)
    if (limits.includes(key) && value !== undefined && !(typeof value === 'number' && value >= 0)) {
      throw invalidOption(`httpFetcher.${key}`, value, 'a number, 0 or more')
    }
  }
  const { userAgent, resolver, allowsAddress } = options
  if (userAgent === undefined) {
    throw invalidOption(
      'httpFetcher.userAgent',
      userAgent,
      "a text such as 'MyBot/1.0 (+https://example.com/bot)'",
    )
  }
  if (resolver !== undefined && typeof resolver?.resolve !== 'function') {
    throw invalidOption('httpFetcher.resolver', resolver, 'an object with a method resolve(host)')
  }
  if (allowsAddress !== undefined && (typeof allowsAddress !== 'function' || resolver === undefined)) {
    const allowed = 'a function of host and address, together with a resolver'
    throw invalidOption('httpFetcher.allowsAddress', allowsAddress, allowed)
  }
  checkAccess(options, 'httpFetcher.')
}

/** Splits a canonical URL into origin and path with query, without parsing it. */
const CANONICAL = /^(https?:\/\/[a-z0-9._\-:[\]]+)(\/[!"$-~]*)$/

function splitUrl(url: string): [origin: string, path: string] | undefined {
  const match = CANONICAL.exec(url)
  if (match) return [match[1]!, match[2]!]
  if (!URL.canParse(url)) return undefined
  const { protocol, origin, pathname, search } = new URL(url)
  return protocol === 'http:' || protocol === 'https:' ? [origin, pathname + search] : undefined
}

/**
 * If a connection was closed before a request reached the server, the error arrives within a round trip. With a longer
 * round trip the failure counts as the server's, which only costs a delay.
 */
const AT_ONCE_MS = 100

const NO_COOKIES = 'was not fetched, because its cookies could not be read from the store'

/** What all calls of a fetcher have in common. */
interface FetcherContext {
  readonly handlerFor: (listener: ResponseListener) => ResponseHandler
  readonly headers: OriginHeaders
  cookies: Cookies | undefined
  readonly bandwidth: Bandwidth | undefined
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
  readonly #access: FetcherContext
  readonly #resolve: (outcome: Outcome) => void
  #connections: Connections | undefined
  #origin = ''
  #path = ''
  #method = 'GET'
  #headers: string[] | undefined
  #body: Buffer | null = null
  #proxy: ProxyServer | undefined
  #ticket: Ticket | undefined
  #connection: Connection | undefined
  #response: ResponseReader | undefined
  #settled = false
  #sentAt = 0
  #resent = 0
  /** Only if exchanges are recorded. */
  #sentHeaders: string[] | undefined
  #lentAt = 0
  #exchange: WireExchange | undefined
  /** Bytes that were claimed of the bandwidth, and those that came. */
  #claimed = 0
  #received = 0
  #timer: Timer | undefined

  constructor(
    request: CrawlRequest,
    context: FetchContext,
    maxBodyBytes: number,
    access: FetcherContext,
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
      if (this.#request.extras) this.#prepare(this.#request.extras)
      if (this.#access.proxyFor) this.#chooseProxy(this.#access.proxyFor)
    } catch (error) {
      const { code, what } = error instanceof AccessRefused ? error.kind : failureKind(error, 'connecting')
      this.#fail(code, what, 0, error)
      return
    }
    const reading = this.#access.cookies?.ready(this.#origin)
    if (reading === undefined) this.#waitForLine()
    else void this.#borrowAfter(reading)
  }

  async #borrowAfter(reading: Promise<void>): Promise<void> {
    try {
      await reading
      if (!this.#settled) this.#waitForLine()
    } catch (error) {
      this.#fail('fetcher-failed', NO_COOKIES, 0, error)
    }
  }

  #waitForLine(): void {
    const { bandwidth, clock } = this.#access
    if (bandwidth === undefined) {
      this.#borrow()
      return
    }
    const now = clock.now()
    this.#claimed = bandwidth.expectedBytes
    const waitMs = bandwidth.claim(this.#claimed, now)
    if (waitMs > 0) this.#timer = clock.wakeAt(now + waitMs, () => this.#borrow())
    else this.#borrow()
  }

  pauses(bytes: number, resume: () => void): boolean {
    const { bandwidth, clock } = this.#access
    if (bandwidth === undefined) return false
    this.#received += bytes
    const beyond = this.#received - this.#claimed
    if (beyond <= 0) return false
    const now = clock.now()
    this.#claimed = this.#received
    const waitMs = bandwidth.claim(beyond, now)
    if (waitMs <= 0) return false
    this.#timer = clock.wakeAt(now + waitMs, resume)
    return true
  }

  /** A request that must not be sent twice gets a new connection: a kept-alive one may close just when it is used. */
  #borrow(): void {
    const isFresh = !isIdempotent(this.#method)
    if (!this.#settled) this.#ticket = this.#connections!.borrow(this.#origin, this, this.#proxy, isFresh)
  }

  /** @throws AccessRefused */
  #prepare(extras: RequestExtras): void {
    this.#method = extras.method ?? 'GET'
    this.#headers = withRequestHeaders(this.#headers!, extras.headers)
    this.#body = bodyOf(extras) ?? null
  }

  lent(connection: Connection): void {
    this.#ticket = undefined
    this.#connection = connection
    connection.isRetry = isRetry(this.#request)
    const { cookies } = this.#access
    const method = this.#method
    this.#response = new ResponseReader(this.#context, this.#maxBodyBytes, this, method === 'HEAD')
    let headers = this.#headers!
    if (cookies) headers = withCookies(headers, cookies.headerFor(this.#origin, this.#path))
    const { known } = this.#context
    // Only they can be answered with 304 (RFC 9110, 13.1.2).
    if (known && (method === 'GET' || method === 'HEAD')) headers = withConditions(headers, known)
    if (this.#context.records) this.#record(connection, headers)
    // undici's Client knows its origin; a ProxyAgent does not.
    const options = { origin: this.#origin, path: this.#path, method, headers, body: this.#body }
    connection.client.dispatch(options as Dispatcher.DispatchOptions, this.#access.handlerFor(this.#response))
  }

  #record(connection: Connection, headers: string[]): void {
    this.#sentHeaders = headers
    this.#lentAt = this.#access.clock.now()
    connection.wire ??= new WireRecorder()
    connection.wire.begin(this.#lentAt)
  }

  /** What went over the wire. `body` is for HTTP/2, of which no bytes are recorded. */
  #exchanged(response: ResponseReader, clean: boolean, body: Uint8Array): WireExchange {
    const { proxy, wire } = this.#connection!
    const now = this.#access.clock.now()
    const method = this.#method
    const recorded = wire!.take(now, method === 'HEAD', clean)
    if (recorded !== undefined) return proxy ? { ...recorded, remoteAddress: undefined } : recorded
    const request = { method, path: this.#path, host: this.#request.host, body: this.#body }
    return {
      protocol: 'h2',
      ...writtenOut(request, this.#sentHeaders!, response.status, response.headers!.received(), body),
      truncated: !clean || body.length < response.wireBytes,
      startedAt: this.#lentAt,
      durationMs: now - this.#lentAt,
      remoteAddress: undefined,
    }
  }

  refused(reason: FailureKind): void {
    this.#fail(reason.code, reason.what)
  }

  abort(): void {
    if (this.#settled) return
    if (this.#ticket) this.#connections!.cancel(this.#ticket)
    this.#response?.abort()
    this.#fail('aborted', 'was aborted')
  }

  sent(): void {
    // The visit is aborted then, which destroys the connection before anything is written to it.
    if (this.#context.maySend?.() === false) return
    const connection = this.#connection!
    connection.hasUnreportedBytes = false
    // Only a failure on a kept connection depends on it.
    if (connection.answers > 0) this.#sentAt = this.#access.clock.now()
  }

  answered(response: ResponseReader, clean: boolean): void {
    const connection = this.#connection!
    // First, because the next request to the host may be sent as soon as the connection is free.
    this.#keepCookies(response)
    const body = response.takeBody()
    if (this.#context.records) this.#exchange = this.#exchanged(response, clean, body)
    if (clean) this.#connections!.giveBack(connection)
    else this.#connections!.drop(connection)
    const encoding = response.headers!.get('content-encoding')
    const decoded = decodeBody(encoding, body, this.#maxBodyBytes, this.#context.cutsBody)
    if (decoded instanceof Promise) void decoded.then((done) => this.#finish(response, done))
    else this.#finish(response, decoded)
  }

  failed(response: ResponseReader, reason: FailureKind, cause: unknown): void {
    const connection = this.#connection!
    const failure = accessFailure(cause) ?? reason
    this.#keepCookies(response)
    const isUnprocessed = this.#resent === 0 && this.#wasNotReceived(connection, response, failure, cause)
    this.#connections!.drop(connection)
    if (isShortage(cause)) {
      this.#connections!.makeRoom()
      this.#fail(failure.code, failure.what, response.wireBytes, cause, true)
      return
    }
    if (isUnprocessed) {
      this.#resent++
      this.#connections!.dropIdle(connection.host)
      this.#borrow()
      return
    }
    this.#fail(failure.code, failure.what, response.wireBytes, cause)
  }

  /**
   * A server may close a kept-alive connection just when it is used again. It has not received the request then, so
   * resending it on a new connection is still one request from the server's point of view; RFC 9112 (9.3.1) allows it
   * for idempotent methods, and browsers do it. If the failure comes late, on a new connection, or after any byte of a response (interim ones
   * included), the server has received the request: it counts as a failure, and the engine decides when to retry.
   */
  #wasNotReceived(
    connection: Connection,
    response: ResponseReader,
    failure: FailureKind,
    cause: unknown,
  ): boolean {
    if (!isIdempotent(this.#method)) return false
    if (connection.answers === 0 || response.phase !== 'waiting' || connection.hasUnreportedBytes)
      return false
    if (failure.code !== 'connection-lost' || (cause instanceof Http2Error && !cause.isUnprocessed))
      return false
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
      this.#settle(
        new Answer(status, headers!, body, wireBytes, skippedBody, truncated, this.#resent, this.#exchange),
      )
    } else {
      this.#fail(decoded.code, decoded.what, wireBytes)
    }
  }

  #fail(code: FailureCode, what: string, wireBytes = 0, cause?: unknown, shortage = false): void {
    const message = sentence(`${this.#request.host} ${what}`)
    const failure: FetchFailure = { ok: false, code, message, wireBytes }
    const resent = this.#resent > 0 ? { resent: this.#resent } : {}
    const exchange = this.#exchange && { exchange: this.#exchange }
    this.#settle(
      cause === undefined
        ? { ...failure, ...resent, ...exchange }
        : { ...failure, ...resent, cause, ...(shortage && { shortage }) },
    )
  }

  #settle(outcome: Outcome): void {
    if (this.#settled) return
    this.#settled = true
    this.#timer?.cancel()
    this.#access.bandwidth?.settle(this.#claimed, this.#received)
    this.#resolve(outcome)
  }
}

/** Whether this request, or the last one to its host, has failed. */
function isRetry({ attempt, hostTrouble }: CrawlRequest): boolean {
  return attempt > 0 || (hostTrouble?.incidents ?? 0) > 0
}
