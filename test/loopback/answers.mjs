/** The bytes that the loopback web answers with: whole responses, ready to be handed to a socket in one piece. */

import { gzipSync } from 'node:zlib'
import { ROBOTS, STRAY } from './log.mjs'
import { createPages } from './pages.mjs'

/** @typedef {import('./shape.mjs').WebShape} WebShape */

/**
 * A web that fits into so many bytes is made only once. A larger one is made anew for every request: a crawl asks
 * for each page once, and keeping some of them costs more than making them.
 */
const CACHE_BYTES = 64 * 1024 * 1024
/** The fastest level: how small an answer gets is not what is measured here. */
const GZIP_LEVEL = 1

const END_OF_HEAD = '\r\n\r\n'
const HTML = 'text/html; charset=utf-8'
const GZIP_HEADERS = '\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding'

/** @param {string} type @param {number} length @param {string} [more] */
const headOf = (type, length, more = '') =>
  Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${length}${more}${END_OF_HEAD}`)

const NOT_FOUND = Buffer.from(`HTTP/1.1 404 Not Found\r\nContent-Length: 0${END_OF_HEAD}`)

/** The answer to what is no GET request, or too long for one; the connection ends after it. */
export const REFUSAL = Buffer.from(
  `HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close${END_OF_HEAD}`,
)

/** The same answer, with a word of farewell. @param {Buffer} answer */
export function closing(answer) {
  const end = answer.indexOf(END_OF_HEAD)
  return Buffer.concat([answer.subarray(0, end), Buffer.from('\r\nConnection: close'), answer.subarray(end)])
}

/**
 * The answers of a web, which the caller must not change. An answer is good until the next is asked for: a caller
 * that still needs it then says so with `spare()`.
 *
 * @param {WebShape} shape
 * @param {number} port
 */
export function createAnswers(shape, port) {
  const write = createPages(shape, port)
  const head = headOf(HTML, shape.bytes)
  const length = head.length + shape.bytes
  const robots = shape.robots === undefined ? NOT_FOUND : robotsAnswer(shape.robots)
  /** By the number of the page, twice: as it is and compressed. @type {Buffer[] | undefined} */
  const kept = shape.totalPages * length <= CACHE_BYTES ? [] : undefined
  /** Written over for every page that is not kept, since fresh memory costs as much as the page itself. */
  let scratch = Buffer.alloc(0)

  /** @param {number} host @param {number} page @param {boolean} gzip */
  const make = (host, page, gzip) => {
    if (kept || scratch.length === 0) {
      scratch = Buffer.allocUnsafeSlow(length)
      scratch.set(head)
    }
    write(host, page, scratch, head.length)
    if (!gzip) return scratch
    const body = gzipSync(scratch.subarray(head.length), { level: GZIP_LEVEL })
    return Buffer.concat([headOf(HTML, body.length, GZIP_HEADERS), body])
  }

  return {
    /** @param {number} host @param {number} page @param {boolean} gzip @returns {Buffer} */
    answer(host, page, gzip) {
      if (page === ROBOTS) return robots
      if (page === STRAY) return NOT_FOUND
      if (!kept) return make(host, page, gzip)
      const index = (shape.firstPage[host] + page) * 2 + (gzip ? 1 : 0)
      return (kept[index] ??= make(host, page, gzip))
    },
    /** Leaves the last answer to whoever has it. */
    spare() {
      scratch = Buffer.alloc(0)
    },
  }
}

/** @param {string} text */
function robotsAnswer(text) {
  const body = Buffer.from(text)
  return Buffer.concat([headOf('text/plain; charset=utf-8', body.length), body])
}
