import { counted, KumoError, messageOf } from '../errors.js'
import type { OwnershipView } from '../partition/contract.js'
import type { PartitionLoad, SharedStore } from '../stores/contract.js'
import { type Clock, everySecond, type Timer } from '../time.js'
import { ClosureHost, type Closures, plainError } from './closures/host.js'
import { TerminationDetector } from './exchange/termination-detector.js'
import { type LeftBehind, lastReport, leftBehind } from './in-flight-log.js'
import type { PlainError, ToMain, ToWorker, WorkerData } from './messages.js'
import { Moves } from './moves.js'
import type { Thread, Threads } from './thread.js'

/** A worker that dies this often without delivering a page in between will keep dying. */
const MOST_DEATHS = 10

export interface SupervisorOptions {
  readonly shards: number
  readonly threads: Threads
  readonly clock: Clock
  readonly closures: Closures
  readonly ownership: OwnershipView
  /** The store that the workers share, if any: it must know when a worker ends. */
  readonly store: Pick<SharedStore, 'ending' | 'ended'> | undefined
  /** A worker that has not responded for this long is replaced. */
  readonly watchdogMs: number
  /** What to start a worker with. */
  dataFor(shard: number, replaces: boolean): WorkerData
}

/** The state of a worker when it died. */
export type LastReport = Pick<ReturnType<typeof lastReport>, 'waiting' | 'pages'>

/** What the supervisor reports to the crawl. */
export interface SupervisorEvents {
  reported(
    shard: number,
    message: Extract<
      ToMain,
      { kind: 'stats' | 'counted' | 'store' | 'warn' | 'advice' | 'ended' | 'seeded' }
    >,
  ): void
  /** A worker cannot continue, and neither can the crawl. */
  failed(error: KumoError): void
  /** A worker died, with these visits in flight and this last state; it is being replaced. */
  died(shard: number, why: string, under: readonly LeftBehind[], stood: LastReport): void
  /** The replacement is working. */
  replaced(shard: number): void
  /** A worker died after it had done its part; it is not replaced. */
  gone(shard: number): void
  /** All workers are idle and nothing is in transit. Return true if the crawl is over. */
  terminated(): boolean
}

/** The place of one worker, whichever thread currently fills it. */
interface WorkerSlot {
  readonly thread: Thread
  readonly closures: ClosureHost
  readonly data: WorkerData
  state: 'opening' | 'working' | 'ended' | 'dead'
  /** When it last showed a sign of life. */
  heardAt: number
  beat: number
  /** Why the supervisor is terminating it. */
  terminationReason: string | undefined
  deaths: number
  /** Page count of its first report: a replacement may continue its predecessor's count. */
  firstPages: number | undefined
  pages: number
  loads: readonly PartitionLoad[] | undefined
}

/**
 * Starts the workers, connects them to each other, and supervises them: a worker that dies or hangs is replaced. It
 * knows nothing about crawling; what workers report is passed on.
 */
export class WorkerSupervisor {
  readonly #options: SupervisorOptions
  readonly #events: SupervisorEvents
  readonly #slots: WorkerSlot[] = []
  readonly #termination: TerminationDetector
  readonly moves: Moves
  #watch: Timer | undefined = undefined
  #isOver = false
  /** `over` was sent to all workers. */
  #hasToldOver = false
  #starting: { resolve: () => void; reject: (error: unknown) => void } | undefined = undefined

  constructor(options: SupervisorOptions, events: SupervisorEvents) {
    this.#options = options
    this.#events = events
    this.#termination = new TerminationDetector(options.shards)
    this.moves = new Moves(options.ownership, {
      command: (shard, message) => this.command(shard, message),
      isWorking: (shard) => this.#slots[shard]?.state === 'working' && !this.#hasToldOver,
      settled: () => this.#checkQuiet(),
    })
  }

