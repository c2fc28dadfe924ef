/** Threads for simulations of crawls over several shards: the shards are real, threads and ports are not. */

import type { CrawlOptions } from '../../../src/options/options.js'
import { WorkerShard } from '../../../src/run/threads/shard.js'
import type { Clock, Random } from '../../../src/time.js'
import type { ToMain, ToWorker, WorkerData } from '../../../src/workers/messages.js'
import type { MessagePort, Thread, ThreadEvents, Threads } from '../../../src/workers/thread.js'
import { carried, Delays, SimPort, Wire } from './ports.js'
import { SimThread } from './sim-thread.js'

/** A thread that starts has its modules to load. */
const STARTING_MS = 100
const DEFAULT_LATE_MS = 3000

export interface SimThreadsOptions {
  readonly clock: Clock
  readonly random: Random
  /** The longest that a late message takes. Default 3 s. */
  readonly lateMs?: number
  /** Puts parts of the simulation in the place of real ones. */
  adapt(options: CrawlOptions, thread: SimThread): CrawlOptions
  /** Told when a thread has died that was not through. */
  died?(thread: SimThread): void
  /** Told what a thread is sent by whoever started it. */
  posted?(thread: SimThread, message: ToWorker): void
}

/** The threads of a simulated process. */
export interface SimThreads extends Threads {
  /** The thread that starts the others: its clock is the workerRun's. */
  readonly main: SimThread
  /** The thread that runs this shard, if it lives. */
  threadOf(shard: number): SimThread | undefined
  /** The process dies, with all its threads. */
  crash(): void
}

/** Threads that live in virtual time: a seed replays what they did. */
export function simThreads(options: SimThreadsOptions): SimThreads {
  return new Process(options)
}

/** No shard has this number. */
const MAIN = -1

class Process implements SimThreads {
  readonly main: SimThread
  readonly #options: SimThreadsOptions
  readonly #delays: Delays
  readonly #threads = new Map<number, StartedThread>()
  #started = 0
  /** Whose turn it is, or was last; undefined for the main thread. */
  #active: StartedThread | undefined = undefined

