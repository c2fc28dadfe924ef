import type { Clock, Timer } from '../time.js'

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
    item.dueAt = now + this.#ms
    item.before = this.#last
    if (this.#last === undefined) this.#first = item
    else this.#last.after = item
    this.#last = item
    this.#timer ??= this.#clock.wakeAt(item.dueAt, this.#ring)
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

  /** The timer was set for the first of those that were running then; by now it may be somebody else's turn. */
  readonly #ring = (): void => {
    this.#timer = undefined
    const now = this.#clock.now()
    for (let item = this.#first; item !== undefined; item = this.#first) {
      if (item.dueAt > now) {
        this.#timer = this.#clock.wakeAt(item.dueAt, this.#ring)
        return
      }
      this.#remove(item)
      item.expire()
    }
  }
}
