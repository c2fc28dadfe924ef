/** The certificates of this folder, and https servers on loopback that use them. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createSecureServer, type Http2SecureServer, type SecureServerOptions } from 'node:http2'
import { createServer, type Server, type ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The authority that signed all others. */
export const CA = read('ca.pem')
/** For `localhost` and `127.0.0.1`. */
export const SERVER = { cert: read('server.pem'), key: read('server.key') }
/** For `elsewhere.example`. */
export const OTHER = { cert: read('other.pem'), key: read('other.key') }
export const CLIENT = { cert: read('client.pem'), key: read('client.key') }

export interface SecureServer<Kind> {
  readonly server: Kind
  readonly port: number
  /** Connections accepted so far, and open now. */
  readonly accepted: number
  readonly open: number
  url(path?: string, host?: string): string
}

/** An HTTP/1.1 server. */
export function httpsServer(answer: Parameters<typeof createServer>[1], options: ServerOptions = SERVER) {
  return listening<Server>(createServer(options, answer))
}

/** An HTTP/2 server that also speaks HTTP/1.1. */
export function http2Server(
  answer: Parameters<typeof createSecureServer>[1],
  options: SecureServerOptions = { ...SERVER, allowHTTP1: true },
) {
  return listening<Http2SecureServer>(createSecureServer(options, answer))
}

async function listening<Kind extends Server | Http2SecureServer>(server: Kind): Promise<SecureServer<Kind>> {
  const sockets = new Set<Socket>()
  let accepted = 0
  server.on('connection', (socket: Socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return {
    server,
    port,
    get accepted() {
      return accepted
    },
    get open() {
      return sockets.size
    },
    url: (path = '/', host = '127.0.0.1') => `https://${host}:${port}${path}`,
  }
}