  constructor(options: SimThreadsOptions) {
    this.#options = options
    this.#delays = new Delays(options.random, options.lateMs ?? DEFAULT_LATE_MS)
    const { clock } = options
    this.main = new SimThread(MAIN, MAIN, { clock, turn: () => this.#turn(undefined), died: () => {} })
  }

  threadOf(shard: number): SimThread | undefined {
    const thread = this.#threads.get(shard)?.thread
    return thread?.isAlive ? thread : undefined
  }

  crash(): void {
    this.main.die()
    for (const { thread } of this.#threads.values()) thread.die()
  }

  channel(): readonly [MessagePort, MessagePort] {
    return SimPort.pair(this.#options.clock, this.#delays) as never
  }

  start(data: WorkerData, events: ThreadEvents): Thread {
    const { clock, random, adapt, posted } = this.#options
    const thread = new SimThread(data.shard.index, this.#started++, {
      clock,
      turn: () => this.#turn(started),
      died: () => this.#died(started),
    })
    const ways = { toMain: new Wire(clock, this.#delays), toThread: new Wire(clock, this.#delays) }
    const started = new StartedThread({ thread, main: this.main, data, events, ways, posted })
    this.#threads.set(data.shard.index, started)
    thread.clock.wakeAt(clock.now() + random.next() * STARTING_MS, () =>
      started.open((options) => adapt(options, thread)),
    )
    return started
  }

  /** All threads share the memory of the budget, and take turns. */
  #turn(thread: StartedThread | undefined): void {
    if (this.#active === thread) return
    this.#active?.publish()
    this.#active = thread
    thread?.refresh()
  }

  #died(thread: StartedThread): void {
    if (this.#active === thread) this.#turn(undefined)
    thread.leave()
    if (!thread.isThrough) this.#options.died?.(thread.thread)
  }
}

interface ThreadParts {
  readonly thread: SimThread
  readonly main: SimThread
  readonly data: WorkerData
  readonly events: ThreadEvents
  readonly ways: { readonly toMain: Wire; readonly toThread: Wire }
  readonly posted: SimThreadsOptions['posted']
}

/**
 * A thread as who started it holds it. Memory that is shared it has as copies, which count at the end of its turn: what it
 * writes after it died, in the middle of one, does not.
 */
class StartedThread implements Thread {
  readonly exited: Promise<void>
  readonly #parts: ThreadParts
  readonly #shard: WorkerShard
  readonly #budget: SharedArrayBuffer
  readonly #requestBudget: SharedArrayBuffer
  readonly #inFlight: SharedArrayBuffer
  /** It has said all it had to say, and ends by itself. */
  isThrough = false
  #gone: () => void = () => {}

  constructor(parts: ThreadParts) {
    this.#parts = parts
    const { budget, requestBudget, inFlight, ...rest } = parts.data
    this.#budget = copyOf(budget)
    this.#requestBudget = copyOf(requestBudget)
    this.#inFlight = copyOf(inFlight)
    this.exited = new Promise((resolve) => {
      this.#gone = resolve
    })
    const shared = { budget: this.#budget, requestBudget: this.#requestBudget, inFlight: this.#inFlight }
    const given = { ...structuredClone(rest), ...shared }
    const post = (message: ToMain, transfer?: readonly ArrayBuffer[]) => this.#tell(message, transfer)
    this.#shard = new WorkerShard(given, { post, close: () => this.#close() }, parts.thread.clock)
  }

  get thread(): SimThread {
    return this.#parts.thread
  }

  open(adapt: (options: CrawlOptions) => CrawlOptions): void {
    this.#shard.open(adapt).catch((error) => {
      this.#shard.fail(error)
      this.#close()
    })
  }

  post(message: ToWorker, transfer: readonly MessagePort[] = []): void {
    const { thread, main, ways, posted } = this.#parts
    const copy = carried(message, transfer)
    if (!main.acts()) return
    ways.toThread.send(() => {
      if (copy.kind === 'peer') (copy.port as unknown as SimPort).owner = thread
      thread.run(() => this.#shard.receive(copy))
    })
    posted?.(thread, message)
  }

  async terminate(): Promise<void> {
    this.thread.die()
    await this.exited
  }

  /** Others see what it has written. */
  publish(): void {
    const { budget, requestBudget, inFlight } = this.#parts.data
    copy(this.#budget, budget)
    copy(this.#requestBudget, requestBudget)
    copy(this.#inFlight, inFlight)
  }

  /** It sees what others have written. */
  refresh(): void {
    copy(this.#parts.data.budget, this.#budget)
    copy(this.#parts.data.requestBudget, this.#requestBudget)
  }

  /** It is dead: what it has said is still heard, and then that it left. */
  leave(): void {
    const { main, events, ways } = this.#parts
    ways.toMain.send(() =>
      main.run(() => {
        events.exit(this.isThrough ? undefined : 'it was killed')
        this.#gone()
      }),
    )
  }

  #tell(message: ToMain, transfer: readonly ArrayBuffer[] = []): void {
    const { thread, main, events, ways } = this.#parts
    // Statistics are made for the message, and are most of all messages.
    const copy = message.kind === 'stats' ? message : carried(message, transfer)
    if (thread.acts()) ways.toMain.send(() => main.run(() => events.message(copy)))
  }

  #close(): void {
    if (!this.thread.isAlive) return
    this.isThrough = true
    this.thread.die()
  }
}

function copyOf(memory: SharedArrayBuffer): SharedArrayBuffer {
  const made = new SharedArrayBuffer(memory.byteLength)
  copy(memory, made)
  return made
}

function copy(from: SharedArrayBuffer, to: SharedArrayBuffer): void {
  new Uint8Array(to).set(new Uint8Array(from))
}
