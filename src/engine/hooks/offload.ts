import { KumoError, messageOf } from '../../errors.js'
import type { Page } from '../../extract/contract.js'
import type { SharedWork, TakenDocument } from '../../stores/contract.js'
import type { Clock, Timer } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import type { EndReason } from '../stats/stats.js'
import { type Delivered, type DeliveryProblem, LeftToOthers, UNDELIVERED } from './delivered.js'
import type { PageQueue } from './page-queue.js'

/** A process leaves pages to others while its hook would not get to them for so long: longer than the way there takes. */
const MOST_WAIT_MS = 250
/** A process takes pages when its hook is idle in so many ms, for as long. */
const IDLE_IN_MS = 100
const TAKE_MS = 200
const MOST_TAKEN_AT_ONCE = 64
/** What hooks made of pages becomes durable so often while there is more: each flush of an index writes files. */
const FLUSH_MS = 100
/** A larger page would keep the server busy for too long. */
const MOST_PAGE_BYTES = 512 * 1024

/** How documents are carried to other processes. */
export interface OffloadParts {
  readonly work: SharedWork
  /** @throws if the page has data that cannot be copied. */
  pack(page: Page): Uint8Array
  unpack(packed: Uint8Array): Page
}

/** A hook that leaves pages to others and takes theirs. */
export interface OffloadingHook {
  readonly name: string
  readonly queue: PageQueue
  /** Calls the hook; never throws. */
  call(page: Page): MaybePromise<Delivered>
}

/** What becomes of what is taken. */
interface OffloadSink {
  readonly clock: Clock
  flush(): Promise<void> | undefined
  warn(message: string): void
}

/**
 * Shares the pages that wait in the queues of hooks among the processes of a crawl, by what pages have cost. Whoever has much
 * to do leaves pages to others, with their settlement; whoever has little takes them, and says so when what the hook made
 * of them is durable.
 */
export class Offload {
  readonly #parts: OffloadParts
  readonly #hooks: ReadonlyMap<string, OffloadingHook>
  readonly #sink: OffloadSink
  /** Documents that were taken and are not done. */
  #tasks = 0
  /** Documents whose hook is done, until it is flushed. */
  #finished: TakenDocument[] = []
  #isFlushing = false
  #flushTimer: Timer | undefined = undefined
  #isTaking = false
  /** Nothing came when it last asked: it asks again when the store has news. */
  #isInVain = false
  #isEnding = false
  #isAborted = false
  #cannotPack = false
  #failure: unknown = undefined
  #changed: () => void = () => {}
  #report: (page: Page, problem: DeliveryProblem) => Promise<void> = () => Promise.resolve()

  constructor(parts: OffloadParts, hooks: readonly OffloadingHook[], sink: OffloadSink) {
    this.#parts = parts
    this.#sink = sink
    this.#hooks = new Map(hooks.map((hook) => [hook.name, hook]))
    for (const { queue } of hooks) queue.onChange = () => this.#balance()
  }

  /** Sets what receives problems of hooks with pages of other processes. */
  onProblem(report: (page: Page, problem: DeliveryProblem) => Promise<void>): void {
    this.#report = report
  }

