import { KumoError, messageOf } from '../../errors.js'
import type { MaybePromise } from '../../types.js'
import type { RequestSpec } from '../../url/request-options.js'
import type { Seed } from '../parts.js'
import { VisitCredit } from './visit-credit.js'

/** Seeds are pulled while fewer requests than this, times the concurrency, are pending, or while slots are free. */
const PENDING_PER_SLOT = 4
const MIN_PENDING = 1000

/** How many requests may be added now. */
export function roomFor(pending: number, concurrency: number): number {
  return Math.max(MIN_PENDING, PENDING_PER_SLOT * concurrency) - pending
}

interface SeedSink {
  admit(seeds: readonly RequestSpec[]): Promise<void>
  invalid(seed: string, message: string): MaybePromise<void>
  failed(error: unknown): void
  changed(): void
}

/**
 * Pulls seeds in batches when the frontier runs low, concurrently with the loop: a million seeds from a generator are
 * never in memory at once, and a slow source (a database, a queue) does not block the crawl.
 *
 * A frontier that is full of requests to hosts that rest does not keep the next hosts waiting: while slots are free,
 * seeds are pulled in proportion to the visits.
 */
export class SeedSource {
  readonly #seeds: AsyncIterator<readonly Seed[]> | Iterator<readonly Seed[]>
  readonly #sink: SeedSink
  #pulling = false
  #admitting = false
  #done = false
  readonly #credit = new VisitCredit()

  constructor(seeds: AsyncIterator<readonly Seed[]> | Iterator<readonly Seed[]>, sink: SeedSink) {
    this.#seeds = seeds
    this.#sink = sink
  }

  /** True when all seeds are admitted. */
  get done(): boolean {
    return this.#done
  }

  /** True while seeds that were read are being admitted. */
  get admitting(): boolean {
    return this.#admitting
  }

  /**
   * @param ended Visits that have ended so far.
   * @param isIdle Slots are free although requests are pending: their hosts rest.
   */
  refill(pending: number, concurrency: number, ended: number, isIdle: boolean): void {
    if (this.#done || this.#pulling) return
    this.#credit.earn(ended)
    const isLow = roomFor(pending, concurrency) > 0
    if (isLow || (isIdle && !this.#credit.isUsedUp)) void this.#pull(isLow)
  }

  /** Lets the source clean up. Does not wait for it: the source may be stuck. */
  close(): void {
    if (this.#done) return
    this.#done = true
    try {
      const closing = this.#seeds.return?.()
      if (closing instanceof Promise) closing.catch(() => {})
    } catch {
      // The crawl has ended, so an error of the source does not matter.
    }
  }

  async #pull(isLow: boolean): Promise<void> {
    this.#pulling = true
    try {
      const next = await this.#next()
      if (!next.done && !isLow) this.#credit.spend(next.value.length)
      if (next.done) this.#done = true
      else await this.#admit(next.value)
    } catch (error) {
      this.#done = true
      this.#sink.failed(error)
    }
    this.#pulling = false
    this.#sink.changed()
  }

  async #next(): Promise<IteratorResult<readonly Seed[]>> {
    try {
      return await this.#seeds.next()
    } catch (error) {
      const message = `seeds: the iterable threw: ${messageOf(error)}`
      throw new KumoError('KUMO_SEEDS_FAILED', message, { cause: error })
    }
  }

  async #admit(seeds: readonly Seed[]): Promise<void> {
    this.#admitting = true
    try {
      const valid: RequestSpec[] = []
      for (const seed of seeds) {
        if ('url' in seed) valid.push(seed)
        else await this.#sink.invalid(seed.invalid, seed.message)
      }
      await this.#sink.admit(valid)
    } finally {
      this.#admitting = false
    }
  }
}
