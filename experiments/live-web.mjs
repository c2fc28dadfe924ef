/**
 * The server of the live experiment, in its own process so that it takes no time from the crawler's thread. It receives
 * the times at which each page changes, serves pages as they are at the time of a request, and keeps the log that is scored.
 *
 * live.ts starts it without a loader, so it is plain JavaScript. It exits when its parent does.
 */

import { createServer } from 'node:http'
import { performance } from 'node:perf_hooks'

/** @typedef {import('./live.js').LiveWeb} LiveWeb */
/** @typedef {import('node:http').IncomingMessage} IncomingMessage */
/** @typedef {import('node:http').ServerResponse} ServerResponse */

/** @param {LiveWeb} web */
function serve({ hosts, pagesPerHost, changesMs, latencyMs }) {
  /** Answers, one after the other: page, version, instant, status. @type {number[]} */
  const log = []
  /** How many changes each page has had. Time only moves forward, so each change is applied once. */
  const versions = new Array(changesMs.length).fill(0)
  let began = performance.now()

  /** @param {number} page @param {number} now */
  const versionAt = (page, now) => {
    const changes = changesMs[page] ?? []
    while ((changes[versions[page]] ?? Number.POSITIVE_INFINITY) <= now) versions[page]++
    return versions[page]
  }

  /** @param {number} host @param {number} page @param {number} version */
  const contentOf = (host, page, version) => {
    const links =
      page === 0
        ? Array.from({ length: pagesPerHost - 1 }, (_, i) => `<a href="/p/${i + 1}">page ${i + 1}</a>`)
        : ['<a href="/">start</a>']
    return `<!doctype html><title>Page ${page} of ${host}</title><p>Version ${version}</p>${links.join('\n')}`
  }

  /** @param {number} host @param {number} page @param {IncomingMessage} request @param {ServerResponse} response */
  const answer = (host, page, request, response) => {
    const place = host * pagesPerHost + page
    const now = performance.now() - began
    const version = versionAt(place, now)
    // Every other page can be asked for conditionally. The others are compared by what they say.
    const etag = place % 2 === 0 ? `"${version}"` : undefined
    const status = etag !== undefined && request.headers['if-none-match'] === etag ? 304 : 200
    log.push(place, version, now, status)
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...(etag && { etag }) })
    response.end(status === 304 ? undefined : contentOf(host, page, version))
  }

  const server = createServer({ noDelay: true }, (request, response) => {
    const host = Number(/^127\.1\.0\.(\d+):/.exec(request.headers.host ?? '')?.[1] ?? 0) - 1
    const page = request.url === '/' ? 0 : Number(/^\/p\/(\d+)$/.exec(request.url ?? '')?.[1] ?? -1)
    if (host < 0 || host >= hosts || page < 0 || page >= pagesPerHost) {
      response.writeHead(404).end()
      return
    }
    setTimeout(answer, latencyMs, host, page, request, response)
  })
  // A connection that is closed at the very moment of a request would be a failure, and is another experiment.
  server.keepAliveTimeout = 0
  // The socket listens on every address of the machine, so reject connections from elsewhere.
  server.on('connection', (socket) => void (socket.remoteAddress?.startsWith('127.') || socket.destroy()))
  server.listen({ host: '0.0.0.0', port: 0, backlog: 1024 }, () => {
    process.on('message', (ask) => {
      if (ask === 'begin') began = performance.now()
      process.send?.(ask === 'begin' ? { begun: true } : { log })
    })
    process.send?.({ port: /** @type {import('node:net').AddressInfo} */ (server.address()).port })
  })
}

process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())
process.once('message', (web) => serve(/** @type {LiveWeb} */ (web)))
