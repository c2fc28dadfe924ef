/**
 * The connection pool. Each connection is an undici `Client` that is lent to one request at a time, so that both limits
 * (connections per host, connections in total) are counted exactly: undici's `Pool` may open a second socket while the
 * first is closing, and knows nothing of other hosts.
 */

import type { Socket } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import { type Clock, systemClock, type Timer } from '../../time.js'
import { Dialer, type DialerOptions } from './access/dial.js'
import { Allowance } from './allowance.js'
import type { Connecting, Target } from './connector.js'
import { CLOSED, type FailureKind } from './failures.js'
import type { ProxyServer } from './proxy.js'
import type { Undici } from './undici/load.js'
import type { WireRecorder } from './wire.js'

export interface ConnectionsOptions extends DialerOptions {
  /** Maximum number of connections to one origin. */
  readonly connectionsPerHost: number
  /** The same for an origin that has its own; undefined for the rest. */
  readonly connectionsOf?: ((origin: string) => number | undefined) | undefined
  /** Maximum number of connections in total, idle ones included. */
  readonly maxConnections: number
}

/** A request that needs a connection. */
export interface Borrower {
  /** The connection is the borrower's until `giveBack` or `drop`. May be called before `borrow` returns. */
  lent(connection: Connection): void
  /** No connection is available, and none will be. */
  refused(reason: FailureKind): void
}

interface Linked<T> {
  before: T | undefined
  after: T | undefined
}

/** A queue with removal from anywhere in constant time, which a Map or Set used as a queue does not guarantee. */
class Line<T extends Linked<T>> {
  first: T | undefined
  last: T | undefined

  push(item: T): void {
    item.before = this.last
    item.after = undefined
    if (this.last) this.last.after = item
    else this.first = item
    this.last = item
  }

  remove(item: T): void {
    if (item.before) item.before.after = item.after
    else this.first = item.after
    if (item.after) item.after.before = item.before
    else this.last = item.before
    item.before = item.after = undefined
  }

  shift(): T | undefined {
    const item = this.first
    if (item) this.remove(item)
    return item
  }
}

/** An origin with connections or waiting requests; deleted when it has neither. */
class Host {
  /** Connections lent, and slots reserved for tickets in the common queue. */
  taken = 0
  /** Oldest first. The next request gets the newest, so that surplus connections expire. */
  readonly idle: Connection[] = []
  /** Filled by `borrow` when the host is at its limit, emptied one by one as connections are returned. */
  readonly waiting = new Line<Ticket>()

  constructor(
    readonly origin: string,
    /** Maximum number of connections. */
    readonly limit: number,
  ) {}
}

/** A queued request. */
export class Ticket implements Linked<Ticket> {
  before: Ticket | undefined
  after: Ticket | undefined
  line: Line<Ticket> | undefined

  constructor(
    readonly host: Host,
    readonly borrower: Borrower,
    readonly proxy: ProxyServer | undefined,
    readonly isFresh: boolean,
  ) {}
}

/** At most one socket to one origin, or to a proxy for it, opened when its first request is dispatched. */
export class Connection implements Linked<Connection> {
  before: Connection | undefined
  after: Connection | undefined
  state: 'idle' | 'lent' | 'gone' = 'lent'
  /** What to destroy, from the DNS lookup on. */
  socket: Socket | Connecting | undefined
  /** Ends an idle HTTP/2 connection. */
  idleTimer: Timer | undefined
  /** Complete responses on the current socket. Above zero, the socket may be stale. */
  answers = 0
  /** Bytes of a response to the current request have arrived, but not enough for undici to report it. */
  hasUnreportedBytes = false
  /** The last visit to the host failed, so its cached DNS result may be wrong. */
  isRetry = false
  /** Records what is sent and received. Set before the socket is opened. */
  wire: WireRecorder | undefined
  client!: Dispatcher

  constructor(
    readonly host: Host,
    readonly proxy: ProxyServer | undefined,
  ) {}
}

/**
 * undici's error for a request whose connection is destroyed. The request is settled by then, but a log may show it. It is
 * one for all, because a stack takes as long as a small page, and here it says nothing.
 */
