import { Heap } from '../../frontier/heap.js'
import { MemoryFrontier } from '../../frontier/memory.js'
import { DEFAULTS } from '../../options/options.js'
import { byHost } from '../../partition/by-host.js'
import type { PageRecord } from '../../refresh/contract.js'
import { RefreshSchedule } from '../../refresh/refresh-schedule.js'
import { storeContext } from '../../run/plan-store.js'
import type { CrawlRequest } from '../../types.js'
import { virtualClock } from '../virtual-clock.js'
import { logNormalTable, mixed } from './chance.js'
import { ChangingPages } from './changing-pages.js'
import type { RefreshForecast, RefreshSimulation, RefreshWorld, SimulatedServer } from './contract.js'
import { Punctuality } from './punctuality.js'

const USUAL_BYTES = 22_000
/** Number of values from which the duration of a download is picked. */
const DOWNLOADS = 4096
/** Makes the durations of downloads independent of the changes of pages. */
const OTHER_SEED = 0x5bd1e995

interface Server {
  readonly host: string
  readonly downloadMs: number
  readonly delayMs: number | undefined
}

interface Visit {
  readonly request: CrawlRequest
  readonly page: number
  readonly askedAt: number
  readonly downloadMs: number
}

/** What is waiting in a running crawl. */
export interface Backlog {
  /** Known pages that are due and not being visited. */
  readonly overdue: number
  /** Pages that were never visited. */
  readonly unseen: number
}

/** A crawl in virtual time that can be run step by step. See `simulateRefresh`. */
export class RefreshRun {
  /** When it began. Times are as large as in a real crawl. */
  readonly start: number
  readonly schedule: RefreshSchedule
  /** The factor by which downloads take longer than their servers' means: a network problem. */
  slowness = 1
  readonly #frontier: MemoryFrontier
  readonly #sockets: number
  readonly #seed: number
  readonly #pages: ChangingPages
  readonly #downloads: Float64Array
  readonly #bySchedule = new Punctuality()
  readonly #byWish = new Punctuality()
  readonly #servers: Server[] = []
  readonly #places = new Map<string, number>()
  // The following arrays have an entry per page.
  readonly #serverOf: number[] = []
  readonly #bytesOf: number[] = []
  readonly #records: (PageRecord | undefined)[] = []
  /** When its next visit is scheduled; Infinity during a visit. */
  readonly #dueAt: number[] = []
  readonly #visits = new Heap<Visit>()
  #now: number
  #scoredFrom = Number.POSITIVE_INFINITY
  #made = 0
  #missed = 0
  #bytes = 0
  #busyMs = 0
  #peak = 0

  constructor({ sockets, delayMs, refresh, seed = 1, downloadSpread = 0 }: RefreshSimulation) {
    const clock = virtualClock()
    this.start = clock.now()
    this.#now = this.start
    this.#sockets = sockets
    this.#seed = seed
    this.#pages = new ChangingPages(seed)
    this.#downloads = logNormalTable(1, downloadSpread, downloadSpread === 0 ? 1 : DOWNLOADS)
    this.schedule = new RefreshSchedule(refresh, { sockets, minIntervalMs: delayMs })
    // The same function configures the frontier of a real crawl.
    const { politeness, policy } = storeContext(
      { ...DEFAULTS, delayMs, refresh },
      byHost(),
      clock,
      this.schedule,
    )
    this.#frontier = new MemoryFrontier(politeness, policy)
  }

  get now(): number {
    return this.#now
  }

  /** Adds a server and its pages now. A server that is already known gets more pages. */
  add({ host, pages, downloadMs, delayMs }: SimulatedServer): void {
    let server = this.#places.get(host)
    if (server === undefined) {
      server = this.#servers.push({ host, downloadMs, delayMs }) - 1
      this.#places.set(host, server)
      this.#bySchedule.add()
      this.#byWish.add()
    }
    const place = server
    const requests = pages.map(({ changeMs, bytes = USUAL_BYTES }) => {
      const page = this.#pages.add(changeMs, this.#now)
      this.#serverOf.push(place)
      this.#bytesOf.push(bytes)
      this.#records.push(undefined)
      this.#dueAt.push(this.#now)
      return requestOf(host, page)
    })
    this.#frontier.add(requests)
  }

  /** Starts counting now. */
  score(): void {
    this.#scoredFrom = this.#now
    this.#pages.scoreFrom(this.#now)
    this.#peak = this.#visits.size
  }

