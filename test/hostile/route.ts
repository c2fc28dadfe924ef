/** What a route of the hostile web is made of, and the few lines that nearly all of them need. */

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A request that the hostile web received. Instants are ms since the epoch. */
export interface HostileRequest {
  method: string
  /** With its query. */
  path: string
  /** The Host header without the port. */
  host: string
  at: number
  /** When the answer was handed over, or the connection was gone; undefined while neither has happened. */
  endedAt: number | undefined
  headers: IncomingHttpHeaders
}

/** What a route may do besides answering. */
export interface Answering {
  /** What the `*` of the route's path stands for, without the query. */
  readonly rest: string
  readonly socket: Socket
  /** How often this route was asked for by its host before. */
  readonly before: number
  /** The URL of a path, at this host or another of 127.0.0.0/8. */
  url(path: string, host?: string): string
}

/** One misbehaviour. */
export interface HostileRoute {
  readonly name: string
  /** A `*` at the end stands for anything. */
  readonly path: string
  /** The only host that has this route; absent: every host has it. */
  readonly host?: string
  /** What it does, in one line for people. */
  readonly does: string
  answer(request: HostileRequest, response: ServerResponse, to: Answering): void
}

const HTML = 'text/html; charset=utf-8'

type Headers = Record<string, string | string[]>

/** Answers with a whole, honest page. */
export function page(response: ServerResponse, body: string | Uint8Array, headers: Headers = {}): void {
  send(response, 200, body, { 'content-type': HTML, ...headers })
}

export function send(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array = '',
  headers: Headers = {},
): void {
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
  response.end(body)
}

export function redirect(response: ServerResponse, location: string, status = 302): void {
  send(response, status, '', { location })
}

/** Links to each, one a line. */
export function linksTo(...hrefs: readonly string[]): string {
  return hrefs.map((href) => `<a href="${href}">${href}</a>\n`).join('')
}

/** A status line and headers as they go over the wire. */
export function head(...headers: readonly string[]): string {
  return `${['HTTP/1.1 200 OK', 'Content-Type: text/html', ...headers].join('\r\n')}\r\n\r\n`
}

/** Writes `piece` again and again for as long as the other side takes it. */
export function writeForever(socket: Socket, piece: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', write)
  write()
}

/** Writes one piece at each beat, until there are no more or nobody listens. */
export function drip(socket: Socket, pieces: Iterable<string>, everyMs: number): void {
  const iterator = pieces[Symbol.iterator]()
  const timer = setInterval(() => {
    const { value, done } = iterator.next()
    if (done) clearInterval(timer)
    else socket.write(value)
  }, everyMs)
  socket.on('close', () => clearInterval(timer))
}
