/**
 * How many connections may exist at once. When the system has no descriptor, port or memory left for another, the bound
 * falls to what it could hold, less a reserve, because look-ups and the store's files come from the same supply. It
 * rises again by itself: the shortage may have been somebody else's, and over by now.
 */

import type { Clock } from '../../time.js'

/** Of the connections that were held when the next one was refused, those that may be held from then on. */
const KEPT_SHARE = 0.8
/** After so long without a shortage more may be tried… */
const GROWS_AFTER_MS = 30_000
/** …this many times as many. */
const GROWTH = 1.5

export class Allowance {
  readonly full: number
  readonly #clock: Clock
  #most: number
  #changedAt = 0

  constructor(full: number, clock: Clock) {
    this.full = full
    this.#clock = clock
    this.#most = full
  }

  /** Connections that may exist now; at least one, or nobody would ever find out that the shortage is over. */
  get most(): number {
    if (this.#most < this.full) this.#grow()
    return this.#most
  }

  /** A connection was refused for want of something, while `held` others were there. */
  shrink(held: number): void {
    this.#most = Math.max(1, Math.min(this.most, Math.floor(held * KEPT_SHARE)))
    this.#changedAt = this.#clock.now()
  }

  #grow(): void {
    for (const now = this.#clock.now(); this.#changedAt + GROWS_AFTER_MS <= now && this.#most < this.full; ) {
      this.#most = Math.min(this.full, Math.ceil(this.#most * GROWTH))
      this.#changedAt += GROWS_AFTER_MS
    }
  }
}
