/**
 * The hostile web: a server on loopback with a named route for each way in which the web misbehaves. Every address of
 * 127.0.0.0/8 is a host of its own. It keeps a log of what it was asked, and when: the log, not the crawler's own word,
 * proves that a crawl was polite.
 *
 * Linux answers on all of 127.0.0.0/8; macOS only on 127.0.0.1 unless aliases are set up.
 */

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type HostileRequest, type HostileRoute, linksTo, page, send } from './route.js'
import { ROUTES } from './routes.js'

/** A running hostile web. */
export interface HostileWeb {
  readonly port: number
  /** The URL of a path; all addresses of 127.0.0.0/8 lead here. */
  url(path?: string, host?: string): string
  /** The URL of a route by its name, at its own host if it has one. `rest` takes the place of its `*`. */
  urlOf(name: string, rest?: string): string
  /** Everything that was asked since the start or the last `reset`, in order. */
  readonly requests: readonly HostileRequest[]
  /** Forgets what was asked: hosts that had recovered fail again. */
  reset(): void
  /** Stops at once: open connections are cut. */
  close(): Promise<void>
}

const now = () => performance.timeOrigin + performance.now()

/**
 * Starts a hostile web.
 *
 * ```ts
 * const web = await startHostileWeb()
 * // … crawl web.urlOf('calendar', '2024-01') …
 * const gaps = web.requests.slice(1).map(({ at }, n) => at - web.requests[n]!.at)
 * await web.close()
 * ```
 */
export async function startHostileWeb(): Promise<HostileWeb> {
  const requests: HostileRequest[] = []
  const timesAsked = new Map<string, number>()
  const sockets = new Set<Socket>()

  const url = (path = '/', host = '127.0.0.1') => `http://${host}:${port}${path}`

  const answer = (request: HostileRequest, response: ServerResponse, socket: Socket) => {
    const path = request.path.replace(/\?.*$/, '')
    const route = routeFor(path, request.host)
    if (route === undefined) return path === '/' ? page(response, contents()) : send(response, 404)
    const key = `${request.host} ${route.name}`
    const before = timesAsked.get(key) ?? 0
    timesAsked.set(key, before + 1)
    route.answer(request, response, {
      rest: route.path.endsWith('*') ? path.slice(route.path.length - 1) : '',
      socket,
      before,
      url: (to, host = request.host) => url(to, host),
    })
  }

  const server = createServer((incoming, response) => {
    const { method = 'GET', url: path = '/', headers, socket } = incoming
    const host = (headers.host ?? '').replace(/:\d+$/, '')
    const request: HostileRequest = { method, path, host, at: now(), endedAt: undefined, headers }
    requests.push(request)
    const end = () => {
      request.endedAt ??= now()
      socket.off('close', end)
    }
    response.on('finish', end)
    socket.on('close', end)
    answer(request, response, socket)
  })
  // Raw routes leave the server's own bookkeeping behind; its timeouts are none of the misbehaviours named.
  server.requestTimeout = server.headersTimeout = server.keepAliveTimeout = 0
  server.on('connection', (socket) => {
    if (!socket.remoteAddress?.startsWith('127.')) return socket.destroy()
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '0.0.0.0', resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    port,
    url,
    urlOf: (name, rest = '') => {
      const route = ROUTES.find((each) => each.name === name)
      if (route === undefined) throw new TypeError(`The hostile web has no route named ${name}.`)
      return url(route.path.replace('*', rest), route.host)
    },
    requests,
    reset: () => {
      requests.length = 0
      timesAsked.clear()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function routeFor(path: string, host: string): HostileRoute | undefined {
  return ROUTES.find((route) => {
    if (route.host !== undefined && route.host !== host) return false
    return route.path.endsWith('*') ? path.startsWith(route.path.slice(0, -1)) : path === route.path
  })
}

/** A start page that leads to every route of the host that all share. */
function contents(): string {
  const paths = ROUTES.filter(({ host }) => host === undefined).map(({ path }) => path.replace('*', ''))
  return `<!DOCTYPE html><title>The hostile web</title>${linksTo(...paths)}`
}
