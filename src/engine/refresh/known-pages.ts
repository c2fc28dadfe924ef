import { KumoError, messageOf } from '../../errors.js'
import type { FetchTiming, Page } from '../../extract/contract.js'
import type { FetchedResponse } from '../../fetch/contract.js'
import type {
  Feasibility,
  Miss,
  NextVisit,
  PageRecord,
  RefreshScheduler,
  ServerRecord,
} from '../../refresh/contract.js'
import type { StateSpace, StateStore } from '../../stores/contract.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { hostOf } from '../../url/canonicalize.js'
import type { EngineParts, RefreshParts } from '../parts.js'
import type { FetchSettings } from '../visit/fetch-step.js'
import type { VisitResult } from '../visit/visit-result.js'
import { PAGES, REFRESH, type RoundSink, Rounds } from './rounds.js'

/** Under what name a store keeps what is known of servers. */
const SERVERS = 'servers'

/** So many servers are looked at in less than a millisecond; of more, what was seen holds for so long. */
const CACHE_ABOVE_SERVERS = 1000
const CACHE_MS = 1000

/** A visit to a page that may be known. */
export interface RevisitLookup {
  readonly known: PageRecord | undefined
  readonly fetch: FetchSettings
}

/** What becomes of a page, for the settlement of its visit. */
export type NextRevisit = Pick<VisitResult, 'again' | 'record'>

/**
 * Visits to known pages: what is known is fetched from the store before, compared during and put back after the visit, in
 * one commit with its settlement.
 */
export class KnownPages {
  readonly #refresh: RefreshParts
  readonly #parts: EngineParts
  readonly #pages: StateSpace
  readonly #servers: StateSpace
  /** Pages are kept in the frontier until their next visit, or else looked up when a pass begins. */
  readonly #isContinuous: boolean
  readonly #sink: Pick<RoundSink, 'failed' | 'changed'>
  #rounds: Rounds | undefined = undefined
  /** After passes, a schedule begins. */
  #isConverting = false
  #lastFeasibility: { readonly at: number; readonly told: Feasibility } | undefined = undefined
  /** The pass that is under way. */
  #round = 0

  constructor(refresh: RefreshParts, parts: EngineParts, sink: Pick<RoundSink, 'failed' | 'changed'>) {
    this.#refresh = refresh
    this.#parts = parts
    this.#sink = sink
    this.#pages = refresh.state.space(PAGES)
    this.#servers = refresh.state.space(SERVERS)
    this.#isContinuous = refresh.schedule.rules.rounds === Number.POSITIVE_INFINITY
  }

