import { counted, KumoError, messageOf } from '../errors.js'
import type { OwnershipView } from '../partition/contract.js'
import type { PartitionLoad, SharedStore } from '../stores/contract.js'
import { type Clock, everySecond, type Timer } from '../time.js'
import { type Closures, Desk, plainError } from './closures/host.js'
import { Quiet } from './exchange/termination-detector.js'
import { type LeftBehind, leftBehind, standing } from './in-flight-log.js'
import type { PlainError, ThreadData, ToMain, ToThread } from './messages.js'
import { Moves } from './moves.js'
import type { Thread, Threads } from './thread.js'

/** A thread that dies so often without one page in between will go on dying. */
const MOST_DEATHS = 10

export interface ForemanOptions {
  readonly shards: number
  readonly threads: Threads
  readonly clock: Clock
  readonly closures: Closures
  readonly ownership: OwnershipView
  /** What the threads share, if anything: it must know when one of them ends. */
  readonly store: Pick<SharedStore, 'ending' | 'ended'> | undefined
  /** A thread that has not answered for so long is replaced. */
  readonly watchdogMs: number
  /** What a thread is to be started with. */
  dataFor(shard: number, replaces: boolean): ThreadData
}

/** What a thread had when it died. */
export type LastStand = Pick<ReturnType<typeof standing>, 'waiting' | 'pages'>

/** What the crawl hears of its threads. */
export interface ForemanEvents {
  told(
    shard: number,
    message: Extract<
      ToMain,
      { kind: 'stats' | 'counted' | 'store' | 'warn' | 'advice' | 'ended' | 'seeded' }
    >,
  ): void
  /** A thread cannot go on, and neither can the crawl. */
  failed(error: KumoError): void
  /** A thread died. What it had under way is told, and how it stood; another takes its place. */
  died(shard: number, why: string, under: readonly LeftBehind[], stood: LastStand): void
  /** The one that took its place is at work. */
  replaced(shard: number): void
  /** A thread died that had done its part: none takes its place. */
  gone(shard: number): void
  /** No thread has anything to do, and nothing is on its way. True: the crawl is over. */
  quiet(): boolean
}

/** One thread's place, whoever fills it. */
interface Post {
  readonly thread: Thread
  readonly desk: Desk
  readonly data: ThreadData
  state: 'opening' | 'working' | 'ended' | 'dead'
  /** When it last gave a sign of life. */
  heardAt: number
  beat: number
  /** Why it is being ended, if we do it. */
  sentence: string | undefined
  deaths: number
  /** What it first told of its pages: a successor may have taken up the count of the one before. */
  firstPages: number | undefined
  pages: number
  loads: readonly PartitionLoad[] | undefined
}

/**
 * Starts the threads, connects each with each, and looks after them: who dies or hangs is replaced. It knows nothing of
 * crawling; what the threads say is passed on to whoever runs the crawl.
 */
export class Foreman {
  readonly #options: ForemanOptions
  readonly #events: ForemanEvents
  readonly #posts: Post[] = []
  readonly #quiet: Quiet
  readonly moves: Moves
  #watch: Timer | undefined = undefined
  #isOver = false
  /** All were told that nothing is left to do. */
  #hasToldOver = false
  #starting: { resolve: () => void; reject: (error: unknown) => void } | undefined = undefined

  constructor(options: ForemanOptions, events: ForemanEvents) {
    this.#options = options
    this.#events = events
    this.#quiet = new Quiet(options.shards)
    this.moves = new Moves(options.ownership, {
      order: (shard, message) => this.order(shard, message),
      isWorking: (shard) => this.#posts[shard]?.state === 'working' && !this.#hasToldOver,
      settled: () => this.#checkQuiet(),
    })
  }

  /** Resolves when all threads are at work; rejects if one cannot be started. */
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

