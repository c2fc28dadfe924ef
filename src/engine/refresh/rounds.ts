import type { PageRecord } from '../../refresh/contract.js'
import type { StateSpace, StateStore } from '../../stores/contract.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { hostOf } from '../../url/canonicalize.js'
import { urlIn } from '../../url/known-as.js'
import { newRequest } from '../admission/requests.js'

/** Pages that are queued at once. */
const BATCH = 500
/** More are queued while fewer than this, times the concurrency, are pending. */
const PENDING_PER_SLOT = 4
const MIN_PENDING = 1000
/** The name of the store's space for page records. */
export const PAGES = 'pages'
/** The name of the store's space for the state of refreshing. */
export const REFRESH = 'refresh'
const ROUND = 'round'

export interface RoundSink {
  /** The number of this shard: each stores its own progress. */
  readonly shard: number
  readonly replaces: boolean
  /** Other processes share the crawl, and the state of the round: it is done when all of them are. */
  readonly isShared?: boolean | undefined
  /** Whether this shard owns the host. */
  isMine(host: string): boolean
  add(requests: readonly CrawlRequest[]): MaybePromise<void>
  /** A round has started. */
  roundStarted(round: number): void
  failed(error: unknown): void
  changed(): void
}

/** The progress of a shard, as stored. */
interface RoundState {
  readonly round: number
  readonly isDone: boolean
  /** See `RefreshRules.complete`. */
  readonly isComplete?: true | undefined
}

/**
 * Pages that are gone are tried in every second round, then in every fourth, finally in every 64th. Pages that were never
 * fetched successfully are tried in the next round first.
 */
function skipsRound({ gone, unseen }: PageRecord, round: number): boolean {
  return gone !== undefined && round % 2 ** Math.min(unseen ? gone : gone + 1, 6) !== 0
}

/** The last round that any shard has begun, whether all shards have finished it, and whether it is a complete one. */
async function roundOf(
  refreshState: StateSpace,
): Promise<{ last: number; isDone: boolean; isComplete: boolean }> {
  const states: RoundState[] = []
  for await (const [key, state] of refreshState.entries())
    if (key.startsWith(ROUND)) states.push(state as RoundState)
  const last = Math.max(0, ...states.map(({ round }) => round))
  const isComplete = states.some((state) => state.round === last && state.isComplete === true)
  return { last, isDone: states.every(({ round, isDone }) => isDone && round === last), isComplete }
}

/**
 * The round with which a run begins: the next one, or the one that was interrupted. No shard may run yet: one that has
 * already finished its part would make another one skip the round. A complete round does not continue one that was not:
 * it would leave out the pages that were visited.
 */
export async function nextRoundOf(
  refreshState: StateSpace,
  complete = false,
  shards = Number.POSITIVE_INFINITY,
): Promise<number> {
  const { last, isDone, isComplete } = await roundOf(refreshState)
  // A run with more shards has left records that nobody would bring up to date: the rounds would seem unfinished forever.
  for await (const [key] of refreshState.entries())
    if (key.startsWith(ROUND) && Number(key.slice(ROUND.length)) >= shards) refreshState.delete(key)
  return isDone || (complete && !isComplete) ? last + 1 : Math.max(1, last)
}

/**
 * Rounds over all known pages. The pages are read from the store when the frontier runs low, and marked with the number of
 * the round in the commit that queues them: an interrupted round continues with the pages that it had not reached.
 */
export class Rounds {
  readonly #pages: StateSpace
  readonly #refreshState: StateSpace
  readonly #sink: RoundSink
  #left: number
  readonly #isComplete: boolean
  #round = 0
  #reading: AsyncIterator<readonly [key: string, value: unknown]> | undefined = undefined
  #isPulling = false
  /** Partitions have come since the reading began. */
  #isStale = false
  /** Pages of this round that were queued and not yet visited. A lower bound. */
  #waiting = 0

