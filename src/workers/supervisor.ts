import type { Stats } from '../engine/contract.js'
import { KumoError, messageOf, pluralize } from '../errors.js'
import type { OwnershipView } from '../partition/contract.js'
import type { PartitionLoad, SharedStore } from '../stores/contract.js'
import { type Clock, everySecond, type Timer } from '../time.js'
import { ClosureHost, type Closures, plainError } from './closures/host.js'
import { TerminationDetector } from './exchange/termination-detector.js'
import { type InterruptedVisit, interruptedVisits, type LastState, lastState } from './in-flight-log.js'
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
  readonly store: Pick<SharedStore, 'terminating' | 'exited'> | undefined
  /** A worker that has not responded for this long is replaced. */
  readonly watchdogMs: number
  /** What to start a worker with. */
  dataFor(shard: number, replaces: boolean): WorkerData
}

/** What the supervisor reports to the crawl. */
export interface SupervisorEvents {
  reported(
    shard: number,
    message: Extract<ToMain, { kind: 'stats' | 'counts' | 'store' | 'warn' | 'advice' | 'ended' | 'done' }>,
  ): void
  /** Partitions have left a shard, or have arrived at one: its statistics since then. */
  moved(kind: 'released' | 'adopted', shard: number, stats: Stats): void
  /** A worker cannot continue, and neither can the crawl. */
  failed(error: KumoError): void
  /** A worker died, with these visits in flight and this last state; it is being replaced. */
  died(shard: number, reason: string, visits: readonly InterruptedVisit[], state: LastState): void
  /** The replacement is working. */
  replaced(shard: number): void
  /** A worker died after it had done its part; it is not replaced. */
  exited(shard: number): void
  /** All workers are idle and nothing is in transit. Return true if the crawl is over. */
  terminated(): boolean
}

/** The place of one worker, whichever thread currently fills it. */
interface WorkerSlot {
  readonly thread: Thread
  readonly closures: ClosureHost
  readonly data: WorkerData
  /** Requests in flight that do not fit into the in-flight log. */
  readonly large: Map<number, InterruptedVisit['request']>
  state: 'opening' | 'working' | 'ended' | 'dead'
  /** When it last showed a sign of life. */
  lastSeenAt: number
  heartbeat: number
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
  #watchdog: Timer | undefined = undefined
  #isClosing = false
  /** `finish` was sent to all workers. */
  #isFinishing = false
  #starting: { resolve: () => void; reject: (error: unknown) => void } | undefined = undefined

  constructor(options: SupervisorOptions, events: SupervisorEvents) {
    this.#options = options
    this.#events = events
    this.#termination = new TerminationDetector(options.shards)
    this.moves = new Moves(options.ownership, {
      command: (shard, message) => this.command(shard, message),
      isWorking: (shard) => this.#slots[shard]?.state === 'working' && !this.#isFinishing,
      settled: () => this.checkTermination(),
    })
  }

