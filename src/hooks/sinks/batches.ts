import { KumoError, messageOf, sentence } from '../../errors.js'
import type { Timer } from '../../time.js'
import type { DeadLetter, Sink, SinkItem, SinkStats } from './contract.js'
import type { DeadLetters } from './dead-letters.js'
import type { SinkSettings } from './settings.js'

/** With so many batches waiting, pages wait in their slots. */
const BATCHES_WAITING = 2

/** An error may say how long to wait, as a server that is busy does. */
interface Delaying {
  readonly retryAfterMs?: number | undefined
}

/**
 * The items of one run on their way to a sink. Filled by pages, emptied by `write` of the sink, one batch at a time; a
 * batch ends in the sink or among the dead letters. If there is no room for these, everything stops with an error.
 */
export class Batches<Item> {
  readonly #sink: Pick<Sink<Item, never>, 'name' | 'write'>
  readonly #settings: SinkSettings<Item>
  readonly #dead: DeadLetters<Item>
  #waiting: SinkItem<Item>[] = []
  #sizes: number[] = []
  #bytes = 0
  /** Items that were added, items that are done, and items that must be done without waiting for more. */
  #added = 0
  #done = 0
  #wanted = 0
  #writing: Promise<void> | undefined = undefined
  #timer: Timer | undefined = undefined
  #pause: (() => void) | undefined = undefined
  #room: (() => void)[] = []
  /** The last batch was given up: the next ones get one attempt each, after the longest pause. */
  #isDown = false
  #closing = false
  #failure: KumoError | undefined = undefined
  #written = 0
  #batches = 0
  #retries = 0
  repeated = 0
  /** Why the last dead letter of this run could not be written. */
  lastReason: string | undefined = undefined

  constructor(
    sink: Pick<Sink<Item, never>, 'name' | 'write'>,
    settings: SinkSettings<Item>,
    dead: DeadLetters<Item>,
  ) {
    this.#sink = sink
    this.#settings = settings
    this.#dead = dead
  }

  get stats(): SinkStats {
    return {
      written: this.#written,
      batches: this.#batches,
      retries: this.#retries,
      dead: this.#dead.size,
      repeated: this.repeated,
      waiting: this.#added - this.#done,
    }
  }

  /** A promise if pages must wait: it resolves when there is room again. Throws once nothing can be written any more. */
  add(item: SinkItem<Item>, bytes: number): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure
    this.#waiting.push(item)
    this.#sizes.push(bytes)
    this.#bytes += bytes
    this.#added++
    if (this.#isFull) void this.#write()
    else this.#startTimer()
    if (!this.#isOverfull) return undefined
    return new Promise((resolve) => {
      this.#room.push(resolve)
    })
  }

  /** Resolves once everything added so far is written, or among the dead letters. */
  async flush(): Promise<void> {
    const target = this.#added
    this.#wanted = target
    while (this.#done < target && !this.#closing) await this.#write()
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Writes dead letters again: once each, until one fails. */
  async revive(): Promise<void> {
    while (!this.#isDown) {
      const letters = await this.#dead.read(this.#settings.pages)
      if (letters.length === 0) return
      await this.#deliver(letters, 1)
    }
  }

  /** What is being written is finished; pauses end at once, nothing is tried twice any more, and what waits is dropped. */
  async close(): Promise<void> {
    this.#closing = true
    this.#timer?.cancel()
    this.#pause?.()
    await this.#writing
    this.#done = this.#added
    for (const resolve of this.#room.splice(0)) resolve()
  }

  get #isFull(): boolean {
    return this.#waiting.length >= this.#settings.pages || this.#bytes >= this.#settings.bytes
  }

  get #isOverfull(): boolean {
    const { pages, bytes } = this.#settings
    return this.#waiting.length >= BATCHES_WAITING * pages || this.#bytes >= BATCHES_WAITING * bytes
  }

  #startTimer(): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return
    const { clock, ageMs } = this.#settings
    this.#timer = clock.wakeAt(clock.now() + ageMs, () => {
      this.#timer = undefined
      this.#wanted = this.#added
      void this.#write()
    })
  }

  #write(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
      if (this.#waiting.length > 0 && !this.#closing) this.#startTimer()
    })
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing && (this.#done < this.#wanted || this.#isFull)) {
      const batch = this.#take()
      this.#makeRoom()
      const wasDown = this.#isDown
      await this.#deliver(batch, wasDown ? 1 : this.#settings.attempts)
      this.#done += batch.length
      if (wasDown) await this.revive()
    }
  }

  #take(): SinkItem<Item>[] {
    let count = 0
    let bytes = 0
    while (count < this.#waiting.length && count < this.#settings.pages && bytes < this.#settings.bytes)
      bytes += this.#sizes[count++]!
    this.#bytes -= bytes
    this.#sizes.splice(0, count)
    return this.#waiting.splice(0, count)
  }

  #makeRoom(): void {
    if (this.#isOverfull) return
    for (const resolve of this.#room.splice(0)) resolve()
  }

  /** Ends with the batch written or buried. Never throws. */
  async #deliver(batch: readonly SinkItem<Item>[], attempts: number): Promise<void> {
    const { mostMs } = this.#settings
    if (this.#isDown) await this.#wait(mostMs)
    for (let attempt = 1; ; attempt++) {
      try {
        const rejected = (await this.#sink.write(batch)) ?? []
        this.#succeeded(batch, rejected)
        return
      } catch (error) {
        if (attempt >= attempts || this.#closing) {
          this.#isDown = true
          for (const item of batch) this.#bury({ ...item, reason: messageOf(error) }, false)
          return
        }
        this.#retries++
        await this.#wait((error as Delaying | null)?.retryAfterMs ?? this.#pauseAfter(attempt))
      }
    }
  }

  #succeeded(
    batch: readonly SinkItem<Item>[],
    rejected: readonly { readonly index: number; readonly reason: string }[],
  ): void {
    this.#isDown = false
    this.#batches++
    const reasons = new Map(rejected.map(({ index, reason }) => [index, reason]))
    for (const [index, item] of batch.entries()) {
      const reason = reasons.get(index)
      if (reason !== undefined) this.#bury({ ...item, reason }, true)
      else {
        this.#written++
        this.#dead.remove(item.id)
      }
    }
  }

  #bury(letter: DeadLetter<Item>, rejected: boolean): void {
    const { report, mostDead } = this.#settings
    this.lastReason = letter.reason
    if (this.#dead.put(letter, rejected)) {
      report?.(letter)
      return
    }
    const message =
      `the sink '${this.#sink.name}' could not write ${letter.url} (${sentence(letter.reason)}) There is no room for more ` +
      `dead letters: ${mostDead} are in the crawl's store. Repair what the sink writes to and run the program again`
    this.#failure ??= new KumoError('KUMO_SINK_FAILED', message)
  }

  #pauseAfter(attempt: number): number {
    const { firstMs, mostMs } = this.#settings
    return Math.min(firstMs * 2 ** (attempt - 1), mostMs)
  }

  #wait(ms: number): Promise<void> {
    if (this.#closing || ms <= 0) return Promise.resolve()
    const { clock, mostMs } = this.#settings
    return new Promise((resolve) => {
      const timer = clock.wakeAt(clock.now() + Math.min(ms, Math.max(mostMs, 0)), () => this.#pause?.())
      this.#pause = () => {
        timer.cancel()
        this.#pause = undefined
        resolve()
      }
    })
  }
}
