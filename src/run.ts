import { Engine } from './engine/engine.js'
import type { Reader } from './engine/outlet.js'
import { ABANDONED, Patience } from './engine/patience.js'
import type { Stats, Summary } from './engine/stats.js'
import { KumoError } from './errors.js'
import type { CrawlOptions } from './options.js'
import { clockOf, type Plan, plan } from './plan.js'

/** One run of a crawler, from opening its parts to closing them. */
export class Run {
  readonly #options: CrawlOptions
  readonly #reader: Reader | undefined
  readonly #patience: Patience
  #engine: Engine | undefined = undefined
  /** What was asked while the parts were still being opened. */
  #early: ((engine: Engine) => void)[] = []
  #last: Stats | undefined = undefined
  isGoingOn = true

  constructor(options: CrawlOptions, reader: Reader | undefined) {
    // The same clock for the run's patience and for all its parts.
    this.#options = { ...options, clock: clockOf(options) }
    this.#reader = reader
    this.#patience = new Patience(clockOf(this.#options))
  }

  async finish(signal: AbortSignal | undefined): Promise<Summary> {
    const abort = () => this.abort()
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const { parts, rules } = await this.#open()
      const engine = new Engine(parts, rules, this.#patience)
      this.#engine = engine
      for (const ask of this.#early.splice(0)) ask(engine)
      return await engine.run()
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#patience.close()
      this.isGoingOn = false
      this.#last = this.#engine?.stats()
      this.#engine = undefined
    }
  }

  abort(): void {
    if (!this.isGoingOn) return
    this.#patience.abort()
    this.tell((engine) => engine.abort())
  }

  /** Passes a wish on to the engine, now or as soon as there is one. After the run it is ignored. */
  tell(ask: (engine: Engine) => void): void {
    if (this.#engine !== undefined) ask(this.#engine)
    else if (this.isGoingOn) this.#early.push(ask)
  }

  stats(): Stats | undefined {
    return this.#engine?.stats() ?? this.#last
  }

  async #open(): Promise<Plan> {
    const opening = plan(this.#options, this.#reader)
    const opened = await this.#patience.wait(opening)
    if (opened !== ABANDONED) return opened
    // Should it open after all, it is closed again; nobody is left to hear of it.
    opening.then(({ parts }) => parts.close(this.#patience)).catch(() => {})
    const message = 'aborted while a store, a hook or an extractor was still opening; it was left behind'
    throw new KumoError('KUMO_OPEN_FAILED', message)
  }
}
