/**
 * The memory of the loopback web: who was asked for what, and when. It is the witness for politeness, so it must
 * never accuse the innocent: a request begins when it has been read whole (at or after the client sent it) and
 * ends just before its last byte is handed to the socket (before the client can have it). A client that waits
 * 100 ms is therefore seen to wait at least 100 ms; one that waits less is seen with up to the way there and back
 * in its favour.
 *
 * Columns of numbers, 25 bytes a request, so that logging costs next to nothing and a million requests fit.
 */

import { performance } from 'node:perf_hooks'

/** @typedef {import('./web.js').WebReport} WebReport */
/** @typedef {import('./shape.mjs').WebShape} WebShape */

/** Stands for a page: the host or path is none of this web's; `pageAt` says so too. */
export const STRAY = -1
/** Stands for a page: /robots.txt. */
export const ROBOTS = -2

const FIRST_CAPACITY = 4096

/** @template {Int32Array | Float64Array | Uint8Array} T @param {T} column @returns {T} */
function doubled(column) {
  const wider = /** @type {T} */ (new /** @type {any} */ (column.constructor)(column.length * 2))
  wider.set(column)
  return wider
}

/** One log, from the start or a reset to the next reset. Requests are kept in the order of their starts. */
export class RequestLog {
  #shape
  #count = 0
  #hosts = new Int32Array(FIRST_CAPACITY)
  #pages = new Int32Array(FIRST_CAPACITY)
  #starts = new Float64Array(FIRST_CAPACITY)
  /** Infinity while a request is open. */
  #ends = new Float64Array(FIRST_CAPACITY)
  /** 1 once the answer was handed over; 0 while a request is open, and if its client went away. */
  #answered = new Uint8Array(FIRST_CAPACITY)
  /** How often each page was served; 255 stands for more. */
  #served
  #robots = 0
  #strays = 0
  #bytes = 0
  #openConnections
  #openConnectionsMax
  #cpu = process.cpuUsage()

  /** @param {WebShape} shape @param {number} openConnections */
  constructor(shape, openConnections) {
    this.#shape = shape
    this.#served = new Uint8Array(shape.totalPages)
    this.#openConnections = this.#openConnectionsMax = openConnections
  }

  /** @param {1 | -1} change */
  connections(change) {
    this.#openConnections += change
    this.#openConnectionsMax = Math.max(this.#openConnectionsMax, this.#openConnections)
  }

  get openConnections() {
    return this.#openConnections
  }

  /** Returns the place of the request, to end it by. @param {number} host @param {number} page @param {number} now */
  begin(host, page, now) {
    if (this.#count === this.#hosts.length) {
      this.#hosts = doubled(this.#hosts)
      this.#pages = doubled(this.#pages)
      this.#starts = doubled(this.#starts)
      this.#ends = doubled(this.#ends)
      this.#answered = doubled(this.#answered)
    }
    const at = this.#count++
    this.#hosts[at] = host
    this.#pages[at] = page
    this.#starts[at] = now
    this.#ends[at] = Number.POSITIVE_INFINITY
    if (page === ROBOTS) this.#robots++
    else if (page === STRAY) this.#strays++
    return at
  }

  /** The answer, of so many bytes, is about to be handed to the socket. @param {number} at @param {number} bytes */
  end(at, bytes) {
    this.#bytes += bytes
    const page = this.#pages[at]
    if (page >= 0) {
      const index = this.#shape.firstPage[this.#hosts[at]] + page
      if (this.#served[index] < 255) this.#served[index]++
    }
    this.#answered[at] = 1
    this.#ends[at] = performance.now()
  }

  /** The client went away before it was answered. @param {number} at */
  abandon(at) {
    this.#ends[at] = performance.now()
  }

  /** The pages that were served, as pairs of host and page. @returns {[number, number][]} */
  pagesServed() {
    /** @type {[number, number][]} */
    const pairs = []
    const { firstPage, hosts } = this.#shape
    for (let host = 0; host < hosts; host++) {
      for (let index = firstPage[host]; index < firstPage[host + 1]; index++) {
        if (this.#served[index] > 0) pairs.push([host, index - firstPage[host]])
      }
    }
    return pairs
  }

  /** Every request in the order of their starts. An open one ends at null, since JSON knows no Infinity. */
  requests() {
    return Array.from({ length: this.#count }, (_, at) => ({
      host: this.#hosts[at],
      page: this.#pages[at],
      start: performance.timeOrigin + this.#starts[at],
      end: this.#ends[at] < Number.POSITIVE_INFINITY ? performance.timeOrigin + this.#ends[at] : null,
      answered: this.#answered[at] === 1,
    }))
  }

  /** @param {number} allowed @param {number} gapMs @param {boolean} countRobots @returns {WebReport} */
  report(allowed, gapMs, countRobots) {
    let distinctPages = 0
    let duplicates = 0
    for (const times of this.#served) {
      if (times > 0) distinctPages++
      if (times > 1) duplicates++
    }
    let lastEnd = Number.NEGATIVE_INFINITY
    for (let at = 0; at < this.#count; at++) {
      if (this.#ends[at] < Number.POSITIVE_INFINITY) lastEnd = Math.max(lastEnd, this.#ends[at])
    }
    const { user, system } = process.cpuUsage(this.#cpu)
    return {
      requests: this.#count,
      distinctPages,
      duplicates,
      robotsRequests: this.#robots,
      strays: this.#strays,
      perHost: this.#politeness(allowed, gapMs, countRobots),
      openConnectionsMax: this.#openConnectionsMax,
      firstStart: this.#count > 0 ? performance.timeOrigin + this.#starts[0] : null,
      lastEnd: Number.isFinite(lastEnd) ? performance.timeOrigin + lastEnd : null,
      bytesSent: this.#bytes,
      cpuMs: (user + system) / 1000,
    }
  }

  /** @param {number} allowed @param {number} gapMs @param {boolean} countRobots @returns {WebReport['perHost']} */
  #politeness(allowed, gapMs, countRobots) {
    const summary = { hosts: 0, overlaps: 0, mostOpen: 0, belowGap: 0 }
    let shortestGapMs = Number.POSITIVE_INFINITY
    /** Requests of each host that are open at the start in hand, by their ends. @type {Map<number, number[]>} */
    const openByHost = new Map()
    /** The latest end among the earlier requests of a host. @type {Map<number, number>} */
    const latestEnds = new Map()
    for (let at = 0; at < this.#count; at++) {
      const host = this.#hosts[at]
      if (host < 0 || (this.#pages[at] === ROBOTS && !countRobots)) continue
      const start = this.#starts[at]
      const latestEnd = latestEnds.get(host)
      const open = (openByHost.get(host) ?? []).filter((end) => end > start)
      if (latestEnd !== undefined) {
        const gap = Math.max(0, start - latestEnd)
        shortestGapMs = Math.min(shortestGapMs, gap)
        if (gap < gapMs) summary.belowGap++
      }
      if (open.length > allowed) summary.overlaps++
      open.push(this.#ends[at])
      summary.mostOpen = Math.max(summary.mostOpen, open.length)
      openByHost.set(host, open)
      latestEnds.set(host, Math.max(latestEnd ?? 0, this.#ends[at]))
    }
    // Infinity does not survive the way through JSON, and null says it better: no host was asked twice.
    return {
      ...summary,
      hosts: latestEnds.size,
      shortestGapMs: Number.isFinite(shortestGapMs) ? shortestGapMs : null,
    }
  }
}
