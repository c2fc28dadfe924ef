import type { Clock, Timer } from '../time.js'

/**
 * A deadline is watched in so many steps. A step that took longer, because the event loop was blocked or the process
 * stopped, counts as one step all the same: nobody is charged with time in which no answer could be read.
 */
const STEPS = 10

/** Something that must be over in time. The fields are for `Deadlines`, which keeps its items in a list. */
export abstract class Expiring {
  dueAt = 0
  before: Expiring | undefined = undefined
  after: Expiring | undefined = undefined

  abstract expire(): void
}

/**
 * Deadlines that all lie equally far ahead: whoever starts first is due first, so one timer serves them all and a
 * visit costs no timer of its own.
 *
 * The list is linked by hand. A Map, which would do the same, leaves tables behind that refer to one another, and
 * with them the collector kept nearly every visit until its next full round: a tenth of the time of a crawl.
 */
export class Deadlines<T extends Expiring> {
  readonly #clock: Clock
  readonly #ms: number
  /** How long the loop has stood still, all in all: by so much rings were late. */
  #stalledMs = 0
  /** What the timer is set for. Like every instant here it is told in time in which the loop turned. */
  #timerAt = 0
  /** In the order of starting, which is the order of expiring. */
  #first: Expiring | undefined = undefined
  #last: Expiring | undefined = undefined
  #timer: Timer | undefined = undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  /** Those that are still running. */
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

  /** An item that has expired, or was never started, may be done too. */
  done(item: T): void {
    if (item !== this.#first && item.before === undefined) return
    this.#remove(item)
  }

  /** Leaves no timer behind. */
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

  /** The time in which the loop turned; it stands at the aim while the ring is late. */
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
    // Somebody who expired may have started another.
    if (this.#timer === undefined) this.#setTimer(this.#timerAt)
  }
}
