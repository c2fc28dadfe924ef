/**
 * The adaptive limit of open connections. When the system has no file descriptor, port or memory left for another one,
 * the limit drops to what was open, less a reserve, because DNS and the store's files need the same resources. It
 * recovers over time: another process may have caused the shortage.
 */

import type { Clock } from '../../time.js'

/** The new limit as a share of the connections that were open when the next one failed. */
const KEPT_SHARE = 0.8
/** After this time without a shortage the limit grows… */
const GROWS_AFTER_MS = 30_000
/** …by this factor. */
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

  /** The current limit; at least one, or the end of the shortage would never be noticed. */
  get most(): number {
    if (this.#most < this.full) this.#grow()
    return this.#most
  }

  /** A connection failed for lack of a resource while `held` others were open. */
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
