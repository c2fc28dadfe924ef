/**
 * A real web for tests and measurements: real sockets, many hosts (every address of 127.0.0.0/8 is one), served by
 * a process of its own that keeps a log. The log, not the crawler's own word, proves that a crawl was polite.
 *
 * Linux answers on all of 127.0.0.0/8; macOS only on 127.0.0.1 unless aliases are set up (use `bind` there).
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { addressOf, pathOf, shapeOf } from './shape.mjs'

/** Describes a web. Everything has a default: one host of 100 pages of 14 KB with 60 links. */
export interface WebOptions {
  hosts?: number
  /** One number for all hosts, or one for each. */
  pagesPerHost?: number | number[]
  linksPerPage?: number
  /** The exact size of a page, before compression. */
  bytes?: number
  /** Share (0…1) of links that lead to other hosts. Above 0, every host is reachable from the first. */
  crossHostShare?: number
  /** How long the server takes over each answer: always so many ms, or a draw from [lowest, highest]. */
  latencyMs?: number | [number, number]
  seed?: number
  /** The body of every host's robots.txt; without it there is none (404). */
  robots?: string
  /** Compresses pages for clients that accept it. Making a page then takes the server ten times as long. */
  gzip?: boolean
  /** `'127.0.0.1'`: listen there only, with a single host of that address. */
  bind?: '0.0.0.0' | '127.0.0.1'
  /** A free port is chosen by default. */
  port?: number
}

/** What the server saw since it started or was reset. Instants are ms since the epoch. */
export interface WebReport {
  /** All of them: pages, robots.txt, strays. */
  requests: number
  distinctPages: number
  /** Pages that were served more than once. */
  duplicates: number
  robotsRequests: number
  /** Requests for hosts or paths that the web does not have. */
  strays: number
  /** Politeness. robots.txt counts only if asked for, since a crawler may fetch it on the way to the first page. */
  perHost: {
    /** Hosts that were asked for something. */
    hosts: number
    /** Requests that began while more than `allowed` others of their host were open. */
    overlaps: number
    /** Most requests open at the same time at one host. */
    mostOpen: number
    /** Shortest time from the end of a host's earlier requests to its next; 0 if they overlapped, null if none. */
    shortestGapMs: number | null
    /** Requests that followed the one before at their host by less than `gapMs`. */
    belowGap: number
  }
  openConnectionsMax: number
  firstStart: number | null
  lastEnd: number | null
  bytesSent: number
  /** CPU time of the server process. */
  cpuMs: number
}

/** One request as the log keeps it. Instants are ms since the epoch. */
export interface WebRequest {
  host: number
  /** Undefined if the web has no such host or path. */
  url: string | undefined
  start: number
  /** Infinity while it is open. */
  end: number
  /** False while it is open, and if the client went away before it was answered. */
  answered: boolean
}

/** How to read the log beyond `allowed`. */
export interface ReportDetails {
  /** The visit interval that `belowGap` is counted against. */
  gapMs?: number
  /** Whether requests for robots.txt count for politeness. */
  countRobots?: boolean
}

/** A running web. */
export interface LoopbackWeb {
  readonly port: number
  /** The server's process. */
  readonly pid: number
  readonly totalPages: number
  /** The address of a page; page 0 is the host's start page. */
  url(host: number, page?: number): string
  /** The start pages of the first `n` hosts. */
  seeds(n?: number): string[]
  /**
   * @param allowed how many other requests may be open at a host when one begins: a crawler that keeps to n at a
   *   time is allowed n - 1.
   */
  report(allowed?: number, details?: ReportDetails): Promise<WebReport>
  /** The URLs of all pages that were served, each once. For small webs. */
  pagesServed(): Promise<string[]>
  /** The whole log, in the order of the starts. */
  requests(): Promise<WebRequest[]>
  /** Resolves when the next request arrives, with the instant of its arrival. */
  nextRequest(): Promise<number>
  /** Forgets the log; requests that are open now are in neither the old log nor the new one. */
  reset(): Promise<void>
  /** Stops the server and waits until it is gone. */
  close(): Promise<void>
}

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url))

/** The words of the server: its port, answers by the number of the question, or why it cannot go on. */
type Message = { port: number } | { id: number; answer: unknown } | { error: string }

/**
 * Starts a web.
 *
 * ```ts
 * const web = await startWeb({ hosts: 20, pagesPerHost: 50, crossHostShare: 0.1, latencyMs: [1, 5] })
 * // … crawl web.seeds(1) …
 * const { distinctPages, perHost } = await web.report()
 * await web.close()
 * ```
 */
export async function startWeb(options: WebOptions = {}): Promise<LoopbackWeb> {
  const shape = shapeOf(options)
  const child = fork(SERVER, { execArgv: [] })
  const gone = once(child, 'exit')
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  let questions = 0

  const port = await new Promise<number>((resolve, reject) => {
    let reason = 'The server of the loopback web has ended.'
    child.on('message', (message: Message) => {
      if ('port' in message) return resolve(message.port)
      if ('error' in message) return void (reason = message.error)
      waiting.get(message.id)?.resolve(message.answer)
      waiting.delete(message.id)
    })
    child.once('exit', () => {
      reject(new Error(reason))
      for (const { reject } of waiting.values()) reject(new Error(reason))
      waiting.clear()
    })
    child.send(options)
  })

  const ask = <T>(ask: string, ...details: unknown[]) =>
    new Promise<T>((resolve, reject) => {
      const id = questions++
      waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject })
      child.send({ id, ask, details }, (error) => error && reject(error))
    })
  const url = (host: number, page = 0) => `http://${addressOf(shape, host)}:${port}${pathOf(page)}`

  return {
    port,
    pid: child.pid!,
    totalPages: shape.totalPages,
    url,
    seeds: (n = shape.hosts) => Array.from({ length: Math.min(n, shape.hosts) }, (_, host) => url(host)),
    report: (allowed = 0, { gapMs = 0, countRobots = false } = {}) =>
      ask('report', allowed, gapMs, countRobots),
    pagesServed: () => ask('pagesServed'),
    async requests() {
      const sent = await ask<(Omit<WebRequest, 'end'> & { end: number | null })[]>('requests')
      return sent.map((each) => ({ ...each, url: each.url, end: each.end ?? Number.POSITIVE_INFINITY }))
    },
    nextRequest: () => ask('nextRequest'),
    reset: () => ask('reset'),
    close: () => stop(child, gone),
  }
}

async function stop(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  child.kill()
  await gone
}
