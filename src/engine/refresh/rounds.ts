import type { PageRecord } from '../../refresh/contract.js'
import type { StateSpace, StateStore } from '../../stores/contract.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { hostOf } from '../../url/canonicalize.js'
import { newRequest } from '../admission/admission.js'

/** Pages that are brought in at once. */
const BATCH = 500
/** More are brought in while fewer than this wait, times the concurrency. */
const PENDING_PER_SLOT = 4
const MIN_PENDING = 1000
/** Under what name a store keeps what is known of pages. */
export const PAGES = 'pages'
/** Where the number of the pass is kept. */
export const REFRESH = 'refresh'
const ROUND = 'round'

export interface RoundSink {
  /** The number of this shard: each keeps its own word on how far it is. */
  readonly shard: number
  readonly replaces: boolean
  /** Whether this shard owns the host. */
  isMine(host: string): boolean
  add(requests: readonly CrawlRequest[]): MaybePromise<void>
  /** The pass that is under way. */
  roundStarted(round: number): void
  failed(error: unknown): void
  changed(): void
}

/** How far a shard is. */
interface RoundState {
  readonly round: number
  readonly isDone: boolean
}

/**
 * Pages that are gone are asked for in every second pass, then in every fourth, at last in one of 64. Those that were
 * never there are asked for in the next one, and then likewise.
 */
function skipsRound({ gone, unseen }: PageRecord, round: number): boolean {
  return gone !== undefined && round % 2 ** Math.min(unseen ? gone : gone + 1, 6) !== 0
}

/**
 * Passes over all that is known (system B's simple update). Known pages are read from the store as the frontier runs low,
 * and marked with the number of the pass in the same commit that queues them: a pass that was interrupted goes on with
 * the pages that it had not reached.
 */
export class Rounds {
  readonly #pages: StateSpace
  readonly #refreshState: StateSpace
  readonly #sink: RoundSink
  #left: number
  #round = 0
  #reading: AsyncIterator<readonly [key: string, value: unknown]> | undefined = undefined
  #isPulling = false
  /** Pages of this pass that were brought in and not yet visited, or fewer. */
  #waiting = 0

  constructor(state: StateStore, rounds: number, sink: RoundSink) {
    this.#pages = state.space(PAGES)
    this.#refreshState = state.space(REFRESH)
    this.#left = rounds
    this.#sink = sink
  }

  async open(): Promise<void> {
    const words: RoundState[] = []
    for await (const [key, word] of this.#refreshState.entries())
      if (key.startsWith(ROUND)) words.push(word as RoundState)
    const last = Math.max(0, ...words.map(({ round }) => round))
    const isDone = words.every(({ round, isDone }) => isDone && round === last)
    // Who takes the place of another does not begin a pass by itself.
    this.#begin(isDone && !this.#sink.replaces ? last + 1 : Math.max(1, last))
  }

  /** Known pages are still being read. */
  get isReading(): boolean {
    return this.#reading !== undefined || this.#isPulling
  }

  /** A page of the pass was visited, or one that has a time of its own. */
  visited(): void {
    if (this.#waiting > 0) this.#waiting--
  }

  /** Brings in more of the known pages, if few that were brought in wait. */
  refill(concurrency: number): void {
    if (this.#reading === undefined || this.#isPulling) return
    if (this.#waiting < Math.max(MIN_PENDING, PENDING_PER_SLOT * concurrency)) void this.#pull(this.#reading)
  }

  /** To be asked when nothing else is left to do: whether there is more. */
  advance(): boolean {
    if (this.isReading) return true
    this.#saveState(true)
    if (this.#left <= 1) return false
    this.#left--
    this.next()
    return true
  }

  /** The next pass begins. */
  next(): void {
    this.#begin(this.#round + 1)
    this.#sink.changed()
  }

  close(): void {
    this.#reading = undefined
  }

  #begin(round: number): void {
    this.#round = round
    this.#saveState(false)
    this.#reading = this.#pages.entries()[Symbol.asyncIterator]()
    this.#sink.roundStarted(round)
  }

  #saveState(isDone: boolean): void {
    const word: RoundState = { round: this.#round, isDone }
    this.#refreshState.put(`${ROUND} ${this.#sink.shard}`, word)
  }

  async #pull(reading: AsyncIterator<readonly [key: string, value: unknown]>): Promise<void> {
    this.#isPulling = true
    try {
      const found: (readonly [url: string, record: PageRecord, host: string])[] = []
      while (found.length < BATCH) {
        const next = await reading.next()
        if (next.done) {
          this.#reading = undefined
          break
        }
        const [url, value] = next.value
        const record = value as PageRecord
        const host = hostOf(url)
        if ((record.round ?? 0) >= this.#round || skipsRound(record, this.#round)) continue
        found.push([url, { ...record, round: this.#round }, host])
      }
      // In one turn, and so in one commit; and a host may have gone to another shard meanwhile.
      const mine = found.filter(([, , host]) => this.#sink.isMine(host))
      for (const [url, record, host] of mine) this.#pages.put(url, record, host)
      this.#waiting += mine.length
      await this.#sink.add(
        mine.map(([url, { depth }, host]) => ({
          ...newRequest(url, host, depth, 0, undefined),
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
