/**
 * Every connection passes this connector. It resolves the host, checks every address, and connects to exactly those
 * addresses: without a second lookup between check and connection, DNS rebinding has no effect. It is below redirects
 * and retries, so nothing bypasses it.
 */

import { EventEmitter } from 'node:events'
import { isIP, type Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { KumoError } from '../../errors.js'
import { type Clock, systemClock, type Timer } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import { LookupError, type Resolver } from '../dns/resolver.js'
import { AddressRefusedError, isPublic, isTrustable, type TrustedHosts } from './address-guard.js'

export interface GuardedConnectorOptions {
  /** Connects to an address: the result of undici's `buildConnector`. */
  readonly connect: buildConnector.connector
  readonly resolver: Resolver
  /**
   * Whether connections to an address that is not public are allowed for this host, at any port. The host is spelled as
   * in `new URL(url).hostname`, an IPv6 address without brackets.
   */
  readonly allows: (hostname: string, address: string) => boolean
  /** Hosts that may have a private address if they had one from the start. */
  readonly named?: TrustedHosts | undefined
  readonly clock?: Clock | undefined
}

export interface Target extends buildConnector.Options {
  /** The last visit to the host failed. */
  readonly isRetry?: boolean | undefined
}

/** A connector for undici's clients. What it returns is a stand-in for the socket, from before it exists. */
export type GuardedConnector = (options: Target, callback: buildConnector.Callback) => Connecting

/** RFC 8305, section 5: after this time the next address is tried in parallel. */
const HEAD_START_MS = 250

/** After this many failed addresses the host counts as unreachable. */
const MOST_ATTEMPTS = 8

/** One for all: its stack says nothing. */
const GIVEN_UP = new Error('The connection was given up.')

/** A connector that connects only to public addresses and to those that `allows` accepts. */
export function guardedConnector(options: GuardedConnectorOptions): GuardedConnector {
  const { connect, resolver, allows, named, clock = systemClock() } = options
  return (target, callback) => {
    const connecting = new Connecting(connect, target, clock, callback)
    // An existing socket leads to a proxy, which resolves names itself.
    if (target.httpSocket) connecting.begin([target.hostname])
    else {
      checkedAddresses(target, resolver, allows, named).then(
        (addresses) => connecting.begin(addresses),
        (error: Error) => connecting.destroy(error),
      )
    }
    return connecting
  }
}

/** The addresses of a host, if all are allowed. One forbidden address is enough to refuse the host. */
async function checkedAddresses(
  { hostname: bracketed, host = '', isRetry }: Target,
  resolver: Resolver,
  allows: GuardedConnectorOptions['allows'],
  named: TrustedHosts | undefined,
): Promise<readonly string[]> {
  const hostname = bracketed.replace(/^\[(.*)\]$/, '$1')
  const addresses = isIP(hostname)
    ? [hostname]
    : (await resolver.resolve(hostname, { isRetry })).map(({ address }) => address)
  if (addresses.length === 0) throw new LookupError(hostname, 'ENOTFOUND')
  for (const address of addresses) {
    if (isIP(address) === 0) {
      // Node would resolve it again, unchecked.
      const message = `The resolver answered ${JSON.stringify(address)} for ${hostname}, which is not an IP address.`
      throw new KumoError('KUMO_CONTRACT_BROKEN', message)
    }
  }
  const isNamed = named?.has(host) === true
  const isTrusted = isNamed && (await hadPrivate(host, hostname, addresses, named))
  for (const address of addresses) {
    if (isPublic(address) || allows(hostname, address)) continue
    if (!isTrusted || !isTrustable(address)) throw new AddressRefusedError(hostname, address, isNamed)
  }
  return addresses.slice(0, MOST_ATTEMPTS)
}

/** A literal address never changes; for a name, the first address counts. */
function hadPrivate(
  host: string,
  hostname: string,
  addresses: readonly string[],
  named: TrustedHosts,
): MaybePromise<boolean> {
  if (isIP(hostname)) return true
  return named.wasPrivate(
    host,
    addresses.every((address) => !isPublic(address) && isTrustable(address)),
  )
}

/**
 * One connection, from the lookup to the end of its socket. Addresses are tried in order, the next one when the previous
 * one fails or is slow; the first to connect wins and the others are destroyed.
 *
 * It emits `close` once, when none of its sockets is left, whether or not one ever connected.
 */
export class Connecting extends EventEmitter<{ close: [] }> {
  readonly #connect: buildConnector.connector
  readonly #target: buildConnector.Options
  readonly #clock: Clock
  readonly #callback: buildConnector.Callback
  readonly #sockets = new Set<Socket>()
  readonly #errors: Error[] = []
  #addresses: readonly string[] = []
  #next = 0
  #pending = 0
  #rival: Timer | undefined
  /** The callback has been called, or is about to be. */
  #settled = false
  #closed = false

  /** Use `guardedConnector`. */
  constructor(
    connect: buildConnector.connector,
    target: buildConnector.Options,
    clock: Clock,
    callback: buildConnector.Callback,
  ) {
    super()
    this.#connect = connect
    this.#target = target
    this.#clock = clock
    this.#callback = callback
  }

  /** Starts with the checked addresses. */
  begin(addresses: readonly string[]): void {
    this.#addresses = addresses
    this.#tryNext()
  }

  /** Destroys every socket, also the one that connected. If none did, the callback receives `error`. */
  destroy(error: Error = GIVEN_UP): void {
    this.#settle(error)
    for (const socket of this.#sockets) socket.destroy(error)
  }

  #tryNext(): void {
    this.#rival?.cancel()
    const hostname = this.#addresses[this.#next]
    if (this.#settled || hostname === undefined) return
    this.#next++
    this.#pending++
    try {
      this.#open(hostname)
    } catch (error) {
      this.#pending--
      this.#failed(error as Error)
      return
    }
    if (this.#next < this.#addresses.length) {
      this.#rival = this.#clock.wakeAt(this.#clock.now() + HEAD_START_MS, () => this.#tryNext())
    }
  }

  #open(hostname: string): void {
    // undici takes the server name for TLS and the Host header from elsewhere, so both stay the name.
    const socket = this.#connect({ ...this.#target, hostname }, (...[error, connected]) => {
      this.#pending--
      if (error) this.#failed(error)
      else this.#connected(connected)
    }) as unknown as Socket
    this.#sockets.add(socket)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#closeIfOver()
    })
  }

  #failed(error: Error): void {
    // Destroyed attempts report an error, too.
    if (this.#settled) return
    this.#errors.push(error)
    if (!isUnreachable(error)) this.destroy(error)
    else if (this.#next < this.#addresses.length) this.#tryNext()
    else if (this.#pending === 0) this.#settle(allOf(this.#errors))
  }

  #connected(winner: Socket): void {
    if (this.#settled) {
      winner.destroy()
      return
    }
    this.#settled = true
    this.#rival?.cancel()
    for (const socket of this.#sockets) if (socket !== winner) socket.destroy(GIVEN_UP)
    this.#callback(null, winner)
  }

  #settle(error: Error): void {
    if (this.#settled) return
    this.#settled = true
    this.#rival?.cancel()
    // Never before the connector has returned, as with a socket's errors.
    queueMicrotask(() => {
      this.#callback(error, null)
      this.#closeIfOver()
    })
  }

  #closeIfOver(): void {
    if (this.#closed || !this.#settled || this.#sockets.size > 0) return
    this.#closed = true
    this.emit('close')
  }
}

/** The address did not answer, so another may. After any other error (TLS, for example) the host has answered. */
function isUnreachable(error: Error): boolean {
  const { code, syscall } = error as { code?: string; syscall?: string }
  return syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT'
}

function allOf(errors: readonly Error[]): Error {
  return errors.length === 1 ? errors[0]! : new AggregateError(errors, errors[0]!.message)
}
