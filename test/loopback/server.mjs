/**
 * The server of the loopback web: a process of its own, so that it takes no time from the crawler under test, on
 * bare sockets, so that it is never the limit. It reads GET requests, answers them and keeps the log.
 *
 * Answers are not given while requests are being read, but after every socket that had something to say was read.
 * So two requests that were under way at the same time are seen as two open requests, even if answering takes no
 * time at all.
 *
 * Started by web.ts; it does what messages from there ask for, and leaves when its parent does.
 */

import { createServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import { closing, createAnswers, REFUSAL } from './answers.mjs'
import { RequestLog, ROBOTS, STRAY } from './log.mjs'
import { addressOf, hostAt, latencyOf, pageAt, pagesOf, pathOf, shapeOf } from './shape.mjs'

/** @typedef {import('node:net').Socket} Socket */
/** @typedef {import('./shape.mjs').WebShape} WebShape */
/**
 * @typedef {object} Pending a request that was read and not yet answered
 * @property {RequestLog} log the log of its time, should a reset come between
 * @property {number} at its place there
 * @property {number} host
 * @property {number} page
 * @property {number} due when to answer
 * @property {boolean} close
 * @property {boolean} gzip
 */
/** @typedef {{ socket: Socket, unread: string, queue: Pending[], timer?: NodeJS.Timeout }} Connection */

/** As much as a server in the field would read before it gives up on a request. */
const LONGEST_REQUEST = 64 * 1024
const END_OF_REQUEST = '\r\n\r\n'
const BACKLOG = 4096

/** @param {WebShape} shape */
function serve(shape) {
  let log = new RequestLog(shape, 0)
  /** @type {ReturnType<typeof createAnswers>} */
  let answers
  /** @type {Map<string, number>} */
  const knownHosts = new Map()
  /** Filled by `take` and emptied by `answerAll`: connections whose first request is due. @type {Connection[]} */
  let ready = []
  /** Filled by `nextRequest` and emptied by `take`: who waits for a request to arrive. @type {((at: number) => void)[]} */
  const expectant = []

  /** @param {string} name the Host header */
  const hostNamed = (name) => {
    let host = knownHosts.get(name)
    if (host === undefined) {
      host = hostAt(shape, name.replace(/:\d+$/, ''))
      knownHosts.set(name, host)
    }
    return host
  }

  /** @param {Connection} connection @param {string} request @param {number} now */
  const take = (connection, request, now) => {
    const pathEnd = request.indexOf(' ', 4)
    const path = request.slice(4, pathEnd)
    const host = hostNamed(/\r\nhost:[ \t]*([^\r]*)/i.exec(request)?.[1] ?? '')
    let page = path === '/robots.txt' ? ROBOTS : pageAt(path)
    if (host < 0 || page >= pagesOf(shape, host)) page = STRAY
    const close = /\r\nconnection:[ \t]*close/i.test(request) || request.startsWith('HTTP/1.0', pathEnd + 1)
    const gzip = shape.gzip && /\r\naccept-encoding:[^\r]*gzip/i.test(request)
    const due = now + latencyOf(shape, host, page)
    connection.queue.push({ log, at: log.begin(host, page, now), host, page, due, close, gzip })
    if (connection.queue.length === 1) plan(connection, now)
    if (expectant.length > 0) for (const tell of expectant.splice(0)) tell(performance.timeOrigin + now)
  }

  /** @param {Connection} connection @param {number} now */
  const plan = (connection, now) => {
    const wait = connection.queue[0].due - now
    if (wait > 0) {
      connection.timer = setTimeout(answer, Math.ceil(wait), connection)
    } else if (ready.push(connection) === 1) {
      setImmediate(answerAll)
    }
  }

  const answerAll = () => {
    const connections = ready
    ready = []
    for (const connection of connections) answer(connection)
  }

  /** Answers what is due, in the order of the requests. @param {Connection} connection */
  const answer = (connection) => {
    const { socket, queue } = connection
    const now = performance.now()
    // Node may fire a timer up to a millisecond early, and the first request is why we are here.
    for (let first = true; queue.length > 0 && (first || queue[0].due <= now); first = false) {
      const pending = /** @type {Pending} */ (queue.shift())
      const bytes = answers.answer(pending.host, pending.page, pending.gzip)
      const whole = pending.close ? closing(bytes) : bytes
      pending.log.end(pending.at, whole.length)
      if (pending.close) hangUp(connection, whole)
      else socket.write(whole)
      // The kernel has not taken all of it yet, so the bytes must stay as they are.
      if (socket.writableLength > 0) answers.spare()
    }
    if (queue.length > 0) plan(connection, now)
  }

  /** @param {Connection} connection @param {Buffer} lastWords */
  const hangUp = (connection, lastWords) => {
    connection.socket.removeAllListeners('data').resume().end(lastWords)
    forget(connection)
  }

  /** @param {Connection} connection */
  const forget = (connection) => {
    clearTimeout(connection.timer)
    for (const { log, at } of connection.queue) log.abandon(at)
    connection.queue.length = 0
  }

  /** @param {Connection} connection @param {Buffer} chunk */
  const read = (connection, chunk) => {
    const now = performance.now()
    const text = connection.unread + chunk.toString('latin1')
    let from = 0
    for (let end = 0; (end = text.indexOf(END_OF_REQUEST, from)) >= 0; from = end + END_OF_REQUEST.length) {
      if (!text.startsWith('GET ', from)) return hangUp(connection, REFUSAL)
      take(connection, text.slice(from, end), now)
    }
    connection.unread = text.slice(from)
    if (connection.unread.length > LONGEST_REQUEST) hangUp(connection, REFUSAL)
  }

  const server = createServer({ noDelay: true }, (socket) => {
    // The socket listens on every address of the machine, but this web is nobody else's business.
    if (!socket.remoteAddress?.startsWith('127.')) return socket.destroy()
    /** @type {Connection} */
    const connection = { socket, unread: '', queue: [] }
    log.connections(1)
    socket.on('data', (chunk) => read(connection, chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      log.connections(-1)
      forget(connection)
    })
  })

  /** What the parent may ask for. @type {Record<string, (...details: any[]) => unknown>} */
  const desk = {
    report: (allowed, gapMs, countRobots) => log.report(allowed, gapMs, countRobots),
    pagesServed: () => log.pagesServed().map(([host, page]) => urlOf(host, page)),
    requests: () => log.requests().map(({ page, ...seen }) => ({ ...seen, url: urlOf(seen.host, page) })),
    nextRequest: () => new Promise((resolve) => expectant.push(resolve)),
    reset: () => {
      log = new RequestLog(shape, log.openConnections)
    },
  }
  const port = () => /** @type {import('node:net').AddressInfo} */ (server.address()).port
  /** @param {number} host @param {number} page @returns {string | undefined} */
  const urlOf = (host, page) => {
    if (page === STRAY) return undefined
    return `http://${addressOf(shape, host)}:${port()}${page === ROBOTS ? '/robots.txt' : pathOf(page)}`
  }

  server.listen({ host: shape.bind, port: shape.port, backlog: BACKLOG }, () => {
    answers = createAnswers(shape, port())
    process.on('message', async (/** @type {any} */ { id, ask, details }) => {
      process.send?.({ id, answer: await desk[ask]?.(...details) })
    })
    process.send?.({ port: port() })
  })
}

process.on('uncaughtException', (error) => process.send?.({ error: error.message }, () => process.exit(1)))
// Ctrl-C goes to the whole process group; the parent still wants the log, and its leaving ends this process.
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())
process.once('message', (/** @type {any} */ options) => serve(shapeOf(options)))
