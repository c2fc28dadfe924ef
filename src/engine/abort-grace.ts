import type { Clock, Timer } from '../time.js'
import type { MaybePromise } from '../types.js'

/** How long an aborted crawl waits for user code or a store before it abandons them. */
const GRACE_MS = 500

/** The result of `wait` if the grace period ended first. */
export const ABANDONED = Symbol('abandoned')

/**
 * The abort state of a whole run, from opening its parts to closing them. Before an abort, waits have no time limit;
 * half a second after it, all waits end. So an abort ends a run even if a hook never returns or a store never answers.
 */
export class AbortGrace {
  readonly clock: Clock
  readonly #waiting = new Set<() => void>()
  #timer: Timer | undefined = undefined
  #isOver = false
  /** Called once, when the grace period ends. */
  onOver: (() => void) | undefined = undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  get isAborted(): boolean {
    return this.#isOver || this.#timer !== undefined
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Starts the grace period. */
  abort(): void {
    if (this.isAborted) return
    this.#timer = this.clock.wakeAt(this.clock.now() + GRACE_MS, () => {
      this.#timer = undefined
      this.#isOver = true
      for (const giveUp of this.#waiting) giveUp()
      this.#waiting.clear()
      this.onOver?.()
    })
  }

  /** The promise's value, or `ABANDONED`. How an abandoned promise settles is ignored, even if it rejects. */
  wait<T>(promise: MaybePromise<T>): Promise<T | typeof ABANDONED> {
    return new Promise((resolve, reject) => {
      const giveUp = () => resolve(ABANDONED)
      if (this.#isOver) giveUp()
      else this.#waiting.add(giveUp)
      Promise.resolve(promise).then(
        (value) => {
          this.#waiting.delete(giveUp)
          resolve(value)
        },
        (error) => {
          this.#waiting.delete(giveUp)
          reject(error)
        },
      )
    })
  }

  /** Clears the timer. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#isOver = true
  }
}
