import type { Clock, Timer } from '../time.js'
import type { MaybePromise } from '../types.js'

/** How long an aborted crawl waits for what does not answer (user code, a store) before it leaves it behind. */
const GRACE_MS = 500

/** What `wait` answers when grace was over first. */
export const ABANDONED = Symbol('abandoned')

/**
 * One notion of being aborted for a whole run, from the opening of its parts to their closing: until an abort, whatever
 * is waited for may take its time; half a second after it, nothing is waited for any more. So an abort ends a run even
 * if a hook never returns or a store never answers.
 */
export class AbortGrace {
  readonly clock: Clock
  readonly #waiting = new Set<() => void>()
  #timer: Timer | undefined = undefined
  #isOver = false
  /** Called once, when grace is over. */
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

  /** From now on there is half a second left. */
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

  /** The promise's value, or `ABANDONED`. What comes of an abandoned promise is ignored, a rejection too. */
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

  /** Leaves no timer behind. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#isOver = true
  }
}
