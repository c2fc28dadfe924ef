import type { Clock, Timer } from '../time.js'

/**
 * A deadline is checked in this many steps. A step that took longer, because the event loop was blocked or the process
 * stopped, still counts as one step: time in which no response could be read does not count.
 */
const STEPS = 10

/** Something with a deadline. The fields belong to `Deadlines`, which links its items into a list. */
export abstract class Expiring {
  dueAt = 0
  before: Expiring | undefined = undefined
  after: Expiring | undefined = undefined

  abstract expire(): void
}

/**
 * Timeouts of equal length: the first to start is the first to expire, so one timer serves them all and a visit needs
 * no timer of its own.
 *
 * The list is linked by hand. A Map would do the same, but leaves old tables behind that refer to one another, through
 * which the garbage collector kept nearly every visit until its next full collection: a tenth of a crawl's time.
 */
export class Deadlines<T extends Expiring> {
  readonly #clock: Clock
  readonly #ms: number
  /** Total time in which the event loop was blocked, as the delay of the timers shows. */
  #stalledMs = 0
  /** When the timer is due. Like every instant here, in time in which the event loop was running. */
  #timerAt = 0
  /** In the order of starting, which is the order of expiring. */
  #first: Expiring | undefined = undefined
  #last: Expiring | undefined = undefined
  #timer: Timer | undefined = undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  /** The items that are still running. */
  running(): readonly T[] {
    const items: T[] = []
    for (let item = this.#first; item !== undefined; item = item.after) items.push(item as T)
    return items
  }

  start(item: T, now: number): void {
    const from = this.#runningTime(now)
    item.dueAt = from + this.#ms
    item.before = this.#last
    if (this.#last === undefined) this.#first = item
    else this.#last.after = item
    this.#last = item
    if (this.#timer === undefined) this.#setTimer(from)
  }

  /** May also be called for an item that has expired or was never started. */
  done(item: T): void {
    if (item !== this.#first && item.before === undefined) return
    this.#remove(item)
  }

  /** Clears the timer. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #remove(item: Expiring): void {
    if (item.before === undefined) this.#first = item.after
    else item.before.after = item.after
    if (item.after === undefined) this.#last = item.before
    else item.after.before = item.before
    item.before = item.after = undefined
  }

  /** Time in which the event loop was running; it stops at the timer's due time while the timer is late. */
  #runningTime(now: number): number {
    return this.#timer === undefined ? now - this.#stalledMs : Math.min(now - this.#stalledMs, this.#timerAt)
  }

  #setTimer(from: number): void {
    if (this.#first === undefined) return
    this.#timerAt = Math.min(this.#first.dueAt, from + this.#ms / STEPS)
    this.#timer = this.#clock.wakeAt(this.#timerAt + this.#stalledMs, this.#onTimer)
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    this.#stalledMs = Math.max(this.#stalledMs, this.#clock.now() - this.#timerAt)
    if (this.#first === undefined || this.#first.dueAt > this.#timerAt) this.#setTimer(this.#timerAt)
    else if (this.#clock.afterArrivals === undefined) this.#expire()
    else this.#timer = this.#clock.afterArrivals(this.#expire)
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    for (let item = this.#first; item !== undefined && item.dueAt <= this.#timerAt; item = this.#first) {
      this.#remove(item)
      item.expire()
    }
    // An expired item may have started another.
    if (this.#timer === undefined) this.#setTimer(this.#timerAt)
  }
}
