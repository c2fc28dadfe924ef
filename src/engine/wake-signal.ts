import type { Clock, Timer } from '../time.js'

/**
 * What the loop sleeps on. `wakeUp` may be called any number of times: the loop wakes once, and a call while the loop is
 * awake makes the next sleep end at once. So no completion is missed and nothing polls.
 */
export class WakeSignal {
  readonly #clock: Clock
  #isSignalled = false
  #resolve: (() => void) | undefined = undefined
  #timer: Timer | undefined = undefined
  #timerAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wakeUp = (): void => {
    this.#isSignalled = true
    const resolve = this.#resolve
    this.#resolve = undefined
    resolve?.()
  }

  /** Sleeps until `wakeUp` is called or the instant is reached; with Infinity, until `wakeUp` is called. */
  async sleep(until: number): Promise<void> {
    if (!this.#isSignalled && this.#clock.now() < until) {
      this.#setTimer(until)
      await new Promise<void>((resolve) => {
        this.#resolve = resolve
      })
    }
    this.#isSignalled = false
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  /** Keeps a timer that is set for an earlier instant: waking too early costs less than setting it again. */
  #setTimer(at: number): void {
    if (at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#clock.wakeAt(at, () => {
      this.#timer = undefined
      this.#timerAt = Number.POSITIVE_INFINITY
      this.wakeUp()
    })
  }
}
