/**
 * The one door through which connections leave. It looks the host up, checks every address, and connects to just
 * those: there is no second look-up between the check and the connection, so a name that changes its address in
 * between (rebinding) gains nothing. It stands below redirects and retries, so nothing can go around it.
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
  /** What makes the connection to an address: the result of undici's `buildConnector`. */
  readonly connect: buildConnector.connector
  readonly resolver: Resolver
  /**
   * Whether an address that is not public may be connected to for the sake of this host, at any port. The host is spelled
   * as in `new URL(url).hostname`, an IPv6 address without its brackets.
   */
  readonly allows: (hostname: string, address: string) => boolean
  /** Hosts that may have a private address if they had one from the start. */
  readonly named?: TrustedHosts | undefined
  readonly clock?: Clock | undefined
}

/** Where to connect, and why now. */
export interface Target extends buildConnector.Options {
  /** The last visit to the host failed. */
  readonly isRetry?: boolean | undefined
}

/** A connector for undici's clients. What it returns stands for the socket until there is one, and after. */
export type GuardedConnector = (options: Target, callback: buildConnector.Callback) => Connecting

/** RFC 8305, section 5: an address that has not answered by then gets a rival, but is still waited for. */
const HEAD_START_MS = 250

/** A host with more dead addresses than this is dead for us. */
const MOST_ATTEMPTS = 8

/** What a socket is told whose connection nobody wants any more. */
const GIVEN_UP = 'The connection was given up.'

/** A connector that connects only to public addresses and to those that `allows` accepts. */
export function guardedConnector(options: GuardedConnectorOptions): GuardedConnector {
  const { connect, resolver, allows, named, clock = systemClock() } = options
  return (target, callback) => {
    const connecting = new Connecting(connect, target, clock, callback)
    // A socket that is there already leads to a proxy, which does its own look-up.
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

/** The addresses of a host if all may be connected to. A host with one foul address among good ones is refused. */
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
      // Node would look it up once more, unchecked.
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

/** An address names itself, today and for ever; the first that a name had is remembered. */
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
 * One connection on its way, from the look-up to the end of its socket. The addresses are tried in order, the next
 * one when the one before fails or is slow; the first to connect wins and the others are let go.
 *
 * It emits `close` once, when no socket of it is left, whether or not one ever connected.
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
  /** The callback has been told, or is about to be. */
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

  /** Starts with addresses that were checked. */
  begin(addresses: readonly string[]): void {
    this.#addresses = addresses
    this.#tryNext()
  }

  /** Lets go of every socket, also the one that connected. If none did, the callback is told `error`. */
  destroy(error: Error = new Error(GIVEN_UP)): void {
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
    // A loser that was let go tells so too.
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
    for (const socket of this.#sockets) if (socket !== winner) socket.destroy(new Error(GIVEN_UP))
    this.#callback(null, winner)
  }

  #settle(error: Error): void {
    if (this.#settled) return
    this.#settled = true
    this.#rival?.cancel()
    // Never before the connector has returned, just as a socket tells its errors.
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

/** The address did not answer, so another may; after anything else (TLS, for instance) the host has spoken. */
function isUnreachable(error: Error): boolean {
  const { code, syscall } = error as { code?: string; syscall?: string }
  return syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT'
}

function allOf(errors: readonly Error[]): Error {
  return errors.length === 1 ? errors[0]! : new AggregateError(errors, errors[0]!.message)
}