  /** Runs until this time. */
  goTo(instant: number): void {
    for (;;) {
      this.#begin()
      const isFree = this.#visits.size < this.#sockets
      const next = Math.min(this.#visits.topKey, isFree ? this.#frontier.nextDue() : Number.POSITIVE_INFINITY)
      this.#pass(Math.min(next, instant))
      if (next > instant) return
      while (this.#visits.topKey <= this.#now) this.#end(this.#visits.pop()!)
    }
  }

  /** What is waiting now. Iterates over all pages. */
  backlog(): Backlog {
    let overdue = 0
    let unseen = 0
    for (let page = 0; page < this.#dueAt.length; page++) {
      if (this.#records[page] === undefined) unseen++
      else if (this.#dueAt[page]! < this.#now) overdue++
    }
    return { overdue, unseen }
  }

  /** The result since `score`. The run cannot continue after this. */
  forecast(): RefreshForecast {
    const lastedMs = this.#now - this.#scoredFrom
    for (let page = 0; page < this.#dueAt.length; page++) {
      const dueAt = this.#dueAt[page]!
      if (dueAt >= this.#now) continue
      const server = this.#serverOf[page]!
      this.#bySchedule.waits(server, dueAt)
      this.#byWish.waits(server, dueAt)
      this.#late(page, server)
    }
    const { changes, caught, freshness, meanAgeMs } = this.#pages.finish(this.#now)
    return {
      visits: this.#made,
      missed: this.#missed,
      changes,
      caught,
      caughtShare: changes === 0 ? 1 : Math.min(1, caught / changes),
      freshness,
      meanAgeMs,
      socketsUsed: { mean: lastedMs > 0 ? this.#busyMs / lastedMs : 0, peak: this.#peak },
      bytes: this.#bytes,
      lateness: this.#bySchedule.lateness(this.#scoredFrom + lastedMs / 2),
      behindTarget: this.#byWish.lateness(this.#scoredFrom + lastedMs / 2),
      feasibility: this.schedule.feasibility(),
    }
  }

  get #isScored(): boolean {
    return this.#now >= this.#scoredFrom
  }

  #pass(until: number): void {
    if (until <= this.#now) return
    if (this.#isScored) this.#busyMs += this.#visits.size * (until - this.#now)
    this.#now = until
  }

  /** Starts as many visits as there are sockets. */
  #begin(): void {
    const free = this.#sockets - this.#visits.size
    if (free <= 0) return
    for (const request of this.#frontier.lease(free, this.#now)) {
      const page = pageOf(request)
      const server = this.#serverOf[page]!
      if (this.#isScored) {
        this.#made++
        this.#bytes += this.#bytesOf[page]!
        this.#bySchedule.visited(server)
        this.#byWish.visited(server)
        this.#late(page, server)
      }
      this.#dueAt[page] = Number.POSITIVE_INFINITY
      const downloadMs = this.#servers[server]!.downloadMs * this.slowness * this.#lengthOf(page)
      this.#visits.push({ request, page, askedAt: this.#now, downloadMs }, this.#now + downloadMs)
    }
    if (this.#isScored) this.#peak = Math.max(this.#peak, this.#visits.size)
  }

  /** Records how late the page's visit is. */
  #late(page: number, server: number): void {
    const record = this.#records[page]
    if (record === undefined) return
    this.#bySchedule.late(server, this.#now - this.#dueAt[page]!)
    const behind = this.#now - record.at - record.every
    this.#byWish.late(server, behind)
    this.#missed += Math.max(0, Math.floor(behind / record.every))
  }

  #end({ request, page, askedAt, downloadMs }: Visit): void {
    // A server sends the page as it is at the time of the request.
    const content = this.#pages.recordFetch(page, askedAt, this.#now)
    const { host, delayMs } = this.#servers[this.#serverOf[page]!]!
    const { record, at } = this.schedule.observed(host, this.#records[page], {
      status: 200,
      at: this.#now,
      downloadMs,
      depth: 0,
      digest: String(content),
      conditional: false,
      delayMs,
    })
    this.#records[page] = record
    this.#dueAt[page] = at
    const again = { at, attempt: 0, revisit: true }
    this.#frontier.settle([{ request, visitedAt: this.#now, hostDelayMs: delayMs, again }])
  }

  /** The duration of a download, relative to the mean of its server. */
  #lengthOf(page: number): number {
    if (this.#downloads.length === 1) return 1
    // Depends on the page's last visit, so that a visit takes equally long whatever else is visited.
    const visit = this.#records[page]?.at ?? 0
    return this.#downloads[mixed(this.#seed ^ OTHER_SEED, page, visit) % DOWNLOADS]!
  }
}

function requestOf(host: string, page: number): CrawlRequest {
  return {
    url: `https://${host}/${page}`,
    host,
    depth: 0,
    priority: 0,
    attempt: 0,
    redirects: 0,
    parent: undefined,
  }
}

/** The number after the last slash; digit by digit, because every visit does this. */
function pageOf({ url }: CrawlRequest): number {
  let page = 0
  for (let i = url.length - 1, power = 1; ; i--, power *= 10) {
    const digit = url.charCodeAt(i) - ZERO
    if (!(digit >= 0)) return page
    page += digit * power
  }
}

const ZERO = 48

/**
 * Crawls a world in virtual time, and tells what came of it.
 *
 * @example
 * const world = describeWorld({ servers: 1000, pagesPerServer: 50, changeMs: { mean: DAY }, downloadMs: { mean: 800 } })
 * const refresh = refreshRules({ min: '1h' })
 * const { freshness } = simulateRefresh(world, { sockets: 20, delayMs: 1000, refresh, durationMs: 30 * DAY })
 */
export function simulateRefresh(world: RefreshWorld, options: RefreshSimulation): RefreshForecast {
  const { learningMs = 0, durationMs } = options
  const run = new RefreshRun(options)
  for (const server of world.servers) run.add(server)
  run.goTo(run.start + learningMs)
  run.score()
  run.goTo(run.start + learningMs + durationMs)
  return run.forecast()
}