  /** Resolves when all workers have started; rejects if one cannot be started. */
  start(): Promise<void> {
    const started = new Promise<void>((resolve, reject) => {
      this.#starting = { resolve, reject }
    })
    for (let shard = 0; shard < this.#options.shards; shard++) this.#hire(shard, false)
    if (this.#options.watchdogMs < Number.POSITIVE_INFINITY) {
      this.#watch = everySecond(this.#options.clock, () => this.#lookAfter())
    }
    return started
  }

  /** Sends a worker a message that may give it work. Returns false if the worker is not available. */
  command(shard: number, message: ToWorker): boolean {
    const post = this.#slots[shard]!
    if (post.state !== 'working' || this.#hasToldOver) return false
    this.#termination.commandSent(shard)
    post.thread.post(message)
    return true
  }

  /** Sends all workers a message that gives them no work. */
  broadcast(message: ToWorker): void {
    for (const post of this.#slots) if (post.state === 'working') post.thread.post(message)
  }

  /** The load of each worker's partitions; undefined until all have reported. */
  get loads(): readonly (readonly PartitionLoad[])[] | undefined {
    const loads = this.#slots.flatMap(({ loads }) => (loads === undefined ? [] : [loads]))
    return loads.length === this.#slots.length ? loads : undefined
  }

  /** Terminates all workers, whatever they are doing, and waits for them to exit. */
  async close(): Promise<void> {
    this.#isOver = true
    this.#watch?.cancel()
    await Promise.all(this.#slots.map(({ thread }) => thread.end()))
  }

  /** Waits until all workers have exited on their own. */
  async allExited(): Promise<void> {
    this.#isOver = true
    this.#watch?.cancel()
    await Promise.all(this.#slots.map(({ thread }) => thread.exited))
  }

  #hire(shard: number, replaces: boolean): void {
    const data = this.#options.dataFor(shard, replaces)
    const before = this.#slots[shard]
    const thread = this.#options.threads.start(data, {
      message: (message) => this.#hear(shard, data, message),
      ending: () => this.#options.store?.ending?.(shard),
      exit: (error) => {
        this.#options.store?.ended?.(shard)
        this.#left(shard, data, error)
      },
    })
    this.#slots[shard] = {
      thread,
      closures: new ClosureHost(this.#options.closures),
      data,
      state: 'opening',
      heardAt: this.#options.clock.now(),
      beat: 0,
      terminationReason: undefined,
      deaths: before?.deaths ?? 0,
      firstPages: undefined,
      pages: 0,
      loads: undefined,
    }
  }

  #hear(shard: number, data: WorkerData, message: ToMain): void {
    const post = this.#slots[shard]!
    // Late messages of a worker that was replaced.
    if (post.data !== data || this.#isOver) return
    post.heardAt = this.#options.clock.now()
    switch (message.kind) {
      case 'ready':
        this.#isReady(shard, post)
        break
      case 'alive':
        break
      case 'resting':
        this.#termination.report(shard, message)
        this.#checkQuiet()
        break
      case 'rouse':
        this.broadcast({ kind: 'rouse' })
        break
      case 'ask':
        void this.#answer(post, message)
        break
      case 'pageOver':
        post.closures.pageOver(message.page)
        break
      case 'withdraw':
        post.closures.withdraw()
        break
      case 'gave':
        this.moves.released(shard, message.snapshot)
        break
      case 'took':
        this.moves.adopted(shard, message.version)
        break
      case 'failed':
        this.#fail(message.error)
        break
      default:
        if (message.kind === 'ended') post.state = 'ended'
        if (message.kind === 'stats') {
          post.pages = message.stats.pages
          post.firstPages ??= post.pages
          post.loads = message.loads ?? post.loads
        }
        this.#events.reported(shard, message)
    }
  }

  #isReady(shard: number, post: WorkerSlot): void {
    post.state = 'working'
    const isReplacement = this.#starting === undefined
    if (!isReplacement) {
      if (this.#slots.some(({ state }) => state === 'opening')) return
      for (let a = 0; a < this.#slots.length; a++) {
        for (let b = a + 1; b < this.#slots.length; b++) this.#connect(a, b)
      }
      for (const each of this.#slots) each.thread.post({ kind: 'go' })
      this.#starting?.resolve()
      this.#starting = undefined
      // Some may have died and been replaced while the others were opening.
      for (const [each, { deaths }] of this.#slots.entries()) if (deaths > 0) this.#events.replaced(each)
      return
    }
    // Before the others are connected: it must know what is in transit to it.
    this.moves.replaced(shard)
    for (const [other, { state }] of this.#slots.entries()) {
      if (other !== shard && state === 'working') this.#connect(shard, other)
    }
    post.thread.post({ kind: 'go' })
    this.#events.replaced(shard)
  }

  #connect(a: number, b: number): void {
    const [port1, port2] = this.#options.threads.channel()
    for (const [from, to, port] of [
      [a, b, port1],
      [b, a, port2],
    ] as const) {
      this.#termination.commandSent(from)
      this.#slots[from]!.thread.post({ kind: 'peer', shard: to, port }, [port])
    }
  }

  async #answer(post: WorkerSlot, { id, what, page }: Extract<ToMain, { kind: 'ask' }>): Promise<void> {
    let answer: ToWorker
    try {
      answer = { kind: 'answer', id, value: await post.closures.ask(what, page) }
    } catch (error) {
      answer = { kind: 'answer', id, error: plainError(error) }
    }
    try {
      post.thread.post(answer)
    } catch (error) {
      const message = `what it returned cannot be sent to a worker thread: ${messageOf(error)}`
      post.thread.post({ kind: 'answer', id, error: plainError(new TypeError(message)) })
    }
  }

  #left(shard: number, data: WorkerData, error: unknown): void {
    const post = this.#slots[shard]!
    if (post.data !== data || this.#isOver || post.state === 'ended') return
    const why = post.terminationReason ?? (error === undefined ? 'it ended by itself' : messageOf(error))
    if (post.state === 'opening' && this.#starting !== undefined) {
      this.#fail({ message: `a worker thread could not be started: ${why}`, code: 'KUMO_WORKER_FAILED' })
      return
    }
    if (this.#hasToldOver) {
      post.state = 'ended'
      this.#events.gone(shard)
      return
    }
    post.state = 'dead'
    post.deaths = post.pages > (post.firstPages ?? 0) ? 1 : post.deaths + 1
    if (post.deaths > MOST_DEATHS) {
      const message = `a worker thread died ${counted(post.deaths, 'time')} without handling a page; last of: ${why}`
      this.#fail({ message, code: 'KUMO_WORKER_FAILED' })
      return
    }
    this.#termination.reset(shard)
    for (const other of this.#slots.keys()) this.command(other, { kind: 'peerGone', shard })
    this.moves.died(shard, this.#options.clock.now())
    const { inFlight } = post.data
    this.#events.died(shard, why, leftBehind(inFlight), lastReport(inFlight))
    this.#hire(shard, true)
  }

  /** The watchdog (system D): a worker whose event loop is blocked for too long is terminated. */
  #lookAfter(): void {
    const { clock, watchdogMs } = this.#options
    for (const post of this.#slots) {
      if (post.state !== 'working') continue
      const { beat } = lastReport(post.data.inFlight)
      // A busy event loop may respond late and still be making progress.
      if (beat !== post.beat) post.heardAt = clock.now()
      post.beat = beat
      if (clock.now() - post.heardAt <= watchdogMs) {
        post.thread.post({ kind: 'ping' })
        continue
      }
      post.terminationReason = `its code blocked it for more than ${watchdogMs} ms`
      void post.thread.end()
    }
  }

  #checkQuiet(): void {
    if (this.#isOver || this.#hasToldOver || this.moves.isBusy) return
    if (!this.#termination.isTerminated || !this.#events.terminated()) return
    this.#hasToldOver = true
    this.broadcast({ kind: 'over' })
  }

  /** Call this when something that kept the crawl from ending is done. */
  look(): void {
    this.#checkQuiet()
  }

  #fail({ code = 'KUMO_WORKER_FAILED', message, stack }: PlainError): void {
    const error = new KumoError(code, message)
    if (stack !== undefined) error.stack = stack
    this.#starting?.reject(error)
    this.#starting = undefined
    this.#events.failed(error)
  }
}
