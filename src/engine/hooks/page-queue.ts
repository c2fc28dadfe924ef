import type { Hook, HookQueue } from '../../hooks/contract.js'
import { CostLine } from '../../hooks/cost-line.js'
import type { Clock } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import { Stage } from '../stats/meters.js'
import type { QueueStats } from '../stats/stats.js'
import { type Delivered, type LeftToOthers, type QueueAnswer, UNDELIVERED } from './delivered.js'

/** The most pages in a queue, if its hook does not say. */
export const QUEUE_PAGES = 1000
const DEFAULT_BYTES = 64 * 1024 * 1024
const KILOBYTE = 1024
/** What the latest page counts for in the mean. */
const NEWEST = 0.1
const LEAST_COST_MS = 0.01

/** What a page waits for in a queue. */
export interface QueuedWork {
  /** Of the body. */
  readonly bytes: number
  /** Calls the hook; never throws. */
  process(): MaybePromise<Delivered>
  /** Leaves the page to another process, if there is room; undefined if not. Absent: it stays here. */
  leave?: (() => LeftToOthers | undefined) | undefined
  /** It came from another process. */
  readonly isForeign?: true | undefined
}

/** A page in a queue. A linked list, because an array is slow to shift once it is long. */
class Entry {
  next: Entry | undefined = undefined
  previous: Entry | undefined = undefined

  constructor(
    readonly work: QueuedWork,
    readonly done: (answer: QueueAnswer) => void,
  ) {}
}

/** A place in a queue. */
export interface Queued {
  /** Resolves when the hook is done with the page; never rejects. */
  readonly done: Promise<QueueAnswer>
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
  /** Pages that nobody works on yet, and the bytes of their bodies. */
  #waitingPages = 0
  #waitingBytes = 0
  #left = 0
  #isLettingIn = false
  /** Of the latest pages. */
  #meanBytes = 0
  /** Called when a page has come or gone. */
  onChange: () => void = () => {}
  /** How long a page takes, by its size. */
  readonly #cost = new CostLine()
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

  /** Takes a page in; a promise if there is no room yet. */
  enter(work: QueuedWork): MaybePromise<Queued> {
    if (this.#isAborted) return { done: Promise.resolve(UNDELIVERED) }
    if (this.#outside.length === 0 && this.#hasRoom(work.bytes)) return this.#put(work)
    this.#waiting.change(1, this.#clock.now())
    return new Promise((resolve) => {
      const enter = () => {
        this.#waiting.change(-1, this.#clock.now())
        resolve(this.#isAborted ? { done: Promise.resolve(UNDELIVERED) } : this.#put(work))
      }
      this.#outside.push({ bytes: work.bytes, enter })
    })
  }

  /** When the hook will get to a page that enters now, in ms from now; undefined before it is known what pages cost. */
  get waitMs(): number | undefined {
    if (this.#waitingPages === 0) return 0
    if (this.#cost.count === 0) return undefined
    return (this.#waitingPages * this.#costOf(this.#waitingBytes / this.#waitingPages)) / this.#parallelism
  }

  /** So many pages of an ordinary size keep the hook busy for so long. */
  pagesIn(ms: number): number {
    if (this.#cost.count === 0) return this.#parallelism
    return Math.ceil((ms * this.#parallelism) / Math.max(this.#costOf(this.#meanBytes), LEAST_COST_MS))
  }

  /** Leaves the last pages to other processes while the hook would not get to them within this time. */
  shed(mostWaitMs: number): void {
    let entry = this.#last
    while (entry !== undefined && (this.waitMs ?? 0) > mostWaitMs) {
      const { previous } = entry
      if (entry.work.leave !== undefined) {
        const answer = entry.work.leave()
        if (answer === undefined) break
        this.#left++
        this.#drop(entry, answer)
      }
      entry = previous
    }
    this.#letIn()
  }

  /** Drops what waits and came from other processes. */
  dropForeign(): void {
    for (let entry = this.#first; entry !== undefined; entry = entry.next)
      if (entry.work.isForeign) this.#drop(entry, UNDELIVERED)
    this.#letIn()
  }

  /** Drops what waits. Pages that are being processed stay. */
  abort(): void {
    this.#isAborted = true
    for (let entry = this.#first; entry !== undefined; entry = entry.next) this.#drop(entry, UNDELIVERED)
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
      offloaded: this.#left,
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

  #put(work: QueuedWork): Queued {
    this.#bytes += work.bytes
    this.#inside.change(1, this.#clock.now())
    const done = new Promise<QueueAnswer>((resolve) => {
      const entry = new Entry(work, resolve)
      entry.previous = this.#last
      if (this.#last === undefined) this.#first = entry
      else this.#last.next = entry
      this.#last = entry
      this.#waitingPages++
      this.#waitingBytes += work.bytes
    })
    this.#start()
    this.onChange()
    return { done }
  }

  #start(): void {
    while (this.#running < this.#parallelism && this.#first !== undefined) {
      const entry = this.#first
      this.#unlink(entry)
      this.#running++
      const startedAt = this.#clock.now()
      this.#working.change(1, startedAt)
      const answer = entry.work.process()
      this.#working.busyMs += this.#clock.now() - startedAt
      // Also if the hook is synchronous: a long queue must not starve sockets, nor grow the stack.
      void Promise.resolve(answer).then((delivered) => this.#finish(entry, delivered, startedAt))
    }
  }

  #finish(entry: Entry, delivered: Delivered, startedAt: number): void {
    const now = this.#clock.now()
    this.#running--
    this.#cost.add(entry.work.bytes / KILOBYTE, now - startedAt)
    this.#meanBytes += (entry.work.bytes - this.#meanBytes) * NEWEST
    this.#working.change(-1, now)
    this.#working.done++
    this.#leave(entry, now)
    entry.done(delivered)
    this.#start()
    this.#letIn()
    this.onChange()
  }

  #letIn(): void {
    if (this.#isLettingIn) return
    this.#isLettingIn = true
    while (this.#outside.length > 0 && this.#hasRoom(this.#outside[0]!.bytes)) this.#outside.shift()!.enter()
    this.#isLettingIn = false
  }

  #costOf(bytes: number): number {
    return this.#cost.at(bytes / KILOBYTE)
  }

  /** Takes out an entry that nobody works on. */
  #drop(entry: Entry, answer: QueueAnswer): void {
    this.#unlink(entry)
    this.#leave(entry, this.#clock.now())
    entry.done(answer)
  }

  #unlink(entry: Entry): void {
    const { previous, next } = entry
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    this.#waitingPages--
    this.#waitingBytes -= entry.work.bytes
  }

  #leave({ work }: Entry, now: number): void {
    this.#bytes -= work.bytes
    this.#inside.change(-1, now)
  }
}
