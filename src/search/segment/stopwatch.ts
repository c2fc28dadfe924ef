import { systemClock } from '../../time.js'

/** Adds up the time that work takes in this thread, without the pauses in between. */
export class Stopwatch {
  readonly #clock = systemClock()
  #startedAt = 0
  ms = 0
  /** How often it was started. */
  count = 0

  start(): void {
    this.count++
    this.#startedAt = this.#clock.now()
  }

  pause(): void {
    this.ms += this.#clock.now() - this.#startedAt
  }

  resume(): void {
    this.#startedAt = this.#clock.now()
  }

  /** Measures until `work` returns; what it promises is not included. */
  measure<T>(work: () => T): T {
    this.start()
    try {
      return work()
    } finally {
      this.pause()
    }
  }
}
