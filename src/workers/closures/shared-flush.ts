import type { MaybePromise } from '../../types.js'

/**
 * Flushes a hook on behalf of several workers. Calls do not overlap: those that come while it is flushing share the next
 * flush, which includes whatever any of them has given the hook before.
 */
export class SharedFlush {
  readonly #flush: () => MaybePromise<void>
  #running: Promise<void> | undefined = undefined
  #next: Promise<void> | undefined = undefined

  constructor(flush: () => MaybePromise<void>) {
    this.#flush = flush
  }

  flush(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#start()
      })
    return this.#next
  }

  #start(): Promise<void> {
    const running = (async () => this.#flush())()
    this.#running = running
    const over = () => {
      if (this.#running === running) this.#running = undefined
    }
    running.then(over, over)
    return running
  }
}
