import type { PageRecord } from '../refresh/contract.js'
import type { StateSpace, StateStore } from '../stores/contract.js'
import type { CrawlRequest, MaybePromise } from '../types.js'
import { hostOf } from '../url/canonicalise.js'
import { request } from './requests.js'

/** Pages that are brought in at once. */
const BATCH = 500
/** More are brought in while fewer than this wait, times the concurrency. */
const WAITING_PER_SLOT = 4
const LEAST_WAITING = 1000
/** Under what name a store keeps what is known of pages. */
export const PAGES = 'pages'
/** Where the number of the pass is kept. */
export const REFRESH = 'refresh'
const ROUND = 'round'

export interface RoundSink {
  /** Whether this shard owns the host. */
  isMine(host: string): boolean
  add(requests: readonly CrawlRequest[]): MaybePromise<void>
  /** The pass that is under way. */
  begun(round: number): void
  failed(error: unknown): void
  changed(): void
}

/**
 * Passes over all that is known (system B's simple update). Known pages are read from the store as the frontier runs low,
 * and marked with the number of the pass in the same commit that queues them: a pass that was interrupted goes on with
 * the pages that it had not reached.
 */
export class Rounds {
  readonly #pages: StateSpace
  readonly #own: StateSpace
  readonly #sink: RoundSink
  #left: number
  #round = 0
  #reading: AsyncIterator<readonly [key: string, value: unknown]> | undefined = undefined
  #isPulling = false

  constructor(state: StateStore, rounds: number, sink: RoundSink) {
    this.#pages = state.space(PAGES)
    this.#own = state.space(REFRESH)
    this.#left = rounds
    this.#sink = sink
  }

  async open(): Promise<void> {
    const kept = (await this.#own.get(ROUND)) as { round: number; isDone: boolean } | undefined
    if (kept !== undefined && !kept.isDone) this.#begin(kept.round)
    else this.#begin((kept?.round ?? 0) + 1)
  }

  /** Brings in more of the known pages, if few requests wait. */
  refill(pending: number, concurrency: number): void {
    if (this.#reading === undefined || this.#isPulling) return
    if (pending < Math.max(LEAST_WAITING, WAITING_PER_SLOT * concurrency)) void this.#pull(this.#reading)
  }

  /** To be asked when nothing else is left to do: whether there is more. */
  goesOn(): boolean {
    if (this.#reading !== undefined || this.#isPulling) return true
    this.#own.put(ROUND, { round: this.#round, isDone: true })
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
    this.#own.put(ROUND, { round, isDone: false })
    this.#reading = this.#pages.entries()[Symbol.asyncIterator]()
    this.#sink.begun(round)
  }

  async #pull(reading: AsyncIterator<readonly [key: string, value: unknown]>): Promise<void> {
    this.#isPulling = true
    try {
      const requests: CrawlRequest[] = []
      const marks: (readonly [url: string, record: PageRecord, host: string])[] = []
      while (requests.length < BATCH) {
        const next = await reading.next()
        if (next.done) {
          this.#reading = undefined
          break
        }
        const [url, value] = next.value
        const record = value as PageRecord
        const host = hostOf(url)
        if ((record.round ?? 0) >= this.#round || !this.#sink.isMine(host)) continue
        requests.push({ ...request(url, host, record.depth, 0, undefined), revisit: true })
        marks.push([url, { ...record, round: this.#round }, host])
      }
      // In one turn, and so in one commit.
      for (const [url, record, host] of marks) this.#pages.put(url, record, host)
      await this.#sink.add(requests)
    } catch (error) {
      this.#sink.failed(error)
    }
    this.#isPulling = false
    this.#sink.changed()
  }
}
