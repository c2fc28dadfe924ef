import { asKumoError, KumoError, messageOf } from '../../errors.js'
import type { Clock, Timer } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import type { RequestSpec } from '../../url/request-options.js'
import type { Seed } from '../parts.js'
import { roomFor } from './seed-source.js'
import { VisitCredit } from './visit-credit.js'

/** How long visits may stand still before a batch is added although there is neither room nor credit. */
const STALL_MS = 1000

/** What one call of `run.add()` brings: batches of checked requests, read as there is room. */
export type AddedSource = AsyncIterator<readonly Seed[]>

interface AddedSink {
  admit(requests: readonly RequestSpec[]): Promise<void>
  invalid(url: string, message: string): MaybePromise<void>
  /** Resolves once everything that was admitted would survive a crash. */
  flush(): MaybePromise<void>
  /** Whether visits are in flight, and how many have ended so far. */
  progress(): { readonly inFlight: number; readonly ended: number }
  /** `refill` should be called. */
  changed(): void
}

interface Entry {
  readonly source: AddedSource
  readonly resolve: () => void
  readonly reject: (error: KumoError) => void
  /** It waits for its source, for room, or for the store. */
  state: 'reading' | 'waiting' | 'admitting' | 'over'
  /** The next batch, read ahead. */
  batch: readonly Seed[]
}

/**
 * Requests that a program adds while the crawl runs. Filled by `run.add()`, emptied by the loop when the frontier has
 * room: that is the back-pressure. The calls do not wait for each other.
 *
 * A handler that waits for `run.add()` holds a slot. If all slots were held like that, the frontier would never have
 * room. So each visit that ends gives some credit, and when none has ended for a second, one of the waiting batches is
 * admitted anyway. What is added then grows with the pages, as links do.
 */
export class AddedRequests {
  readonly #clock: Clock
  readonly #sink: AddedSink
  readonly #entries = new Set<Entry>()
  #admitting = 0
  #ended: KumoError | undefined = undefined
  #stall: Timer | undefined = undefined
  #isStalled = false
  readonly #credit = new VisitCredit()

  constructor(clock: Clock, sink: AddedSink) {
    this.#clock = clock
    this.#sink = sink
  }

  /** Resolves once everything is admitted, durably if the store is. */
  add(source: AddedSource): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Entry = { source, resolve, reject, state: 'reading', batch: [] }
      this.#entries.add(entry)
      if (this.#ended === undefined) void this.#read(entry)
      else this.#fail(entry, this.#ended)
    })
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  /** True while requests that were read are being admitted. */
  get isAdmitting(): boolean {
    return this.#admitting > 0
  }

  refill(pending: number, concurrency: number): void {
    if (this.#entries.size === 0) return
    let room = roomFor(pending, concurrency)
    for (const entry of this.#entries) {
      if (entry.state !== 'waiting') continue
      const { length } = entry.batch
      if (room <= 0 && !this.#mayExceed(length)) {
        this.#watchForStall()
        return
      }
      room -= length
      void this.#tracked(entry, () => this.#admit(entry))
    }
  }

  /** The crawl ends: nothing more is admitted. What is being admitted is waited for. */
  end(error: KumoError): void {
    this.#ended ??= error
    for (const entry of this.#entries) if (entry.state !== 'admitting') this.#fail(entry, error)
  }

  /** Rejects whatever has not ended. */
  close(error: KumoError): void {
    this.#ended ??= error
    this.#stall?.cancel()
    for (const entry of this.#entries) this.#fail(entry, this.#ended)
  }

  async #read(entry: Entry): Promise<void> {
    entry.state = 'reading'
    try {
      const next = await entry.source.next()
      if (!this.#entries.has(entry)) return
      if (next.done) {
        await this.#tracked(entry, () => this.#finish(entry))
        return
      }
      entry.batch = next.value
      entry.state = 'waiting'
    } catch (error) {
      const message = `run.add: the iterable threw: ${messageOf(error)}`
      this.#fail(entry, new KumoError('KUMO_SEEDS_FAILED', message, { cause: error }))
    }
    this.#sink.changed()
  }

  async #tracked(entry: Entry, work: () => Promise<void>): Promise<void> {
    entry.state = 'admitting'
    this.#admitting++
    try {
      await work()
    } catch (error) {
      this.#fail(entry, asKumoError(error, 'KUMO_STORE_FAILED', 'run.add'))
    }
    this.#admitting--
    if (this.#entries.has(entry)) {
      if (this.#ended === undefined) void this.#read(entry)
      else this.#fail(entry, this.#ended)
    }
    this.#sink.changed()
  }

  async #admit({ batch }: Entry): Promise<void> {
    const valid: RequestSpec[] = []
    for (const seed of batch) {
      if ('url' in seed) valid.push(seed)
      else await this.#sink.invalid(seed.invalid, seed.message)
    }
    await this.#sink.admit(valid)
  }

  async #finish(entry: Entry): Promise<void> {
    await this.#sink.flush()
    if (this.#entries.delete(entry)) entry.resolve()
  }

  #fail(entry: Entry, error: KumoError): void {
    if (!this.#entries.delete(entry)) return
    entry.state = 'over'
    entry.reject(error)
    void (async () => entry.source.return?.())().catch(() => {})
  }

  /** Whether so many requests are added although there is no room. They are taken from the credit, which may become debt. */
  #mayExceed(requests: number): boolean {
    this.#credit.earn(this.#sink.progress().ended)
    if (this.#credit.isUsedUp && !this.#isStalled) return false
    if (!this.#credit.isUsedUp) this.#credit.spend(requests)
    this.#isStalled = false
    return true
  }

  #watchForStall(): void {
    if (this.#stall !== undefined) return
    const { ended } = this.#sink.progress()
    this.#stall = this.#clock.wakeAt(this.#clock.now() + STALL_MS, () => {
      this.#stall = undefined
      const now = this.#sink.progress()
      this.#isStalled = now.inFlight > 0 && now.ended === ended
      this.#sink.changed()
    })
  }
}

export function runEnded(): KumoError {
  const message =
    'run.add: the crawl has ended, so nothing more is admitted; ' +
    'with .keepOpen() it goes on until run.finish(), and a crawl with a durable store can be started again'
  return new KumoError('KUMO_RUN_ENDED', message)
}
