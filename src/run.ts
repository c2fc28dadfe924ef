import { Engine } from './engine/engine.js'
import type { Reader } from './engine/outlet.js'
import type { Stats, Summary } from './engine/stats.js'
import type { CrawlOptions } from './options.js'
import { plan } from './plan.js'

/** One run of a crawler, from opening its parts to closing them. */
export class Run {
  readonly #options: CrawlOptions
  readonly #reader: Reader | undefined
  #engine: Engine | undefined = undefined
  /** What was asked while the parts were still being opened. */
  #early: ((engine: Engine) => void)[] = []
  #last: Stats | undefined = undefined
  isGoingOn = true

  constructor(options: CrawlOptions, reader: Reader | undefined) {
    this.#options = options
    this.#reader = reader
  }

  async finish(signal: AbortSignal | undefined): Promise<Summary> {
    const abort = () => this.tell((engine) => engine.abort())
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const { parts, rules } = await plan(this.#options, this.#reader)
      const engine = new Engine(parts, rules)
      this.#engine = engine
      for (const ask of this.#early.splice(0)) ask(engine)
      return await engine.run()
    } finally {
      signal?.removeEventListener('abort', abort)
      this.isGoingOn = false
      this.#last = this.#engine?.stats()
      this.#engine = undefined
    }
  }

  /** Passes a wish on to the engine, now or as soon as there is one. After the run it is ignored. */
  tell(ask: (engine: Engine) => void): void {
    if (this.#engine !== undefined) ask(this.#engine)
    else if (this.isGoingOn) this.#early.push(ask)
  }

  stats(): Stats | undefined {
    return this.#engine?.stats() ?? this.#last
  }
}
