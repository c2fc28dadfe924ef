import { ABANDONED, Patience } from '../engine/abort-grace.js'
import type { Reader } from '../engine/delivery.js'
import { Engine } from '../engine/engine.js'
import type { Stats, Summary } from '../engine/stats/stats.js'
import { KumoError } from '../errors.js'
import { loadModules } from '../modules/load.js'
import type { GivenOptions } from '../options/options.js'
import type { StoreEvent } from '../stores/contract.js'
import { clockOf, plan } from './plan.js'
import { assertRunnable } from './runtime.js'
import { openCrew } from './threads/open.js'
import { Crew } from './threads/worker-run.js'

/** What runs a crawl: one engine in this thread, or a crew of them in others. */
export interface Runner {
  run(): Promise<Summary>
  stop(): void
  abort(): void
  pause(): void
  resume(): void
  stats(): Stats | undefined
}

/** One run of a crawler, from opening its parts to closing them. */
export class Run {
  readonly #options: GivenOptions
  readonly #reader: Reader | undefined
  readonly #patience: Patience
  #runner: Runner | undefined = undefined
  /** What was asked while the parts were still being opened. */
  #early: ((runner: Runner) => void)[] = []
  #last: Stats | undefined = undefined
  isGoingOn = true

  constructor(options: GivenOptions, reader: Reader | undefined) {
    this.#options = options
    this.#reader = reader
    this.#patience = new Patience(clockOf(options))
  }

  async finish(signal: AbortSignal | undefined): Promise<Summary> {
    const abort = () => this.abort()
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const runner = await this.#open()
      this.#runner = runner
      for (const ask of this.#early.splice(0)) ask(runner)
      return await runner.run()
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#patience.close()
      this.isGoingOn = false
      this.#last = this.#runner?.stats()
      this.#runner = undefined
    }
  }

  abort(): void {
    if (!this.isGoingOn) return
    this.#patience.abort()
    this.tell((runner) => runner.abort())
  }

  /** Passes a wish on to the runner, now or as soon as there is one. After the run it is ignored. */
  tell(ask: (runner: Runner) => void): void {
    if (this.#runner !== undefined) ask(this.#runner)
    else if (this.isGoingOn) this.#early.push(ask)
  }

  stats(): Stats | undefined {
    return this.#runner?.stats() ?? this.#last
  }

  async #open(): Promise<Runner> {
    assertRunnable(this.#options.workers.count)
    const opening = this.#options.workers.count > 0 ? this.#openCrew() : this.#openEngine()
    const opened = await this.#patience.wait(opening)
    if (opened !== ABANDONED) return opened.runner
    // Should it open after all, it is closed again; nobody is left to hear of it.
    opening.then(({ close }) => close()).catch(() => {})
    const message = 'aborted while a store, a hook or an extractor was still opening; it was left behind'
    throw new KumoError('KUMO_OPEN_FAILED', message)
  }

  async #openEngine(): Promise<Opened> {
    const options = await loadModules(this.#options)
    // The same clock for the run's patience and for all its parts.
    const { parts, rules } = await plan({ ...options, clock: this.#patience.clock }, this.#reader)
    const runner = new Engine(parts, rules, this.#patience)
    return { runner, close: async () => parts.close(this.#patience) }
  }

  async #openCrew(): Promise<Opened> {
    let crew: Crew | undefined
    const early: StoreEvent[] = []
    const parts = await openCrew(this.#options, this.#reader, (event) => {
      if (crew === undefined) early.push(event)
      else crew.storeTold(event)
    })
    crew = new Crew(parts, this.#patience)
    for (const event of early) crew.storeTold(event)
    return { runner: crew, close: () => parts.close(this.#patience) }
  }
}

interface Opened {
  readonly runner: Runner
  close(): Promise<void>
}
