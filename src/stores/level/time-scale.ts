import type { Clock } from '../../time.js'

/** What a commit remembers of time. */
export interface TimeMark {
  /** The instant of the commit, on the store's scale. */
  readonly at: number
  /** The same as the system clock told it. */
  readonly wall?: number | undefined
  /** The same on a scale that nobody can set, if the clock has one. */
  readonly steady?: { readonly scale: string; readonly ms: number } | undefined
}

/**
 * Time as a store tells it: it goes on smoothly from one run to the next, whatever happened to the system clock between
 * them. Without this, a clock that is set back by an hour would leave every host resting for an hour, and one that is
 * set forward would cut every pause short.
 */
export class TimeScale {
  readonly #clock: Clock
  #offset = 0

  constructor(clock: Clock, last: TimeMark | undefined) {
    this.#clock = clock
    if (last !== undefined) this.#offset = clock.now() - (last.at + this.#elapsedSince(last))
  }

  toStore(instant: number): number {
    return instant === 0 ? 0 : instant - this.#offset
  }

  /** 0 stands for "never" on both scales. */
  fromStore(instant: number): number {
    return instant === 0 ? 0 : instant + this.#offset
  }

  mark(): TimeMark {
    const wall = this.#clock.now()
    return { at: this.toStore(wall), wall, steady: this.#clock.steady?.() }
  }

  /**
   * How long ago the last commit was. Since the machine was started there is a clock that cannot be set; otherwise the
   * system clock must be believed, unless it says that the commit is still to come.
   */
  #elapsedSince({ at, wall = at, steady }: TimeMark): number {
    const now = this.#clock.steady?.()
    if (steady !== undefined && now !== undefined && now.scale === steady.scale)
      return Math.max(0, now.ms - steady.ms)
    return Math.max(0, this.#clock.now() - wall)
  }
}