  /** Resolves when all workers have started; rejects if one cannot be started. */
  start(): Promise<void> {
    const started = new Promise<void>((resolve, reject) => {
      this.#starting = { resolve, reject }
    })
    for (let shard = 0; shard < this.#options.shards; shard++) this.#spawn(shard, false)
    if (this.#options.watchdogMs < Number.POSITIVE_INFINITY) {
      this.#watchdog = everySecond(this.#options.clock, () => this.#checkResponsiveness())
    }
    return started
  }

  /** Sends a worker a message that may give it work. Returns false if the worker is not available. */
  command(shard: number, message: ToWorker): boolean {
    const slot = this.#slots[shard]!
    if (slot.state !== 'working' || this.#isFinishing) return false
    this.#termination.commandSent(shard)
    slot.thread.post(message)
    return true
  }

  /** Sends all workers a message that gives them no work. */
  broadcast(message: ToWorker): void {
    for (const slot of this.#slots) if (slot.state === 'working') slot.thread.post(message)
  }

  /** The load of each worker's partitions; undefined until all have reported. */
  get loads(): readonly (readonly PartitionLoad[])[] | undefined {
    const loads = this.#slots.flatMap(({ loads }) => (loads === undefined ? [] : [loads]))
    return loads.length === this.#slots.length ? loads : undefined
  }

  /** Terminates all workers, whatever they are doing, and waits for them to exit. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#watchdog?.cancel()
    await Promise.all(this.#slots.map(({ thread }) => thread.terminate()))
  }

  /** Waits until all workers have exited on their own. */
  async allExited(): Promise<void> {
    this.#isClosing = true
    this.#watchdog?.cancel()
    await Promise.all(this.#slots.map(({ thread }) => thread.exited))
  }

  #spawn(shard: number, replaces: boolean): void {
    const data = this.#options.dataFor(shard, replaces)
    const before = this.#slots[shard]
    const thread = this.#options.threads.start(data, {
      message: (message) => this.#receive(shard, data, message),
      terminating: () => this.#options.store?.terminating?.(shard),
      exit: (error) => {
        this.#options.store?.exited?.(shard)
        this.#exited(shard, data, error)
      },
    })
    this.#slots[shard] = {
      thread,
      closures: new ClosureHost(this.#options.closures),
      data,
      large: new Map(),
      state: 'opening',
      lastSeenAt: this.#options.clock.now(),
      heartbeat: 0,
      terminationReason: undefined,
      deaths: before?.deaths ?? 0,
      firstPages: undefined,
      pages: 0,
      loads: undefined,
    }
  }

  #receive(shard: number, data: WorkerData, message: ToMain): void {
    const slot = this.#slots[shard]!
    // Late messages of a worker that was replaced.
    if (slot.data !== data || this.#isClosing) return
    slot.lastSeenAt = this.#options.clock.now()
    switch (message.kind) {
      case 'ready':
        this.#becameReady(shard, slot)
        break
      case 'alive':
        break
      case 'idle':
        this.#termination.report(shard, message)
        this.checkTermination()
        break
      case 'budgetChanged':
        this.broadcast({ kind: 'budgetChanged' })
        break
      case 'call':
        void this.#callClosure(slot, message)
        break
      case 'inFlight':
        if (message.request === undefined) slot.large.delete(message.slot)
        else slot.large.set(message.slot, message.request)
        break
      case 'pageDone':
        slot.closures.pageDone(message.page)
        break
      case 'withdraw':
        slot.closures.withdraw()
        break
      case 'released':
        this.#events.moved('released', shard, message.stats)
        this.moves.released(shard, message.snapshot)
        break
      case 'adopted':
        this.#events.moved('adopted', shard, message.stats)
        this.moves.adopted(shard, message.version)
        break
      case 'failed':
        this.#fail(message.error)
        break
      default:
        if (message.kind === 'ended') slot.state = 'ended'
        if (message.kind === 'stats') {
          slot.pages = message.stats.pages
          slot.firstPages ??= slot.pages
          slot.loads = message.loads ?? slot.loads
        }
        this.#events.reported(shard, message)
    }
  }

  #becameReady(shard: number, slot: WorkerSlot): void {
    slot.state = 'working'
    const isReplacement = this.#starting === undefined
    if (!isReplacement) {
      if (this.#slots.some(({ state }) => state === 'opening')) return
      for (let a = 0; a < this.#slots.length; a++) {
        for (let b = a + 1; b < this.#slots.length; b++) this.#connect(a, b)
      }
      for (const each of this.#slots) each.thread.post({ kind: 'start' })
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
    slot.thread.post({ kind: 'start' })
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

  async #callClosure(slot: WorkerSlot, { id, call, page }: Extract<ToMain, { kind: 'call' }>): Promise<void> {
    let reply: ToWorker
    try {
      reply = { kind: 'reply', id, value: await slot.closures.call(call, page) }
    } catch (error) {
      reply = { kind: 'reply', id, error: plainError(error) }
    }
    const followed = page && slot.closures.takeFollowed(page)
    if (followed !== undefined) reply = { ...reply, followed }
    try {
      slot.thread.post(reply)
    } catch (error) {
      const message = `its return value cannot be sent to a worker thread: ${messageOf(error)}`
      slot.thread.post({ kind: 'reply', id, error: plainError(new TypeError(message)), followed })
    }
  }

  #exited(shard: number, data: WorkerData, error: unknown): void {
    const slot = this.#slots[shard]!
    if (slot.data !== data || this.#isClosing || slot.state === 'ended') return
    const reason = slot.terminationReason ?? (error === undefined ? 'it exited on its own' : messageOf(error))
    if (slot.state === 'opening' && this.#starting !== undefined) {
      this.#fail({ message: `a worker thread could not be started: ${reason}`, code: 'KUMO_WORKER_FAILED' })
      return
    }
    if (this.#isFinishing) {
      slot.state = 'ended'
      this.#events.exited(shard)
      return
    }
    slot.state = 'dead'
    slot.deaths = slot.pages > (slot.firstPages ?? 0) ? 1 : slot.deaths + 1
    if (slot.deaths > MOST_DEATHS) {
      const message = `a worker thread died ${pluralize(slot.deaths, 'time')} without delivering a page; last cause: ${reason}`
      this.#fail({ message, code: 'KUMO_WORKER_FAILED' })
      return
    }
    this.#termination.reset(shard)
    for (const other of this.#slots.keys()) this.command(other, { kind: 'peerLost', shard })
    this.moves.died(shard, this.#options.clock.now())
    const { inFlight } = slot.data
    const visits = interruptedVisits(inFlight, slot.large)
    this.#events.died(shard, reason, visits, lastState(inFlight))
    this.#spawn(shard, true)
  }

  /** The watchdog: a worker whose event loop is blocked for too long is terminated. */
  #checkResponsiveness(): void {
    const { clock, watchdogMs } = this.#options
    for (const slot of this.#slots) {
      if (slot.state !== 'working') continue
      const { heartbeat } = lastState(slot.data.inFlight)
      // A busy event loop may respond late and still be making progress.
      if (heartbeat !== slot.heartbeat) slot.lastSeenAt = clock.now()
      slot.heartbeat = heartbeat
      if (clock.now() - slot.lastSeenAt <= watchdogMs) {
        slot.thread.post({ kind: 'ping' })
        continue
      }
      slot.terminationReason = `its event loop was blocked for more than ${watchdogMs} ms`
      void slot.thread.terminate()
    }
  }

  /** Call this when something that kept the crawl from ending is done. */
  checkTermination(): void {
    if (this.#isClosing || this.#isFinishing || this.moves.isBusy) return
    if (!this.#termination.isTerminated || !this.#events.terminated()) return
    this.#isFinishing = true
    this.broadcast({ kind: 'finish' })
  }

  #fail({ code = 'KUMO_WORKER_FAILED', message, stack }: PlainError): void {
    const error = new KumoError(code, message)
    if (stack !== undefined) error.stack = stack
    this.#starting?.reject(error)
    this.#starting = undefined
    this.#events.failed(error)
  }
}