  /** Tells a thread something that may give it work. False: it is not there to be told. */
  order(shard: number, message: ToThread): boolean {
    const post = this.#posts[shard]!
    if (post.state !== 'working' || this.#hasToldOver) return false
    this.#quiet.ordered(shard)
    post.thread.post(message)
    return true
  }

  /** Tells all threads something that gives them no work. */
  tell(message: ToThread): void {
    for (const post of this.#posts) if (post.state === 'working') post.thread.post(message)
  }

  /** What each thread's partitions have waiting; undefined as long as one has not told. */
  get loads(): readonly (readonly PartitionLoad[])[] | undefined {
    const loads = this.#posts.flatMap(({ loads }) => (loads === undefined ? [] : [loads]))
    return loads.length === this.#posts.length ? loads : undefined
  }

  /** Ends all threads, whatever they are doing, and waits for their end. */
  async close(): Promise<void> {
    this.#isOver = true
    this.#watch?.cancel()
    await Promise.all(this.#posts.map(({ thread }) => thread.end()))
  }

  /** Waits until all threads have ended by themselves. */
  async allExited(): Promise<void> {
    this.#isOver = true
    this.#watch?.cancel()
    await Promise.all(this.#posts.map(({ thread }) => thread.exited))
  }

  #hire(shard: number, replaces: boolean): void {
    const data = this.#options.dataFor(shard, replaces)
    const before = this.#posts[shard]
    const thread = this.#options.threads.start(data, {
      message: (message) => this.#hear(shard, data, message),
      ending: () => this.#options.store?.ending?.(shard),
      exit: (error) => {
        this.#options.store?.ended?.(shard)
        this.#left(shard, data, error)
      },
    })
    this.#posts[shard] = {
      thread,
      desk: new Desk(this.#options.closures),
      data,
      state: 'opening',
      heardAt: this.#options.clock.now(),
      beat: 0,
      sentence: undefined,
      deaths: before?.deaths ?? 0,
      firstPages: undefined,
      pages: 0,
      loads: undefined,
    }
  }

  #hear(shard: number, data: ThreadData, message: ToMain): void {
    const post = this.#posts[shard]!
    // The last words of a thread that was replaced concern nobody.
    if (post.data !== data || this.#isOver) return
    post.heardAt = this.#options.clock.now()
    switch (message.kind) {
      case 'ready':
        this.#isReady(shard, post)
        break
      case 'alive':
        break
      case 'resting':
        this.#quiet.report(shard, message)
        this.#checkQuiet()
        break
      case 'rouse':
        this.tell({ kind: 'rouse' })
        break
      case 'ask':
        void this.#answer(post, message)
        break
      case 'pageOver':
        post.desk.pageOver(message.page)
        break
      case 'withdraw':
        post.desk.withdraw()
        break
      case 'gave':
        this.moves.gave(shard, message.parcel)
        break
      case 'took':
        this.moves.took(shard, message.version)
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
        this.#events.told(shard, message)
    }
  }

  #isReady(shard: number, post: Post): void {
    post.state = 'working'
    const isReplacement = this.#starting === undefined
    if (!isReplacement) {
      if (this.#posts.some(({ state }) => state === 'opening')) return
      for (let a = 0; a < this.#posts.length; a++) {
        for (let b = a + 1; b < this.#posts.length; b++) this.#connect(a, b)
      }
      for (const each of this.#posts) each.thread.post({ kind: 'go' })
      this.#starting?.resolve()
      this.#starting = undefined
      // Some may have died and been replaced while the others were being opened.
      for (const [each, { deaths }] of this.#posts.entries()) if (deaths > 0) this.#events.replaced(each)
      return
    }
    // Before the others are connected: it must know what is on its way to it.
    this.moves.replaced(shard)
    for (const [other, { state }] of this.#posts.entries()) {
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
      this.#quiet.ordered(from)
      this.#posts[from]!.thread.post({ kind: 'peer', shard: to, port }, [port])
    }
  }

  async #answer(post: Post, { id, what, page }: Extract<ToMain, { kind: 'ask' }>): Promise<void> {
    let answer: ToThread
    try {
      answer = { kind: 'answer', id, value: await post.desk.ask(what, page) }
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

  #left(shard: number, data: ThreadData, error: unknown): void {
    const post = this.#posts[shard]!
    if (post.data !== data || this.#isOver || post.state === 'ended') return
    const why = post.sentence ?? (error === undefined ? 'it ended by itself' : messageOf(error))
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
    this.#quiet.reset(shard)
    for (const other of this.#posts.keys()) this.order(other, { kind: 'peerGone', shard })
    this.moves.died(shard, this.#options.clock.now())
    const { underWay } = post.data
    this.#events.died(shard, why, leftBehind(underWay), standing(underWay))
    this.#hire(shard, true)
  }

  /** The watchdog (system D): a thread whose loop stands still for too long is dropped, with what it was doing. */
  #lookAfter(): void {
    const { clock, watchdogMs } = this.#options
    for (const post of this.#posts) {
      if (post.state !== 'working') continue
      const { beat } = standing(post.data.underWay)
      // A loop with very much to do may answer late and be well.
      if (beat !== post.beat) post.heardAt = clock.now()
      post.beat = beat
      if (clock.now() - post.heardAt <= watchdogMs) {
        post.thread.post({ kind: 'ping' })
        continue
      }
      post.sentence = `its code blocked it for more than ${watchdogMs} ms`
      void post.thread.end()
    }
  }

  #checkQuiet(): void {
    if (this.#isOver || this.#hasToldOver || this.moves.isBusy) return
    if (!this.#quiet.isQuiet || !this.#events.quiet()) return
    this.#hasToldOver = true
    this.tell({ kind: 'over' })
  }

  /** To be called when something that kept the crawl from being over is done. */
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
