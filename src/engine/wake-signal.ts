import type { Clock, Timer } from '../time.js'

/**
 * What the loop sleeps on. `rouse` may be called any number of times before the loop looks: it wakes once, and a
 * rouse that comes while the loop is awake makes the next sleep end at once. So no completion is missed and
 * nothing polls.
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

  /** Sleeps until roused or until the instant has come; Infinity sleeps until roused. */
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

  /** An alarm that is set for earlier is left alone: waking too early costs less than setting it again. */
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
