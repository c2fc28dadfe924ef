import { KumoError, messageOf } from '../../errors.js'
import type { MaybePromise } from '../../types.js'
import type { Seed } from '../parts.js'

/** Seeds are pulled while fewer requests than this wait, times the concurrency. */
const PENDING_PER_SLOT = 4
const MIN_PENDING = 1000

interface SeedSink {
  admit(urls: readonly string[]): Promise<void>
  invalid(seed: string, message: string): MaybePromise<void>
  failed(error: unknown): void
  changed(): void
}

/**
 * Pulls seeds in batches as the frontier runs low, beside the loop: a million seeds from a generator never stand in
 * memory together, and a slow source (a database, a queue) holds nobody up.
 */
export class SeedSource {
  readonly #seeds: AsyncIterator<readonly Seed[]> | Iterator<readonly Seed[]>
  readonly #sink: SeedSink
  #pulling = false
  #admitting = false
  #done = false

  constructor(seeds: AsyncIterator<readonly Seed[]> | Iterator<readonly Seed[]>, sink: SeedSink) {
    this.#seeds = seeds
    this.#sink = sink
  }

  /** True once every seed has been admitted. */
  get done(): boolean {
    return this.#done
  }

  /** True while seeds that were read are being taken in. */
  get admitting(): boolean {
    return this.#admitting
  }

  refill(pending: number, concurrency: number): void {
    if (this.#done || this.#pulling) return
    if (pending < Math.max(MIN_PENDING, PENDING_PER_SLOT * concurrency)) void this.#pull()
  }

  /** Lets the source clean up behind itself. It is not waited for: a source may be stuck, which is why we leave. */
  close(): void {
    if (this.#done) return
    this.#done = true
    try {
      const closing = this.#seeds.return?.()
      if (closing instanceof Promise) closing.catch(() => {})
    } catch {
      // The crawl is over; what a source throws on its way out concerns nobody.
    }
  }

  async #pull(): Promise<void> {
    this.#pulling = true
    try {
      const next = await this.#next()
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
      const message = `seeds: the source of seeds threw: ${messageOf(error)}`
      throw new KumoError('KUMO_SEEDS_FAILED', message, { cause: error })
    }
  }

  async #admit(seeds: readonly Seed[]): Promise<void> {
    this.#admitting = true
    try {
      await this.#take(seeds)
    } finally {
      this.#admitting = false
    }
  }

  async #take(seeds: readonly Seed[]): Promise<void> {
    const urls: string[] = []
    for (const seed of seeds) {
      if ('url' in seed) urls.push(seed.url)
      else await this.#sink.invalid(seed.invalid, seed.message)
    }
    await this.#sink.admit(urls)
  }
}
