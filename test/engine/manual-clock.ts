/** Time that stands still until the test moves it. */

import type { Clock, Timer } from '../../src/time.js'

export class ManualClock implements Clock {
  #now: number
  readonly #alarms = new Set<{ at: number; ring: () => void }>()
  /** What `busyShare` answers next; undefined: it does not know. */
  busy: number | undefined = undefined

  constructor(now = 1_000_000) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  wakeAt(at: number, ring: () => void): Timer {
    const alarm = { at, ring }
    this.#alarms.add(alarm)
    return { cancel: () => void this.#alarms.delete(alarm) }
  }

  busyShare(): number | undefined {
    return this.busy
  }

  /** Moves on without ringing, as time does while the loop is blocked. What is overdue rings with the next `advance`. */
  block(ms: number): void {
    this.#now += ms
  }

  /** Alarms that are set. */
  get alarms(): number[] {
    return [...this.#alarms].map(({ at }) => at).sort((a, b) => a - b)
  }

  /** Moves on, ringing what comes due on the way, in order. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const [next] = [...this.#alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#alarms.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.ring()
    }
    this.#now = end
  }
}