  /** Goes on with what earlier runs have learned. */
  async open(): Promise<void> {
    const { state, schedule, isLed } = this.#refresh
    const { rounds, aim } = schedule.rules
    const own = state.space(REFRESH)
    const before = await own.get(MODE)
    if ((before === CONTINUOUS || before === CONVERTING) && !this.#isContinuous) throw cannotStartRounds()
    for await (const [host, record] of this.#servers.entries()) {
      if (this.#isMine(host)) schedule.restore(host, record as ServerRecord)
    }
    if (aim === 'fresh') {
      for await (const [url, record] of this.#pages.entries()) {
        if (this.#isMine(hostOf(url))) schedule.remember(record as PageRecord)
      }
    }
    // Pages that passes left behind have no time of their own yet: they are visited once, and then by the schedule.
    this.#isConverting = this.#isContinuous && (before === ROUNDS || before === CONVERTING)
    if (this.#isConverting) own.put(MODE, CONVERTING)
    else own.put(MODE, this.#isContinuous ? CONTINUOUS : ROUNDS)
    if (this.#isContinuous && !this.#isConverting) return
    this.#rounds = new Rounds(state, this.#isContinuous || isLed ? 1 : rounds, {
      ...this.#sink,
      shard: this.#parts.ownership.self,
      replaces: this.#refresh.replaces,
      isMine: (host) => this.#isMine(host),
      add: (requests) => this.#parts.frontier.add(requests),
      roundStarted: (round) => {
        this.#round = round
      },
    })
    await this.#rounds.open()
  }

  /** Brings in more of the known pages, if a pass is under way and few of its requests wait. */
  refill(concurrency: number): void {
    this.#rounds?.refill(concurrency)
    // All have a place in the frontier by now. Of several shards none knows that of the others: they keep looking.
    if (!this.#isConverting || this.#refresh.isLed || this.#rounds?.isReading !== false) return
    this.#isConverting = false
    this.#refresh.state.space(REFRESH).put(MODE, CONTINUOUS)
  }

  /** Requests that wait without a time of their own, of so many that wait. */
  due(pending: number): number {
    return this.#isContinuous ? Math.max(0, pending - this.schedule.pages) : pending
  }

  /** To be asked when nothing else is left to do: whether there is more. */
  advance(): boolean {
    return this.#rounds?.advance() === true
  }

  /** Somebody else says that the next pass begins. */
  nextRound(): void {
    this.#rounds?.next()
  }

  close(): void {
    this.#rounds?.close()
  }

  /** Whether the schedule can be kept. Statistics ask often, and where there are many servers looking at all takes a while. */
  feasibility(): Feasibility {
    const now = this.#parts.clock.now()
    const last = this.#lastFeasibility
    if (last !== undefined && last.told.servers > CACHE_ABOVE_SERVERS && now - last.at < CACHE_MS)
      return last.told
    const told = this.schedule.feasibility()
    this.#lastFeasibility = { at: now, told }
    return told
  }

  #isMine(host: string): boolean {
    const { partitioner, ownership } = this.#parts
    return ownership.ownerOf(partitioner.partition(host)) === ownership.self
  }

  get schedule(): RefreshScheduler {
    return this.#refresh.schedule
  }

  /** How to ask for a page. Undefined: nothing is known of it. */
  lookUp(request: CrawlRequest, expectation: FetchSettings): MaybePromise<RevisitLookup | undefined> {
    if (request.revisit !== true) return undefined
    const known = this.#pages.get(request.url, request.host)
    if (known instanceof Promise) return known.then((record) => this.#toLookup(record, expectation))
    return this.#toLookup(known, expectation)
  }

  #toLookup(record: unknown, expectation: FetchSettings): RevisitLookup {
    const known = record as PageRecord | undefined
    const validators = known && this.schedule.conditionOf(known, this.#parts.random.next())
    return { known, fetch: validators === undefined ? expectation : { ...expectation, known: validators } }
  }

  /** What a page that was seen has become; it is undefined for an answer without a body. */
  observed(
    request: CrawlRequest,
    look: RevisitLookup | undefined,
    response: FetchedResponse,
    timing: FetchTiming,
    page: Page | undefined,
    delayMs: number | undefined,
  ): NextVisit {
    const { headers, status } = response
    return this.schedule.observed(request.host, look?.known, {
      status,
      at: timing.fetchedAt,
      downloadMs: timing.fetchMs,
      depth: request.depth,
      digest: page && this.#digest(page),
      etag: headers.get('etag'),
      modified: headers.get('last-modified'),
      conditional: look?.fetch.known !== undefined,
      // A host that no longer asks for a pause has the crawl's own.
      delayMs: delayMs ?? 0,
      hint: request.hint,
    })
  }

  /** The visit is over but for its settlement. */
  recordHeld({ host }: CrawlRequest, { fetchedAt }: FetchTiming): void {
    this.schedule.held(host, this.#parts.clock.now() - fetchedAt)
  }

  /** A page was asked for the first time, and not seen. */
  failed({ host, depth }: CrawlRequest, miss: Miss): NextVisit {
    return this.schedule.failed(host, depth, miss, this.#parts.clock.now())
  }

  /** Whether a known page was ever there: some were only asked for. */
  async wasSeen({ url, host }: CrawlRequest): Promise<boolean> {
    const known = (await this.#pages.get(url, host)) as PageRecord | undefined
    return known?.unseen !== true
  }

  /** A known page was not seen. Undefined if nothing is known of it after all. */
  async missed(
    request: CrawlRequest,
    look: RevisitLookup | undefined,
    miss: Miss,
  ): Promise<NextVisit | undefined> {
    const known =
      look?.known ?? ((await this.#pages.get(request.url, request.host)) as PageRecord | undefined)
    return known && this.schedule.missed(request.host, known, miss, this.#parts.clock.now())
  }

  /** What a settlement says of a page's next visit. */
  nextRevisit({ record, at }: NextVisit): NextRevisit {
    this.#rounds?.visited()
    const kept = this.#rounds === undefined ? record : { ...record, round: this.#round }
    return this.#isContinuous ? { record: kept, again: { at, attempt: 0, revisit: true } } : { record: kept }
  }

  /** To be called in the same turn as the frontier's `settle`, so that both are of one commit. */
  settled(visits: readonly VisitResult[]): void {
    for (const { request, record } of visits) {
      if (record === undefined) continue
      const { url, host } = request
      this.#pages.put(url, record, host)
      const server = this.schedule.serverOf(host)
      if (server !== undefined) this.#servers.put(host, server, host)
    }
  }

  #digest(page: Page): string | undefined {
    // Half a page is another page.
    if (page.truncated) return undefined
    try {
      const digest = this.#refresh.digest(page)
      if (typeof digest === 'string') return digest
      throw new TypeError(`it is no text but ${typeof digest}`)
    } catch (error) {
      this.#parts.delivery.warn(`the digest of ${page.url} could not be made: ${messageOf(error)}`)
      return undefined
    }
  }
}

/** How a store's pages were last refreshed. */
const MODE = 'mode'
const CONTINUOUS = 'continuous'
const CONVERTING = 'turning'
const ROUNDS = 'passes'

function cannotStartRounds(): KumoError {
  const message =
    'refresh: the pages of this store have times of their own, so passes over all of them cannot begin; ' +
    'leave out rounds, or use another store'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}

/** A crawl that does not refresh would wait for the times of all known pages. */
export async function assertNotRefreshed(state: StateStore): Promise<void> {
  const mode = await state.space(REFRESH).get(MODE)
  if (mode !== CONTINUOUS && mode !== CONVERTING) return
  const message =
    'this store holds a crawl that visits its pages again; go on with .refresh({ … }), or use another store'
  throw new KumoError('KUMO_STORE_MISMATCH', message)
}
