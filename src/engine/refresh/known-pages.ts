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
import { knownAs, urlIn } from '../../url/known-as.js'
import type { EngineParts, RefreshParts } from '../parts.js'
import type { FetchSettings } from '../visit/fetch-step.js'
import type { VisitResult } from '../visit/visit-result.js'
import { PAGES, REFRESH, type RoundSink, Rounds } from './rounds.js'

/** The name of the store's space for server records. */
const SERVERS = 'servers'

/** Examining this many servers takes less than a millisecond; with more, the result is cached for a while. */
const CACHE_ABOVE_SERVERS = 1000
const CACHE_MS = 1000

/** What is known about a page before its visit, and how to fetch it. */
export interface RevisitLookup {
  readonly known: PageRecord | undefined
  readonly fetch: FetchSettings
}

/** The part of a settlement that concerns the page's next visit. */
export type NextRevisit = Pick<VisitResult, 'again' | 'record'>

/**
 * Revisits of known pages. The record of a page is read from the store before a visit, compared with the new page, and
 * written back in the same commit as the settlement of the visit.
 */
export class KnownPages {
  readonly #refresh: RefreshParts
  readonly #parts: EngineParts
  readonly #pages: StateSpace
  readonly #servers: StateSpace
  /** True: pages stay in the frontier until their next visit. False: they are read from the store in each round. */
  readonly #isContinuous: boolean
  readonly #sink: Pick<RoundSink, 'failed' | 'changed'>
  #rounds: Rounds | undefined = undefined
  /** The store was refreshed in rounds, and now changes to a continuous schedule. */
  #isConverting = false
  #lastFeasibility: { readonly at: number; readonly value: Feasibility } | undefined = undefined
  /** The current round. */
  #round = 0

  constructor(refresh: RefreshParts, parts: EngineParts, sink: Pick<RoundSink, 'failed' | 'changed'>) {
    this.#refresh = refresh
    this.#parts = parts
    this.#sink = sink
    this.#pages = refresh.state.space(PAGES)
    this.#servers = refresh.state.space(SERVERS)
    this.#isContinuous = refresh.schedule.rules.rounds === Number.POSITIVE_INFINITY
  }

