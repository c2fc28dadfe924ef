import type { Clock } from '../../../time.js'

/** Hosts are visited only until this part of the lease is left: clocks differ, and an abort takes a moment. */
const MARGIN = 0.15

/** What both clocks showed at one moment. */
export interface Instant {
  readonly now: number
  readonly wall: number
}

/**
 * Until when a node may visit its hosts. Two clocks decide, because each may fail: the monotonic one stands still while a
 * machine sleeps, and the wall clock may be set.
 */
export class Lease {
  readonly #clock: Clock
  readonly #ms: number
  #until = 0
  #wallUntil = 0

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock
    this.#ms = ttlMs * (1 - MARGIN)
  }

  /** Both clocks at this moment. */
  instant(): Instant {
    return { now: this.#clock.now(), wall: this.#clock.wall?.() ?? 0 }
  }

  /** It counts from when it was asked for. */
  extend({ now, wall }: Instant): void {
    this.#until = now + this.#ms
    this.#wallUntil = wall + this.#ms
  }

  get isValid(): boolean {
    const { now, wall } = this.instant()
    return now < this.#until && wall < this.#wallUntil
  }

  /** When it ends by the monotonic clock. */
  get until(): number {
    return this.#until
  }

  /** Milliseconds that are left; 0 if it is over. */
  get leftMs(): number {
    return Math.max(0, this.#until - this.#clock.now())
  }
}
