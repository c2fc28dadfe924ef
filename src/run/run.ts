import { ABANDONED, AbortGrace } from '../engine/abort-grace.js'
import type { PageReader } from '../engine/delivery.js'
import { Engine } from '../engine/engine.js'
import type { Stats, Summary } from '../engine/stats/stats.js'
import { KumoError } from '../errors.js'
import { loadModules } from '../modules/load.js'
import type { GivenOptions } from '../options/options.js'
import type { StoreEvent } from '../stores/contract.js'
import { plan } from './plan.js'
import { clockOf } from './plan-defaults.js'
import { assertRunnable } from './runtime.js'
import { openWorkerRun } from './threads/open.js'
import { WorkerRun } from './threads/worker-run.js'

/** What runs a crawl: one engine in this thread, or a workerRun of them in others. */
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
  readonly #reader: PageReader | undefined
  readonly #grace: AbortGrace
  #runner: Runner | undefined = undefined
  /** What was asked while the parts were still being opened. */
  #early: ((runner: Runner) => void)[] = []
  #last: Stats | undefined = undefined
  isGoingOn = true

  constructor(options: GivenOptions, reader: PageReader | undefined) {
    this.#options = options
    this.#reader = reader
    this.#grace = new AbortGrace(clockOf(options))
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
      this.#grace.close()
      this.isGoingOn = false
      this.#last = this.#runner?.stats()
      this.#runner = undefined
    }
  }

  abort(): void {
    if (!this.isGoingOn) return
    this.#grace.abort()
    this.command((runner) => runner.abort())
  }

  /** Passes a expectation on to the runner, now or as soon as there is one. After the run it is ignored. */
  command(ask: (runner: Runner) => void): void {
    if (this.#runner !== undefined) ask(this.#runner)
    else if (this.isGoingOn) this.#early.push(ask)
  }

  stats(): Stats | undefined {
    return this.#runner?.stats() ?? this.#last
  }

  async #open(): Promise<Runner> {
    assertRunnable(this.#options.workers.count)
    const opening = this.#options.workers.count > 0 ? this.#openCrew() : this.#openEngine()
    const opened = await this.#grace.wait(opening)
    if (opened !== ABANDONED) return opened.runner
    // Should it open after all, it is closed again; nobody is left to hear of it.
    opening.then(({ close }) => close()).catch(() => {})
    const message = 'aborted while a store, a hook or an extractor was still opening; it was left behind'
    throw new KumoError('KUMO_OPEN_FAILED', message)
  }

  async #openEngine(): Promise<Opened> {
    const options = await loadModules(this.#options)
    // The same clock for the run's grace and for all its parts.
    const { parts, rules } = await plan({ ...options, clock: this.#grace.clock }, this.#reader)
    const runner = new Engine(parts, rules, this.#grace)
    return { runner, close: async () => parts.close(this.#grace) }
  }

  async #openCrew(): Promise<Opened> {
    let workerRun: WorkerRun | undefined
    const early: StoreEvent[] = []
    const parts = await openWorkerRun(this.#options, this.#reader, (event) => {
      if (workerRun === undefined) early.push(event)
      else workerRun.onStoreEvent(event)
    })
    workerRun = new WorkerRun(parts, this.#grace)
    for (const event of early) workerRun.onStoreEvent(event)
    return { runner: workerRun, close: () => parts.close(this.#grace) }
  }
}

interface Opened {
  readonly runner: Runner
  close(): Promise<void>
}
