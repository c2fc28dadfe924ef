/**
 * Small hand-made sites for tests that care about single responses. It runs inside the test, so a route may be a
 * function that misbehaves on purpose, and it remembers what it was asked.
 */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** A page (its type is told by the ending of its path), a whole response, or a function that answers. */
export type Route =
  | string
  | ((request: IncomingMessage, response: ServerResponse) => void)
  | { status?: number; headers?: Record<string, string | string[]>; body?: string | Uint8Array }

/** A request that the site received. */
export interface SiteRequest {
  method: string
  /** With its query. */
  path: string
  /** The Host header without the port. */
  host: string
  /** Milliseconds since the epoch. */
  at: number
  headers: IncomingHttpHeaders
}

/** A running site. */
export interface LoopbackSite {
  readonly port: number
  /** The URL of a path, at the site's address or at any other of 127.0.0.0/8: they all lead here. */
  url(path?: string, host?: string): string
  /** Everything that was asked, in order. */
  readonly requests: SiteRequest[]
  /** Stops at once: open connections are cut. */
  close(): Promise<void>
}

const TYPES: Record<string, string> = {
  txt: 'text/plain; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  json: 'application/json',
  css: 'text/css',
  js: 'text/javascript',
}
const HTML = 'text/html; charset=utf-8'

function typeOf(path: string): string {
  return TYPES[/\.(\w+)(?:\?|$)/.exec(path)?.[1] ?? ''] ?? HTML
}

/**
 * Starts a site. A route is found by path and query, then by path alone; anything else is 404.
 *
 * ```ts
 * const site = await startSite({ '/': '<a href="/gone">x</a>', '/gone': { status: 410 } })
 * ```
 */
export async function startSite(
  routes: Record<string, Route>,
  { host: address = '127.0.0.1' }: { host?: string } = {},
): Promise<LoopbackSite> {
  const requests: SiteRequest[] = []
  const sockets = new Set<Socket>()

  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    const at = performance.timeOrigin + performance.now()
    requests.push({ method: request.method ?? 'GET', path, host, at, headers: request.headers })
    const route = own(routes, path) ?? own(routes, path.replace(/\?.*$/, ''))
    if (typeof route === 'function') return route(request, response)
    const found = typeof route === 'string' ? { body: route } : (route ?? { status: 404 })
    response.writeHead(found.status ?? 200, { 'content-type': typeOf(path), ...found.headers })
    response.end(found.body)
  })
  server.on('connection', (socket) => {
    if (!socket.remoteAddress?.startsWith('127.')) return socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '0.0.0.0', resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    port,
    url: (path = '/', host = address) => `http://${host}:${port}${path}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A path such as `/constructor` must not find what every object inherits. */
function own(routes: Record<string, Route>, path: string): Route | undefined {
  return Object.hasOwn(routes, path) ? routes[path] : undefined
}
