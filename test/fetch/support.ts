/** What the tests of this room share: raw TCP servers that can misbehave in any way, and the engine's side of a fetch. */

import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { FetchContext, FetchedResponse, FetchFailure, Outcome } from '../../src/fetch/contract.js'
import { type HttpFetcherOptions, httpFetcher } from '../../src/fetch/http/http.js'
import type { CrawlRequest } from '../../src/types.js'

export interface RawServer {
  readonly port: number
  /** `http://127.0.0.1:port` + path, or at another address of 127.0.0.0/8. */
  url(path?: string, address?: string): string
  /** Connections accepted so far, open now, and most open at a time. */
  readonly accepted: number
  readonly open: number
  readonly mostOpen: number
  /** The request line of every request, in order of arrival. */
  readonly requests: string[]
  /** The text of the last request. */
  readonly lastRequest: string
  close(): Promise<void>
}

export interface RawRequest {
  readonly socket: Socket
  readonly path: string
  /** Requests before this one on the same connection. */
  readonly earlier: number
}

/** Listens on every loopback address and hands each request (a head without body) to `answer`. */
export async function rawServer(answer: (request: RawRequest) => void): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const state = { accepted: 0, mostOpen: 0, requests: [] as string[], lastRequest: '' }
  const server = createServer((socket) => {
    state.accepted++
    sockets.add(socket)
    state.mostOpen = Math.max(state.mostOpen, sockets.size)
    let received = ''
    let earlier = 0
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
        state.lastRequest = received.slice(0, end + 4)
        received = received.slice(end + 4)
        const line = state.lastRequest.split('\r\n', 1)[0]!
        state.requests.push(line)
        answer({ socket, path: line.split(' ')[1]!, earlier: earlier++ })
      }
    })
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    if (!server.listening) return
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  onTestFinished(close)
  return {
    port,
    url: (path = '/', address = '127.0.0.1') => `http://${address}:${port}${path}`,
    get accepted() {
      return state.accepted
    },
    get open() {
      return sockets.size
    },
    get mostOpen() {
      return state.mostOpen
    },
    get lastRequest() {
      return state.lastRequest
    },
    requests: state.requests,
    close,
  }
}

/** A server that writes the same bytes for every request, then keeps the connection open. */
export function fixedServer(...parts: (string | Uint8Array)[]): Promise<RawServer> {
  return rawServer(({ socket }) => {
    for (const part of parts) socket.write(part)
  })
}

/** A complete response. */
export function reply(
  body: string | Uint8Array = '',
  headers: Record<string, string | number> = {},
  status = '200 OK',
): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const lines = Object.entries({ 'Content-Type': 'text/html', 'Content-Length': bytes.length, ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${head}\r\n`, 'latin1'), bytes])
}

/** A fetcher that is closed when the test ends. */
export function makeFetcher(options: Partial<HttpFetcherOptions> = {}) {
  const fetcher = httpFetcher({ userAgent: 'Kumo/0.1 (+https://example.com/bot)', ...options })
  onTestFinished(() => fetcher.close())
  return fetcher
}

export function requestFor(url: string): CrawlRequest {
  const host = URL.canParse(url) ? new URL(url).host : 'nowhere'
  return { url, host, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}

/** The engine's side of a fetch. */
export class TestContext implements FetchContext {
  onAbort: (() => void) | undefined
  aborted = false

  constructor(readonly wants: (mediaType: string) => boolean = () => true) {}

  get signal(): AbortSignal {
    throw new Error('The HTTP fetcher uses onAbort; a signal costs more than the rest of the call.')
  }

  abort(): void {
    this.aborted = true
    this.onAbort?.()
  }
}

export function responseOf(outcome: Outcome): FetchedResponse {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`, { cause: outcome.cause })
  return outcome
}

export function failureOf(outcome: Outcome): FetchFailure {
  if (outcome.ok) throw new Error(`Expected a failure, got status ${outcome.status}`)
  return outcome
}

export function textOf(outcome: Outcome): string {
  return Buffer.from(responseOf(outcome).body).toString('utf8')
}

export const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))

/** Longer than anything takes on a machine that is busy with other things: only what never happens meets it. */
const PATIENCE_MS = 300_000

export async function until(condition: () => boolean, what: string, patienceMs = PATIENCE_MS): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Did not happen within ${patienceMs} ms: ${what}`)
    await sleep(2)
  }
}

const SUITES = fileURLToPath(new URL('../../../shared/suites/', import.meta.url))

/** A file of the external suites; undefined where they are not at hand. */
export function suiteFile(path: string): Buffer | undefined {
  return existsSync(SUITES + path) ? readFileSync(SUITES + path) : undefined
}