const GIVEN_UP = Object.assign(new Error('The connection was given up.'), { code: 'UND_ERR_DESTROYED' })

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #clock: Clock
  readonly #dialer: Dialer
  /** Limits `#all`; below `maxConnections` while this machine is short of a resource. */
  readonly #allowance: Allowance
  readonly #hosts = new Map<string, Host>()
  readonly #all = new Set<Connection>()
  /** Used least recently first. Filled by `giveBack`, emptied by `borrow` and when a new connection needs room. */
  readonly #idle = new Line<Connection>()
  /** Tickets that have a slot at their host and wait for one in total, first come, first served. */
  readonly #waiting = new Line<Ticket>()
  #lent = 0
  #openSockets = 0
  #closed = false
  #onSocketsGone: (() => void) | undefined

  constructor(undici: Undici, options: ConnectionsOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock()
    this.#dialer = new Dialer(undici, options)
    this.#allowance = new Allowance(options.maxConnections, this.#clock)
  }

  /** How many connections may be lent at once. */
  get capacity(): number {
    return this.#allowance.most
  }

  /** Sockets that are open or being opened. */
  get openSockets(): number {
    return this.#openSockets
  }

  /** Origins that have a connection or a waiting request. */
  get knownHosts(): number {
    return this.#hosts.size
  }

  /**
   * Lends a connection to `origin`, direct or through a proxy: at once if there is room, otherwise it returns a ticket
   * for `cancel`.
   *
   * @param isFresh The connection must be new: what is sent over it must not be lost or repeated.
   */
  borrow(origin: string, borrower: Borrower, proxy?: ProxyServer, isFresh = false): Ticket | undefined {
    if (this.#closed) {
      borrower.refused(CLOSED)
      return undefined
    }
    let host = this.#hosts.get(origin)
    if (host === undefined) {
      if (!URL.canParse(origin)) {
        borrower.refused({ code: 'fetcher-failed', what: 'is not a valid host' })
        return undefined
      }
      const { connectionsOf, connectionsPerHost } = this.#options
      host = new Host(origin, connectionsOf?.(origin) ?? connectionsPerHost)
      this.#hosts.set(origin, host)
    }
    if (host.taken >= host.limit) return enqueue(host.waiting, new Ticket(host, borrower, proxy, isFresh))
    host.taken++
    if (this.#lent >= this.#allowance.most)
      return enqueue(this.#waiting, new Ticket(host, borrower, proxy, isFresh))
    this.#lend(host, borrower, proxy, isFresh)
    return undefined
  }

  /** Removes a request from its queue. */
  cancel(ticket: Ticket): void {
    const { line, host } = ticket
    if (line === undefined) return
    line.remove(ticket)
    ticket.line = undefined
    if (line === this.#waiting) host.taken--
    this.#serve(host)
  }

  /** The response is complete, and the connection can be reused. */
  giveBack(connection: Connection): void {
    if (connection.state !== 'lent') return
    if (this.#all.size > this.#allowance.most) {
      this.drop(connection)
      return
    }
    connection.answers++
    connection.state = 'idle'
    connection.host.idle.push(connection)
    this.#idle.push(connection)
    this.#watchIdle(connection)
    this.#returned(connection.host)
  }

  /** The connection cannot be reused; its socket is destroyed. */
  drop(connection: Connection): void {
    if (connection.state !== 'lent') return
    this.#discard(connection)
    this.#returned(connection.host)
  }

  /** Closes the idle connections of a host: when one was stale, the others probably are, too. */
  dropIdle(host: Host): void {
    while (host.idle.length > 0) this.#discard(host.idle[0]!)
  }

  /** This machine lacks the resources for a connection: the limit is lowered, and idle ones beyond it are closed. */
  makeRoom(): void {
    this.#allowance.shrink(this.#all.size)
    while (this.#all.size > this.#allowance.most && this.#idle.last) this.#discard(this.#idle.last)
  }

  /** Destroys all connections; resolves when every socket is closed. */
  close(): Promise<void> {
    this.#closed = true
    for (const host of this.#hosts.values()) refuseAll(host.waiting)
    refuseAll(this.#waiting)
    for (const connection of this.#all) this.#discard(connection)
    this.#hosts.clear()
    if (this.#openSockets === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onSocketsGone = resolve
    })
  }

  #lend(host: Host, borrower: Borrower, proxy: ProxyServer | undefined, isFresh: boolean): void {
    this.#lent++
    let connection = isFresh ? undefined : takeIdle(host, proxy)
    if (connection) {
      this.#idle.remove(connection)
      connection.state = 'lent'
      connection.idleTimer?.cancel()
    } else {
      // Idle connections here use another proxy or are not new enough; the oldest makes room within the host's limit.
      if (host.idle.length + host.taken > host.limit && host.idle[0]) this.#discard(host.idle[0])
      // Fewer are lent than allowed, so if there is no room, at least one is idle. The one that was used last is closed:
      // hosts are visited in turn, so its next visit is the furthest, and the others stay until theirs.
      if (this.#all.size >= this.#allowance.most) this.#discard(this.#idle.last!)
      connection = this.#open(host, proxy)
    }
    borrower.lent(connection)
  }

  #returned(host: Host): void {
    host.taken--
    this.#lent--
    this.#serve(host)
  }

  /** Serves waiting requests. */
  #serve(host: Host): void {
    if (!this.#closed) {
      if (host.waiting.first && host.taken < host.limit) {
        host.taken++
        enqueue(this.#waiting, host.waiting.shift()!)
      }
      while (this.#lent < this.#allowance.most && this.#waiting.first) {
        const ticket = this.#waiting.shift()!
        ticket.line = undefined
        this.#lend(ticket.host, ticket.borrower, ticket.proxy, ticket.isFresh)
      }
    }
    this.#forgetIfUnused(host)
  }

  #forgetIfUnused(host: Host): void {
    if (host.taken > 0 || host.idle.length > 0 || host.waiting.first) return
    if (this.#hosts.get(host.origin) === host) this.#hosts.delete(host.origin)
  }

  #open(host: Host, proxy: ProxyServer | undefined): Connection {
    const connection = new Connection(host, proxy)
    connection.client = this.#dialer.client(host.origin, proxy, {
      connect: (connector, options, callback) => this.#connect(connection, connector, options, callback),
      // Closed by the server or after keepAliveMs. While lent, undici reports it to the request.
      onDisconnect: () => {
        if (connection.state === 'idle') this.#discard(connection)
      },
      onUnreportedBytes: () => {
        connection.hasUnreportedBytes = true
      },
      onConnect: (socket) => connection.wire?.watch(socket),
    })
    this.#all.add(connection)
    return connection
  }

  #connect(
    connection: Connection,
    connector: buildConnector.connector,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    // undici's types do not say so, but its connector returns the socket, and ours a stand-in. Only with it can a
    // connection be destroyed while it is being opened.
    const target: Target = { ...options, isRetry: connection.isRetry }
    const socket = connector(target, callback) as unknown as Socket | Connecting
    connection.socket = socket
    connection.answers = 0
    this.#openSockets++
    socket.once('close', () => {
      if (connection.socket === socket) connection.socket = undefined
      if (--this.#openSockets === 0) this.#onSocketsGone?.()
    })
  }

  /** undici closes idle HTTP/1.1 connections after keepAliveMs, but never an HTTP/2 session. */
  #watchIdle(connection: Connection): void {
    if (!this.#options.http2) return
    const closesAt = this.#clock.now() + this.#options.keepAliveMs
    connection.idleTimer = this.#clock.wakeAt(closesAt, () => {
      if (connection.state === 'idle') this.#discard(connection)
    })
  }

  #discard(connection: Connection): void {
    const { host } = connection
    if (connection.state === 'idle') {
      this.#idle.remove(connection)
      host.idle.splice(host.idle.indexOf(connection), 1)
    }
    connection.state = 'gone'
    connection.idleTimer?.cancel()
    this.#all.delete(connection)
    connection.client.destroy(GIVEN_UP, () => {})
    // A client that is destroyed while it connects would leave its socket open until the connect timeout.
    connection.socket?.destroy(GIVEN_UP)
    this.#forgetIfUnused(host)
  }
}

/** The newest idle connection through this proxy. */
function takeIdle({ idle }: Host, proxy: ProxyServer | undefined): Connection | undefined {
  if (idle[idle.length - 1]?.proxy === proxy) return idle.pop()
  const at = idle.findLastIndex((connection) => connection.proxy === proxy)
  return at < 0 ? undefined : idle.splice(at, 1)[0]
}

function enqueue(line: Line<Ticket>, ticket: Ticket): Ticket {
  ticket.line = line
  line.push(ticket)
  return ticket
}

function refuseAll(line: Line<Ticket>): void {
  for (let ticket = line.shift(); ticket; ticket = line.shift()) {
    ticket.line = undefined
    ticket.borrower.refused(CLOSED)
  }
}