  /** Begins to take documents. `changed` is called when the crawl may have come to its end. */
  start(changed: () => void): void {
    this.#changed = changed
    this.#parts.work.watch(() => {
      this.#isInVain = false
      this.#balance()
      changed()
    })
    this.#balance()
  }

  /** How a page leaves the queue of a hook for another process; undefined if it cannot. */
  leaving(name: string, page: Page): (() => LeftToOthers | undefined) | undefined {
    if (!this.#hooks.has(name) || page.body.byteLength > MOST_PAGE_BYTES) return undefined
    return () => this.#leave(name, page)
  }

  /** The page will be delivered again. */
  drop({ document }: LeftToOthers): void {
    this.#parts.work.release(document.page.byteLength)
  }

  /**
   * Whether this process may end. If it has reached a limit of the crawl, it helps until nothing is left; if it is stopped,
   * it ends what it has begun.
   */
  mayEnd(reason: EndReason | undefined): boolean {
    if (this.#failure !== undefined) throw this.#failure
    if (reason === undefined) return true
    if (reason === 'limit' && !this.#isAborted) return this.#tasks === 0 && !this.#parts.work.isLeft
    this.#end()
    return this.#tasks === 0
  }

  abort(): void {
    this.#isAborted = true
    this.#end()
  }

  #end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    for (const { queue } of this.#hooks.values()) queue.dropForeign()
  }

  #leave(hook: string, page: Page): LeftToOthers | undefined {
    const { work, pack } = this.#parts
    if (this.#cannotPack || work.room < page.body.byteLength) return undefined
    let packed: Uint8Array
    try {
      packed = pack(page)
    } catch (error) {
      this.#cannotPack = true
      const message = `${page.url}: the page cannot be left to another process: ${messageOf(error)}`
      this.#sink.warn(`${message}; page.data must hold what structuredClone() can copy`)
      return undefined
    }
    if (work.room < packed.byteLength) return undefined
    work.reserve(packed.byteLength)
    return new LeftToOthers({ hook, page: packed })
  }

  #balance(): void {
    if (this.#parts.work.room > 0) for (const { queue } of this.#hooks.values()) queue.shed(MOST_WAIT_MS)
    if (this.#isTaking || this.#isInVain || this.#isEnding || this.#failure !== undefined) return
    // Without tasks it asks for what it has taken without knowing it, because an answer was lost.
    const { work } = this.#parts
    if (work.waiting === 0 && (this.#tasks > 0 || !work.isLeft)) return
    const queues = [...this.#hooks.values()].map(({ queue }) => queue)
    if (queues.some((queue) => (queue.waitMs ?? IDLE_IN_MS) >= IDLE_IN_MS)) return
    const most = Math.min(MOST_TAKEN_AT_ONCE, ...queues.map((queue) => queue.pagesIn(TAKE_MS)))
    this.#isTaking = true
    this.#take(most).catch((error) => this.#fail(error))
  }

  async #take(most: number): Promise<void> {
    const documents = await this.#parts.work.take(most)
    this.#isTaking = false
    this.#isInVain = documents.length === 0
    this.#tasks += documents.length
    for (const document of documents) this.#do(document).catch((error) => this.#fail(error))
  }

  async #do(document: TakenDocument): Promise<void> {
    const hook = this.#hooks.get(document.hook)
    if (hook === undefined) {
      this.#sink.warn(
        `another process left a page to hook '${document.hook}', which this program does not have`,
      )
      return this.#done(document)
    }
    const page = this.#parts.unpack(document.page)
    const process = () => (this.#isEnding ? UNDELIVERED : hook.call(page))
    const queued = await hook.queue.enter({ bytes: page.body.byteLength, process, isForeign: true })
    const answer = await queued.done
    if (answer === UNDELIVERED || answer instanceof LeftToOthers) {
      // It waits again when this process has left.
      this.#tasks--
      this.#flushIfLast()
      this.#changed()
      return
    }
    if (answer !== undefined) await this.#report(page, answer)
    this.#done(document)
  }

  #done(document: TakenDocument): void {
    this.#finished.push(document)
    const { clock } = this.#sink
    this.#flushTimer ??= clock.wakeAt(clock.now() + FLUSH_MS, () => this.#flush())
    this.#flushIfLast()
  }

  #flushIfLast(): void {
    if (this.#finished.length > 0 && this.#finished.length >= this.#tasks) this.#flush()
  }

  #flush(): void {
    this.#flushTimer?.cancel()
    this.#flushTimer = undefined
    if (this.#isFlushing) return
    this.#isFlushing = true
    this.#acknowledge().catch((error) => this.#fail(error))
  }

  /** As with settlements: first what the hook made of them becomes durable, then they are done. */
  async #acknowledge(): Promise<void> {
    const documents = this.#finished
    this.#finished = []
    await this.#sink.flush()
    for (const document of documents) this.#parts.work.done(document)
    this.#tasks -= documents.length
    this.#isFlushing = false
    this.#changed()
    this.#flushIfLast()
  }

  #fail(error: unknown): void {
    this.#failure ??=
      error instanceof KumoError
        ? error
        : new KumoError(
            'KUMO_STORE_FAILED',
            `pages of other processes could not be shared: ${messageOf(error)}`,
            { cause: error },
          )
    this.#changed()
  }
}
