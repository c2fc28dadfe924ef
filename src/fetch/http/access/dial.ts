/**
 * How a server is reached: with which certificates, by which resolver, past which guard, directly or through a proxy.
 */

import type { SecureContext } from 'node:tls'
import type { buildConnector, Dispatcher } from 'undici'
import { KumoError, messageOf } from '../../../errors.js'
import { require } from '../../../require.js'
import type { Clock } from '../../../time.js'
import type { Resolver } from '../../dns/resolver.js'
import { AddressRefusedError, isPublic, isTrustable, type TrustedHosts } from '../address-guard.js'
import { guardedConnector } from '../connector.js'
import { type OriginClientOptions, originClient, type SocketListener } from '../origin-client.js'
import { literalAddress, type ProxyServer, proxiedClient } from '../proxy.js'
import type { TlsOptions } from './access.js'

/** What undici's connector needs to know of `TlsOptions`. */
export interface TlsSettings {
  readonly secureContext?: SecureContext
  readonly rejectUnauthorized?: boolean
}

/**
 * Certificates are read here, once for all connections: reading a list of authorities takes milliseconds.
 *
 * @throws KumoError `KUMO_INVALID_OPTION` for certificates that cannot be read.
 */
export function tlsSettings({ ca, cert, key, rejectUnauthorized = true }: TlsOptions): TlsSettings {
  if (ca === undefined && cert === undefined) return { rejectUnauthorized }
  // Loaded here, because only crawls with certificates of their own need it so early.
  const { createSecureContext } = require('node:tls') as typeof import('node:tls')
  try {
    const given = Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined)
    return { rejectUnauthorized, secureContext: createSecureContext(Object.fromEntries(given)) }
  } catch (error) {
    const message = `httpFetcher.tls: got certificates that cannot be used (${messageOf(error)}); allowed: PEM`
    throw new KumoError('KUMO_INVALID_OPTION', message)
  }
}

/** The parts of undici that are used here; handed in, because undici is loaded when a fetcher is made. */
export type Undici = Pick<typeof import('undici'), 'Client' | 'ProxyAgent' | 'buildConnector'>

/** What decides how connections are made and kept. */
export interface DialerOptions {
  readonly connectTimeoutMs: number
  /** How long an idle connection is kept, if the server does not ask for less. */
  readonly keepAliveMs: number
  /** Bytes of header names and values that a response may have. */
  readonly maxHeaderBytes: number
  readonly http2?: boolean | undefined
  readonly tls?: TlsSettings | undefined
  readonly resolver?: Resolver | undefined
  /** Default: real time. */
  readonly clock?: Clock | undefined
  readonly allowsAddress?: ((hostname: string, address: string) => boolean) | undefined
  readonly named?: TrustedHosts | undefined
}

/** What the owner of a client wants to do itself, or to hear of. */
export interface ClientOwner extends SocketListener {
  /** Opens the socket with the connector that is handed over. */
  connect(
    connector: buildConnector.connector,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void
}

/** Makes clients. It has two connectors for all of them, so that there is one cache of TLS sessions and not many. */
export class Dialer {
  readonly #undici: Undici
  readonly #connectTimeoutMs: number
  readonly #options: OriginClientOptions
  /** For TLS to servers, also inside of a tunnel. */
  readonly #tls: buildConnector.BuildOptions
  readonly #toServer: buildConnector.connector
  /** The proxy was named by the operator, so whatever its address is, it may be connected to. */
  readonly #toProxy: buildConnector.connector

  constructor(undici: Undici, options: DialerOptions) {
    const { connectTimeoutMs, http2 = false, resolver, clock, allowsAddress = () => true } = options
    this.#undici = undici
    this.#connectTimeoutMs = connectTimeoutMs
    this.#options = {
      allowH2: http2,
      maxHeaderSize: options.maxHeaderBytes,
      keepAliveTimeout: options.keepAliveMs,
      keepAliveMaxTimeout: options.keepAliveMs,
      // The engine holds the one deadline of a request; undici would only time the gaps between bytes.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    this.#tls = { ...options.tls, timeout: connectTimeoutMs, allowH2: http2 }
    const toServer = undici.buildConnector(this.#tls)
    const toProxy = undici.buildConnector({ ...this.#tls, allowH2: false })
    const guarded = (
      connect: buildConnector.connector,
      allows: typeof allowsAddress,
      named?: TrustedHosts,
    ) => (resolver ? guardedConnector({ connect, resolver, allows, named, clock }) : connect)
    this.#toServer = guarded(toServer, allowsAddress, options.named)
    this.#toProxy = guarded(toProxy, () => true)
  }

  /** A client with at most one socket, for requests to one origin; the socket is opened when the first is made. */
  client(origin: string, proxy: ProxyServer | undefined, owner: ClientOwner): Dispatcher {
    if (proxy === undefined) {
      const connect: buildConnector.connector = (options, callback) =>
        owner.connect(this.#toServer, options, callback)
      return originClient(this.#undici, origin, connect, this.#options, owner)
    }
    return proxiedClient(this.#undici, {
      proxy,
      connect: (options, callback) => owner.connect(this.#toProxy, options, callback),
      tls: this.#tls,
      client: this.#options,
      connectTimeoutMs: this.#connectTimeoutMs,
      listener: owner,
    })
  }
}

/**
 * The guard's work where a proxy opens the connection and looks names up: an origin that names its address itself is
 * still refused, a name is not.
 *
 * @throws AddressRefusedError
 */
export function checkLiteral(
  origin: string,
  allows: (hostname: string, address: string) => boolean,
  named: TrustedHosts | undefined,
): void {
  const literal = literalAddress(origin)
  if (literal === undefined) return
  const { hostname, address } = literal
  if (isPublic(address) || allows(hostname, address)) return
  const isNamed = named?.has(new URL(origin).host) === true
  if (!isNamed || !isTrustable(address)) throw new AddressRefusedError(hostname, address, isNamed)
}
