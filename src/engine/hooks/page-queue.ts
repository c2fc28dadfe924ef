import type { Hook, HookQueue } from '../../hooks/contract.js'
import type { Clock } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import { Stage } from '../stats/meters.js'
import type { QueueStats } from '../stats/stats.js'
import { type Delivered, UNDELIVERED } from './delivered.js'

/** The most pages in a queue, if its hook does not say. */
export const QUEUE_PAGES = 1000
const DEFAULT_BYTES = 64 * 1024 * 1024

/** A page in a queue. A linked list, because an array is slow to shift once it is long. */
class Entry {
  next: Entry | undefined = undefined

  constructor(
    readonly bytes: number,
    readonly process: () => MaybePromise<Delivered>,
    readonly done: (answer: Delivered) => void,
  ) {}
}

/** A place in a queue. */
export interface Queued {
  /** Resolves when the hook is done with the page; never rejects. */
  readonly done: Promise<Delivered>
}

/**
 * The pages that wait for a hook or are being processed by it. Filled by visits when their page is extracted, emptied by
 * the hook, first in, first out. It never has more pages or bytes than its limits, except that a single page may be
 * larger; visits that find no room wait in their slots, in order.
 */
export class PageQueue {
  readonly name: string
  readonly #clock: Clock
  readonly #parallelism: number
  readonly #maxPages: number
  readonly #maxBytes: number
  #first: Entry | undefined = undefined
  #last: Entry | undefined = undefined
  #bytes = 0
  #running = 0
  #isAborted = false
  /** Visits that wait for room: filled by `enter`, emptied by `#admit`. */
  readonly #outside: { readonly bytes: number; readonly enter: () => void }[] = []
  readonly #startedAt: number
  /** Pages in the queue, those being processed, and visits that wait for room. */
  readonly #inside = new Stage()
  readonly #working = new Stage()
  readonly #waiting = new Stage()

  readonly #stages: Hook['stages']

  constructor(
    name: string,
    { parallelism = 1, pages, bytes }: HookQueue,
    clock: Clock,
    stages?: Hook['stages'],
  ) {
    this.#stages = stages
    this.name = name
    this.#clock = clock
    this.#parallelism = parallelism
    this.#maxPages = pages ?? QUEUE_PAGES
    this.#maxBytes = bytes ?? DEFAULT_BYTES
    this.#startedAt = clock.now()
  }

  /** Takes a page in; a promise if there is no room yet. `process` calls the hook and never throws. */
  enter(bytes: number, process: () => MaybePromise<Delivered>): MaybePromise<Queued> {
    if (this.#isAborted) return { done: Promise.resolve(UNDELIVERED) }
    if (this.#outside.length === 0 && this.#hasRoom(bytes)) return this.#put(bytes, process)
    this.#waiting.change(1, this.#clock.now())
    return new Promise((resolve) => {
      const enter = () => {
        this.#waiting.change(-1, this.#clock.now())
        resolve(this.#isAborted ? { done: Promise.resolve(UNDELIVERED) } : this.#put(bytes, process))
      }
      this.#outside.push({ bytes, enter })
    })
  }

  /** Drops what waits. Pages that are being processed stay. */
  abort(): void {
    this.#isAborted = true
    const now = this.#clock.now()
    for (let entry = this.#first; entry !== undefined; entry = entry.next) {
      this.#leave(entry, now)
      entry.done(UNDELIVERED)
    }
    this.#first = this.#last = undefined
    for (const { enter } of this.#outside.splice(0)) enter()
  }

  /** `slots`: how many the crawl has. */
  stats(slots: number): QueueStats {
    const now = this.#clock.now()
    for (const stage of [this.#inside, this.#working, this.#waiting]) stage.change(0, now)
    const elapsedMs = Math.max(now - this.#startedAt, 1)
    const stages = Object.entries(this.#stages?.() ?? {})
    const total = stages.reduce((sum, [, { busyMs }]) => sum + busyMs, 0)
    return {
      done: this.#working.done,
      perSecond: (this.#working.done * 1000) / elapsedMs,
      queue: this.#inside.count,
      bytes: this.#bytes,
      usedShare: this.#working.slotMs / (elapsedMs * this.#parallelism),
      slotShare: this.#waiting.slotMs / (elapsedMs * slots),
      // A hook that tells its stages may work when nobody has called it.
      busyShare: (stages.length > 0 ? total : this.#working.busyMs) / elapsedMs,
      stages: Object.fromEntries(
        stages.map(([name, { done, busyMs }]) => [
          name,
          { done, perSecond: (done * 1000) / elapsedMs, busyShare: busyMs / elapsedMs },
        ]),
      ),
    }
  }

  #hasRoom(bytes: number): boolean {
    if (this.#inside.count === 0) return true
    return this.#inside.count < this.#maxPages && this.#bytes + bytes <= this.#maxBytes
  }

  #put(bytes: number, process: () => MaybePromise<Delivered>): Queued {
    this.#bytes += bytes
    this.#inside.change(1, this.#clock.now())
    const done = new Promise<Delivered>((resolve) => {
      const entry = new Entry(bytes, process, resolve)
      if (this.#last === undefined) this.#first = entry
      else this.#last.next = entry
      this.#last = entry
    })
    this.#start()
    return { done }
  }

  #start(): void {
    while (this.#running < this.#parallelism && this.#first !== undefined) {
      const entry = this.#first
      this.#first = entry.next
      if (this.#first === undefined) this.#last = undefined
      this.#running++
      const startedAt = this.#clock.now()
      this.#working.change(1, startedAt)
      const answer = entry.process()
      this.#working.busyMs += this.#clock.now() - startedAt
      // Also if the hook is synchronous: a long queue must not starve sockets, nor grow the stack.
      void Promise.resolve(answer).then((delivered) => this.#finish(entry, delivered))
    }
  }

  #finish(entry: Entry, delivered: Delivered): void {
    const now = this.#clock.now()
    this.#running--
    this.#working.change(-1, now)
    this.#working.done++
    this.#leave(entry, now)
    entry.done(delivered)
    this.#start()
    while (this.#outside.length > 0 && this.#hasRoom(this.#outside[0]!.bytes)) this.#outside.shift()!.enter()
  }

  #leave({ bytes }: Entry, now: number): void {
    this.#bytes -= bytes
    this.#inside.change(-1, now)
  }
}
