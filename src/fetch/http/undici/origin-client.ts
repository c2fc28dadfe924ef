/** The client of one origin over one socket, direct or through a proxy, in the protocol that both sides support. */

import type { Socket } from 'node:net'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { NegotiatingClient } from '../http2/client.js'
import { mendHeads } from '../response-head.js'

export interface OriginClientOptions extends Client.Options {
  readonly maxHeaderSize: number
}

/** What happens to the client's socket. */
export interface SocketListener {
  /** The first bytes of a response have arrived that undici does not report: they are, or may be, an interim response. */
  onUnreportedBytes(): void
  /** The socket of an HTTP/1 connection is open, and nothing was read from it. */
  onConnect(socket: Socket): void
  onDisconnect(): void
}

export function originClient(
  undici: Pick<typeof import('undici'), 'Client'>,
  origin: string,
  connect: buildConnector.connector,
  options: OriginClientOptions,
  listener: SocketListener,
): Dispatcher {
  const { allowH2, maxHeaderSize } = options
  const http1 = (dial: buildConnector.connector) =>
    new undici.Client(origin, { ...options, connect: withPlainHeads(dial, maxHeaderSize, listener) })
  const onDisconnect = () => listener.onDisconnect()
  if (!allowH2 || !origin.startsWith('https:')) return http1(connect).on('disconnect', onDisconnect)
  const client = new NegotiatingClient(origin, connect, http1, maxHeaderSize)
  // It implements what is used of a dispatcher: dispatch, destroy and, by proxy agents, close and events.
  return client.on('disconnect', onDisconnect) as unknown as Dispatcher
}

function withPlainHeads(
  connect: buildConnector.connector,
  maxBytes: number,
  listener: SocketListener,
): buildConnector.connector {
  const onHeldBack = () => listener.onUnreportedBytes()
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) {
        listener.onConnect(socket)
        callback(null, mendHeads(socket, maxBytes, onHeldBack))
      } else callback(error, null)
    })
}
