import { KumoError, messageOf } from '../../errors.js'
import type { Hook } from '../../hooks/contract.js'
import { isThenable, LATE, type Waits } from '../../time.js'

/**
 * Makes hooks durable before the store commits what they saw. Knows which hooks were given something since they were last
 * flushed, and which calls nobody waits for (`skip`) are still running.
 */
export class Flushes {
  readonly #waits: Waits
  /** Hooks that were given something since their last flush. */
  readonly #dirty = new Set<Hook>()
  readonly #running = new Set<Promise<unknown>>()
  #flushing: Promise<void> | undefined = undefined
  #failure: KumoError | undefined = undefined

  constructor(waits: Waits) {
    this.#waits = waits
  }

  /** A hook is done with something that it was given. */
  gave(hook: Hook): void {
    if (hook.flush !== undefined) this.#dirty.add(hook)
  }

  /** A call that no visit waits for: the next flush does. */
  track(call: Promise<unknown>): void {
    const settled = call.finally(() => this.#running.delete(settled)).catch(() => {})
    this.#running.add(settled)
  }

  /**
   * Resolves when everything that hooks were given so far is durable in them. Calls do not overlap. Rejects, from then on
   * always, if a hook fails: what it was given must not be committed.
   *
   * @throws KumoError `KUMO_FLUSH_FAILED`
   */
  flush(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#flushing !== undefined) return this.#flushing.then(() => this.flush())
    if (this.#dirty.size === 0 && this.#running.size === 0) return undefined
    this.#flushing = this.#flush().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  /** From now on nothing may be committed that hooks have not made durable: the crawl cannot wait for them. */
  giveUp(): void {
    if (this.#dirty.size === 0 && this.#flushing === undefined) return
    const names = [...this.#dirty].map(({ name }) => `'${name}'`).join(', ')
    this.#failure ??= failed(names === '' ? 'a hook' : `hook ${names}`, 'it did not flush before the abort')
  }

  async #flush(): Promise<void> {
    await Promise.all(this.#running)
    // Before the calls: what hooks are given while they flush is for the next one.
    const hooks = [...this.#dirty]
    this.#dirty.clear()
    await Promise.all(hooks.map((hook) => this.#flushOne(hook)))
    if (this.#failure !== undefined) throw this.#failure
  }

  async #flushOne(hook: Hook): Promise<void> {
    try {
      const answer = hook.flush!() as unknown
      if (isThenable(answer) && (await this.#waits.wait(answer)) === LATE)
        throw new Error(`it did not finish within ${this.#waits.ms} ms`)
    } catch (error) {
      this.#failure ??= failed(`hook '${hook.name}'`, messageOf(error), error)
    }
  }
}

/** The store did not commit what the hook was given. */
function failed(who: string, why: string, cause?: unknown): KumoError {
  const message =
    `${who} could not be flushed: ${why}. The crawl ended, and pages that were not flushed are not settled: ` +
    'fix the cause and run the same program again, and it delivers them again'
  return new KumoError('KUMO_FLUSH_FAILED', message, { cause })
}
