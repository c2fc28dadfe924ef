/**
 * Opens connections to servers: with certificates, a resolver and the address guard, directly or through a proxy.
 */

import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { buildConnector, Dispatcher } from 'undici'
import { KumoError, messageOf } from '../../../errors.js'
import { require } from '../../../require.js'
import type { Clock } from '../../../time.js'
import type { Resolver } from '../../dns/resolver.js'
import { AddressRefusedError, isPublic, isTrustable, type TrustedHosts } from '../address-guard.js'
import { guardedConnector } from '../connector.js'
import { literalAddress, type ProxyServer, proxiedClient } from '../proxy.js'
import type { Undici } from '../undici/load.js'
import { type OriginClientOptions, originClient, type SocketListener } from '../undici/origin-client.js'
import type { TlsOptions } from './access.js'

/** What undici's connector needs to know of `TlsOptions`. */
export interface TlsSettings {
  readonly secureContext?: SecureContext
  readonly rejectUnauthorized?: boolean
}

/**
 * Parses certificates once for all connections: parsing a list of authorities takes milliseconds.
 *
 * @throws KumoError `KUMO_INVALID_OPTION` for certificates that cannot be read.
 */
export function tlsSettings({ ca, cert, key, rejectUnauthorized = true }: TlsOptions): TlsSettings {
  if (ca === undefined && cert === undefined) return { rejectUnauthorized }
  // Loaded here, because only crawls with their own certificates need it this early.
  const { createSecureContext } = require('node:tls') as typeof import('node:tls')
  try {
    const given = Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined)
    return { rejectUnauthorized, secureContext: createSecureContext(Object.fromEntries(given)) }
  } catch (error) {
    const message = `httpFetcher.tls: got certificates that cannot be used (${messageOf(error)}); allowed: PEM`
    throw new KumoError('KUMO_INVALID_OPTION', message)
  }
}

/** Sessions of TLS to keep, some 3 KB each. With one, a connection needs a quarter of the CPU time. */
const MOST_SESSIONS = 10_000

/**
 * Keeps the sessions of TLS alive: undici's own cache refers to them weakly, so that on many hosts the garbage collector
 * removes each before it is used again.
 */
function keepingSessions(connect: buildConnector.connector): buildConnector.connector {
  const sessions = new Map<string, Buffer>()
  return (options, callback) => {
    const socket = (connect as unknown as (...given: unknown[]) => Socket)(options, callback)
    if (options.protocol !== 'https:') return socket
    const name = options.servername ?? options.host ?? options.hostname
    socket.on('session', (session: Buffer) => {
      sessions.delete(name)
      sessions.set(name, session)
      if (sessions.size > MOST_SESSIONS) sessions.delete(sessions.keys().next().value!)
    })
    return socket
  }
}

/** How connections are opened and kept. */
export interface DialerOptions {
  readonly connectTimeoutMs: number
  /** Keep-alive time of idle connections, unless the server sets a shorter one. */
  readonly keepAliveMs: number
  /** Maximum size of the header names and values of a response. */
  readonly maxHeaderBytes: number
  readonly http2?: boolean | undefined
  readonly tls?: TlsSettings | undefined
  readonly resolver?: Resolver | undefined
  /** Default: real time. */
  readonly clock?: Clock | undefined
  readonly allowsAddress?: ((hostname: string, address: string) => boolean) | undefined
  readonly named?: TrustedHosts | undefined
}

/** The owner of a client opens its socket and listens to it. */
export interface ClientOwner extends SocketListener {
  /** Opens the socket with this connector. */
  connect(
    connector: buildConnector.connector,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void
}

/** Creates clients. They share two connectors, so that there is one cache of TLS sessions. */
export class Dialer {
  readonly #undici: Undici
  readonly #connectTimeoutMs: number
  readonly #options: OriginClientOptions
  /** For TLS to servers, also inside a tunnel. */
  readonly #tls: buildConnector.BuildOptions
  readonly #toServer: buildConnector.connector
  /** The user configured the proxy, so any address is allowed. */
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
      // The engine holds the deadline of a request; undici only times the gaps between bytes.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    this.#tls = {
      ...options.tls,
      timeout: connectTimeoutMs,
      allowH2: http2,
      maxCachedSessions: MOST_SESSIONS,
    }
    const toServer = keepingSessions(undici.buildConnector(this.#tls))
    const toProxy = undici.buildConnector({ ...this.#tls, allowH2: false })
    const guarded = (
      connect: buildConnector.connector,
      allows: typeof allowsAddress,
      named?: TrustedHosts,
    ) => (resolver ? guardedConnector({ connect, resolver, allows, named, clock }) : connect)
    this.#toServer = guarded(toServer, allowsAddress, options.named)
    this.#toProxy = guarded(toProxy, () => true)
  }

  /** A client for one origin with at most one socket, which is opened for the first request. */
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
 * The address guard for proxied requests. The proxy resolves names, so only literal addresses can be refused.
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