  constructor(
    state: StateStore,
    { rounds, complete }: { readonly rounds: number; readonly complete: boolean },
    sink: RoundSink,
  ) {
    this.#isComplete = complete
    this.#pages = state.space(PAGES)
    this.#refreshState = state.space(REFRESH)
    this.#left = rounds
    this.#sink = sink
  }

  /** `first`: the round to begin with, if the main thread has found it out for all shards. */
  async open(first?: number): Promise<void> {
    // A replacement for a shard that died continues its round and does not start one.
    if (this.#sink.replaces) this.#begin(Math.max(1, (await roundOf(this.#refreshState)).last))
    else this.#begin(first ?? (await nextRoundOf(this.#refreshState, this.#isComplete, this.#sink.shard + 1)))
  }

  /** Known pages are still being read. */
  get isReading(): boolean {
    return this.#reading !== undefined || this.#isPulling || this.#isStale
  }

  /** A page of the round was visited, or one that is scheduled. */
  visited(): void {
    if (this.#waiting > 0) this.#waiting--
  }

  /** Queues more known pages if few of them are pending. */
  refill(concurrency: number): void {
    if (this.#isStale && !this.#isPulling) {
      this.#isStale = false
      this.#reading = this.#pages.entries()[Symbol.asyncIterator]()
    }
    if (this.#reading === undefined || this.#isPulling) return
    if (this.#waiting < Math.max(MIN_PENDING, PENDING_PER_SLOT * concurrency)) void this.#pull(this.#reading)
  }

  /** Called when nothing else is left to do. Starts the next round, if any; returns whether there is more to do. */
  advance(): boolean {
    if (this.isReading) return true
    if (this.#sink.isShared !== true) this.#saveState(true)
    if (this.#left <= 1) return false
    this.#left--
    this.next()
    return true
  }

  /** Starts the next round. */
  next(): void {
    this.#begin(this.#round + 1)
    this.#sink.changed()
  }

  /** Everybody has finished the round. */
  finished(): void {
    this.#saveState(true)
  }

  /** More known pages have come: those that this round has not reached yet are visited too. */
  startOver(): void {
    this.#isStale = true
    this.#sink.changed()
  }

  close(): void {
    this.#reading = undefined
    this.#isStale = false
  }

  #begin(round: number): void {
    this.#round = round
    this.#saveState(false)
    this.#reading = this.#pages.entries()[Symbol.asyncIterator]()
    this.#sink.roundStarted(round)
  }

  #saveState(isDone: boolean): void {
    const complete = this.#isComplete && { isComplete: true as const }
    const state: RoundState = { round: this.#round, isDone, ...complete }
    this.#refreshState.put(`${ROUND} ${this.#sink.shard}`, state)
  }

  async #pull(reading: AsyncIterator<readonly [key: string, value: unknown]>): Promise<void> {
    this.#isPulling = true
    try {
      const found: (readonly [name: string, record: PageRecord, host: string])[] = []
      while (found.length < BATCH) {
        const next = await reading.next()
        if (next.done) {
          this.#reading = undefined
          break
        }
        const [name, value] = next.value
        const record = value as PageRecord
        const host = hostOf(urlIn(name))
        if ((record.round ?? 0) >= this.#round) continue
        if (!this.#isComplete && skipsRound(record, this.#round)) continue
        found.push([name, { ...record, round: this.#round }, host])
      }
      // In one turn, and therefore in one commit. A host may have moved to another shard meanwhile.
      const mine = found.filter(([, , host]) => this.#sink.isMine(host))
      for (const [name, record, host] of mine) this.#pages.put(name, record, host)
      this.#waiting += mine.length
      await this.#sink.add(
        mine.map(([name, { depth, priority = 0, extras }, host]) => ({
          ...newRequest(urlIn(name), host, depth, priority, undefined),
          ...(extras && { extras }),
          revisit: true,
        })),
      )
    } catch (error) {
      this.#sink.failed(error)
    }
    this.#isPulling = false
    this.#sink.changed()
  }
}
