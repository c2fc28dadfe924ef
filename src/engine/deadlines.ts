import type { Clock, Timer } from '../time.js'

/** Something that must be over in time. */
export interface Expiring {
  expire(): void
}

/**
 * Deadlines that all lie equally far ahead: whoever starts first is due first, so one timer serves them all and a
 * visit costs no timer of its own.
 */
export class Deadlines<T extends Expiring> {
  readonly #clock: Clock
  readonly #ms: number
  /** In the order of starting, which is the order of expiring. */
  readonly #due = new Map<T, number>()
  #timer: Timer | undefined = undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  /** Those that are still running. */
  running(): Iterable<T> {
    return this.#due.keys()
  }

  start(item: T, now: number): void {
    this.#due.set(item, now + this.#ms)
    this.#timer ??= this.#clock.wakeAt(now + this.#ms, this.#ring)
  }

  done(item: T): void {
    this.#due.delete(item)
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** The timer was set for the first of those that were running then; by now it may be somebody else's turn. */
  readonly #ring = (): void => {
    this.#timer = undefined
    const now = this.#clock.now()
    for (const [item, at] of this.#due) {
      if (at > now) {
        this.#timer = this.#clock.wakeAt(at, this.#ring)
        return
      }
      this.#due.delete(item)
      item.expire()
    }
  }
}
