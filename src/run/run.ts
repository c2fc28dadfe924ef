import { ABANDONED, AbortGrace } from '../engine/abort-grace.js'
import { type AddedSource, runEnded } from '../engine/admission/added-requests.js'
import { emitWarning } from '../engine/delivery.js'
import { Engine } from '../engine/engine.js'
import { type NoPageReasons, noPageWarning } from '../engine/stats/no-page.js'
import type { Stats, Summary } from '../engine/stats/stats.js'
import { KumoError } from '../errors.js'
import { loadModules } from '../modules/load.js'
import type { GivenOptions } from '../options/options.js'
import { type OpenSeeds, openAdded, openSeeds, type SeedInput } from '../options/seeds.js'
import type { StoreEvent, StoreHealth } from '../stores/contract.js'
import type { Clock, Timer } from '../time.js'
import { plan } from './plan.js'
import { clockOf } from './plan-defaults.js'
import type { RunOutputs } from './run-events.js'
import { assertRunnable } from './runtime.js'
import { openWorkerRun } from './threads/open.js'
import { WorkerRun } from './threads/worker-run.js'

/** What runs a crawl: one engine in this thread, or a `WorkerRun` over several threads. */
interface Runner {
  run(): Promise<Summary>
  stop(): void
  abort(): void
  pause(): void
  resume(): void
  finish(): void
  add(source: AddedSource): Promise<void>
  stats(): Stats | undefined
  /** Absent: the crawl is shared with nobody. */
  health?(): StoreHealth | undefined
  noPage(): readonly NoPageReasons[]
}

/** A crawl without a page is most often a mistake, and a program without listeners would not hear of it. */
function warnIfNoPage({ pages, reason }: Summary, runner: Runner): void {
  if (pages > 0 || (reason !== 'done' && reason !== 'limit')) return
  const warning = noPageWarning(runner.noPage())
  if (warning !== undefined) emitWarning(warning)
}

/** One run of a crawler, from opening its parts to closing them. */
export class Run {
  readonly #options: GivenOptions
  readonly #seeds: OpenSeeds
  readonly #outputs: RunOutputs
  readonly #grace: AbortGrace
  #runner: Runner | undefined = undefined
  /** Commands that came before everything was opened. */
  #early: ((runner: Runner) => void)[] = []
  /** Requests that were added before everything was opened. */
  #earlyAdds: EarlyAdd[] = []
  #last: Stats | undefined = undefined
  #isOver = false
  #stopTimer: Timer | undefined = undefined

  constructor(options: GivenOptions, outputs: RunOutputs) {
    this.#seeds = openSeeds(options.seeds)
    this.#options = { ...options, seeds: this.#seeds.inputs }
    this.#outputs = outputs
    this.#grace = new AbortGrace(clockOf(options))
  }

  /** Runs the crawl, once. It begins in the next macrotask, so that the caller can add listeners first. */
  async execute(signal: AbortSignal | undefined): Promise<Summary> {
    const abort = () => this.abort()
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await nextMacrotask(this.#grace.clock)
      const runner = await this.#open()
      this.#runner = runner
      for (const command of this.#early.splice(0)) command(runner)
      for (const { source, resolve, reject } of this.#earlyAdds.splice(0))
        runner.add(source).then(resolve, reject)
      const summary = await runner.run()
      warnIfNoPage(summary, runner)
      return summary
    } finally {
      signal?.removeEventListener('abort', abort)
      this.#seeds.abandon()
      this.#grace.close()
      this.#isOver = true
      this.#stopTimer?.cancel()
      this.#last = this.#runner?.stats()
      this.#runner = undefined
      for (const { source, reject } of this.#earlyAdds.splice(0)) {
        reject(runEnded())
        source.return?.().catch(() => {})
      }
    }
  }

  abort(): void {
    if (this.#isOver) return
    this.#grace.abort()
    this.command((runner) => runner.abort())
  }

  /** Visits that are still in flight after `withinMs` are aborted. */
  stop(withinMs: number | undefined): void {
    if (this.#isOver) return
    this.command((runner) => runner.stop())
    if (withinMs === undefined) return
    const { clock } = this.#grace
    this.#stopTimer?.cancel()
    this.#stopTimer = clock.wakeAt(clock.now() + withinMs, () => this.abort())
  }

  /** Passes a command on to the runner, now or as soon as there is one. After the run it is ignored. */
  command(command: (runner: Runner) => void): void {
    if (this.#runner !== undefined) command(this.#runner)
    else if (!this.#isOver) this.#early.push(command)
  }

  /** Rejects with a KumoError: `KUMO_INVALID_OPTION`, `KUMO_SEEDS_FAILED`, `KUMO_STORE_FAILED` or `KUMO_RUN_ENDED`. */
  async add(given: readonly SeedInput[]): Promise<void> {
    if (this.#isOver) throw runEnded()
    const source = openAdded(given)
    if (this.#runner !== undefined) return this.#runner.add(source)
    return new Promise((resolve, reject) => this.#earlyAdds.push({ source, resolve, reject }))
  }

  stats(): Stats | undefined {
    return this.#runner?.stats() ?? this.#last
  }

  health(): StoreHealth | undefined {
    return this.#runner?.health?.()
  }

  async #open(): Promise<Runner> {
    assertRunnable(this.#options.workers.count)
    const opening = this.#options.workers.count > 0 ? this.#openWorkerRun() : this.#openEngine()
    const opened = await this.#grace.wait(opening)
    if (opened !== ABANDONED) return opened.runner
    // If it opens after all, it is closed again. The run is over by then, so a failure to close has no listener.
    opening.then(({ close }) => close()).catch(() => {})
    const message = 'aborted while a store, a hook or an extractor was still opening; it was not waited for'
    throw new KumoError('KUMO_OPEN_FAILED', message)
  }

  async #openEngine(): Promise<Opened> {
    const options = await loadModules(this.#options)
    const { events, stream } = this.#outputs
    // One clock for the run's abort grace and for all of its parts.
    const given = { ...options, clock: this.#grace.clock }
    const { parts, rules } = await plan(given, { events: events.emitter, reader: stream })
    const runner = new Engine(parts, rules, this.#grace)
    return { runner, close: async () => parts.close(this.#grace) }
  }

  async #openWorkerRun(): Promise<Opened> {
    let workerRun: WorkerRun | undefined
    const early: StoreEvent[] = []
    const parts = await openWorkerRun(this.#options, this.#outputs, (event) => {
      if (workerRun === undefined) early.push(event)
      else workerRun.onStoreEvent(event)
    })
    workerRun = new WorkerRun(parts, this.#grace)
    for (const event of early) workerRun.onStoreEvent(event)
    return { runner: workerRun, close: () => parts.close(this.#grace) }
  }
}

interface EarlyAdd {
  readonly source: AddedSource
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Opened {
  readonly runner: Runner
  close(): Promise<void>
}

/** The system clock's immediate; any other clock's next timer. */
function nextMacrotask(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    if (clock.afterArrivals) clock.afterArrivals(resolve)
    else clock.wakeAt(clock.now(), resolve)
  })
}