  /** Restores what earlier runs have learned. */
  async open(): Promise<void> {
    const { state, schedule, roundsStartedByMain: isLed } = this.#refresh
    const { rounds, aim, complete } = schedule.rules
    const own = state.space(REFRESH)
    const before = await own.get(MODE)
    if ((before === CONTINUOUS || before === CONVERTING) && !this.#isContinuous) throw cannotStartRounds()
    if (this.#parts.membership !== undefined) assertShareable(rounds, before)
    for await (const [host, record] of this.#servers.entries()) {
      if (this.#isMine(host)) schedule.restore(host, record as ServerRecord)
    }
    if (aim === 'fresh') {
      for await (const [name, record] of this.#pages.entries()) {
        if (this.#isMine(hostOf(urlIn(name)))) schedule.remember(record as PageRecord)
      }
    }
    // Pages from rounds have no scheduled time yet: they are visited once, and then by the schedule.
    this.#isConverting = this.#isContinuous && (before === ROUNDS || before === CONVERTING)
    if (this.#isConverting) own.put(MODE, CONVERTING)
    else own.put(MODE, this.#isContinuous ? CONTINUOUS : ROUNDS)
    if (this.#isContinuous && !this.#isConverting) return
    const planned = { rounds: this.#isContinuous || isLed ? 1 : rounds, complete }
    const { membership, earlierRuns } = this.#parts
    const nextRound = earlierRuns?.nextRound
    const joins = membership?.joinedAfter !== undefined && nextRound === undefined
    this.#rounds = new Rounds(state, planned, {
      ...this.#sink,
      shard: membership === undefined ? this.#parts.ownership.self : 0,
      isShared: membership !== undefined,
      replaces: this.#refresh.replaces || joins,
      isMine: (host) => this.#isMine(host),
      add: (requests) => this.#parts.frontier.add(requests),
      roundStarted: (round) => {
        this.#round = round
      },
    })
    await this.#rounds.open(nextRound)
  }

  /** Queues more known pages if a round is in progress and few of its requests are pending. */
  refill(concurrency: number): void {
    this.#rounds?.refill(concurrency)
    // All pages are in the frontier now. With several shards, none knows whether the others are done.
    if (!this.#isConverting || this.#refresh.roundsStartedByMain || this.#rounds?.isReading !== false) return
    this.#isConverting = false
    this.#refresh.state.space(REFRESH).put(MODE, CONTINUOUS)
  }

  /** The number of pending requests that are not known pages waiting for their next visit. */
  due(pending: number): number {
    return this.#isContinuous ? Math.max(0, pending - this.schedule.pages) : pending
  }

  /** Called when nothing else is left to do. Starts the next round, if any; returns whether there is more to do. */
  advance(): boolean {
    return this.#rounds?.advance() === true
  }

  /** The main thread starts the next round. */
  nextRound(): void {
    this.#rounds?.next()
  }

  /** The crawl is over, in all processes that share it. */
  finished(): void {
    this.#rounds?.finished()
  }

  /** Partitions have come from another process, with the records of their hosts. */
  adopt(partitions: readonly number[]): void {
    const { schedule } = this.#refresh
    for (const [host, record] of this.#servers.ofPartitions?.(partitions) ?? [])
      schedule.restore(host, record as ServerRecord)
    for (const record of this.#pagesOf(partitions)) schedule.remember(record)
    this.#rounds?.startOver()
  }

  /** They are another process's now, as are the servers that the schedule has released. */
  revoke(partitions: readonly number[]): void {
    for (const record of this.#pagesOf(partitions)) this.#refresh.schedule.forget(record)
  }

  *#pagesOf(partitions: readonly number[]): Generator<PageRecord> {
    if (this.#refresh.schedule.rules.aim !== 'fresh') return
    for (const [, record] of this.#pages.ofPartitions?.(partitions) ?? []) yield record as PageRecord
  }

  close(): void {
    this.#rounds?.close()
  }

  /** Whether the schedule can be kept. Cached, because statistics ask often and examining many servers takes time. */
  feasibility(): Feasibility {
    const now = this.#parts.clock.now()
    const last = this.#lastFeasibility
    if (last !== undefined && last.value.servers > CACHE_ABOVE_SERVERS && now - last.at < CACHE_MS)
      return last.value
    const value = this.schedule.feasibility()
    this.#lastFeasibility = { at: now, value }
    return value
  }

  #isMine(host: string): boolean {
    const { partitioner, ownership } = this.#parts
    return ownership.ownerOf(partitioner.partition(host)) === ownership.self
  }

  get schedule(): RefreshScheduler {
    return this.#refresh.schedule
  }

  /** How to fetch a known page. Undefined: the request is not a revisit. */
  lookUp(request: CrawlRequest, settings: FetchSettings): MaybePromise<RevisitLookup | undefined> {
    if (request.revisit !== true) return undefined
    const known = this.#pages.get(knownAs(request), request.host)
    if (known instanceof Promise) return known.then((record) => this.#toLookup(record, settings))
    return this.#toLookup(known, settings)
  }

  #toLookup(record: unknown, settings: FetchSettings): RevisitLookup {
    const known = record as PageRecord | undefined
    const validators = known && this.schedule.conditionOf(known, this.#parts.random.next())
    return { known, fetch: validators === undefined ? settings : { ...settings, known: validators } }
  }

  /** Records a visit that got the page. `page` is undefined if the response has no body (304). */
  observed(
    request: CrawlRequest,
    lookup: RevisitLookup | undefined,
    response: FetchedResponse,
    timing: FetchTiming,
    page: Page | undefined,
    delayMs: number | undefined,
  ): NextVisit {
    const { headers, status } = response
    return this.schedule.observed(request.host, lookup?.known, {
      status,
      at: timing.fetchedAt,
      downloadMs: timing.fetchMs,
      depth: request.depth,
      digest: page && this.#digest(page),
      etag: headers.get('etag'),
      modified: headers.get('last-modified'),
      conditional: lookup?.fetch.known !== undefined,
      // 0: the host asks for no delay, so the crawl's own applies.
      delayMs: delayMs ?? 0,
      hint: request.hint,
    })
  }

  /** Records how long the page kept its slot after its fetch. */
  recordHeld({ host }: CrawlRequest, { fetchedAt }: FetchTiming, until = this.#parts.clock.now()): void {
    this.schedule.held(host, until - fetchedAt)
  }

  /** The first visit to a page failed. */
  failed({ host, depth }: CrawlRequest, miss: Miss): NextVisit {
    return this.schedule.failed(host, depth, miss, this.#parts.clock.now())
  }

  /** Whether a known page was ever fetched successfully. */
  async wasSeen(request: CrawlRequest): Promise<boolean> {
    const known = (await this.#pages.get(knownAs(request), request.host)) as PageRecord | undefined
    return known?.unseen !== true
  }

  /** A revisit did not get the page. Undefined if there is no record of it. */
  async missed(
    request: CrawlRequest,
    lookup: RevisitLookup | undefined,
    miss: Miss,
  ): Promise<NextVisit | undefined> {
    const known =
      lookup?.known ?? ((await this.#pages.get(knownAs(request), request.host)) as PageRecord | undefined)
    return known && this.schedule.missed(request.host, known, miss, this.#parts.clock.now())
  }

  /** The next visit, as a settlement has it. */
  nextRevisit({ record, at }: NextVisit): NextRevisit {
    this.#rounds?.visited()
    const kept = this.#rounds === undefined ? record : { ...record, round: this.#round }
    return this.#isContinuous ? { record: kept, again: { at, attempt: 0, revisit: true } } : { record: kept }
  }

  /** Must be called in the same turn as the frontier's `settle`, so that both are in one commit. */
  settled(visits: readonly VisitResult[]): void {
    for (const { request, record } of visits) {
      if (record === undefined) continue
      const { host } = request
      this.#pages.put(knownAs(request), this.#withRequest(record, request), host)
      const server = this.schedule.serverOf(host)
      if (server !== undefined) this.#servers.put(host, server, host)
    }
  }

  /** In rounds, requests are made from the records. */
  #withRequest(record: PageRecord, { priority, extras }: CrawlRequest): PageRecord {
    if (this.#rounds === undefined || (priority === 0 && extras === undefined)) return record
    return { ...record, ...(priority !== 0 && { priority }), ...(extras && { extras }) }
  }

  #digest(page: Page): string | undefined {
    // A truncated page would look changed.
    if (page.truncated) return undefined
    try {
      const digest = this.#refresh.digest(page)
      if (typeof digest === 'string') return digest
      throw new TypeError(`it returned ${typeof digest} instead of a string`)
    } catch (error) {
      this.#parts.delivery.warn(`the digest function failed for ${page.url}: ${messageOf(error)}`)
      return undefined
    }
  }
}

/** How the pages of a store are refreshed. The values are stored. */
const MODE = 'mode'
const CONTINUOUS = 'continuous'
const CONVERTING = 'turning'
const ROUNDS = 'passes'

/** Processes that share a crawl do not wait for each other between rounds. */
function assertShareable(rounds: number, before: unknown): void {
  if (rounds > 1 && rounds < Number.POSITIVE_INFINITY) {
    const message =
      'refresh: processes that share a crawl do one round at a time; use rounds: 1, and start them again for the next one'
    throw new KumoError('KUMO_INVALID_OPTION', message)
  }
  if (rounds !== Number.POSITIVE_INFINITY || (before !== ROUNDS && before !== CONVERTING)) return
  const message =
    'refresh: the pages of this store are refreshed in rounds, which processes that share it cannot change; ' +
    'use rounds: 1, or another store'
  throw new KumoError('KUMO_STORE_MISMATCH', message)
}

function cannotStartRounds(): KumoError {
  const message =
    'refresh: the pages of this store are on a continuous schedule, so they cannot be refreshed in rounds; ' +
    'remove rounds, or use another store'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}

/** Throws if the store has a continuous schedule: without refresh(), a crawl would wait for all revisits. */
export async function assertNotRefreshed(state: StateStore): Promise<void> {
  const mode = await state.space(REFRESH).get(MODE)
  if (mode !== CONTINUOUS && mode !== CONVERTING) return
  const message =
    'the crawl in this store revisits its pages; continue it with .refresh({ … }), or use another store'
  throw new KumoError('KUMO_STORE_MISMATCH', message)
}
