import type { EventEmitter } from 'eventemitter3'
import { messageOf, sentence } from '../errors.js'
import type { Page } from '../extract/contract.js'
import type { FeedEvent } from '../feeds/follow/contract.js'
import type { HttpExchange } from '../fetch/contract.js'
import type { Hook } from '../hooks/contract.js'
import { type Clock, isThenable, LATE, Waits } from '../time.js'
import type { Failure, FailureCode, MaybePromise, Redirect, Skip } from '../types.js'
import type { CrawlEvents } from './events.js'
import { type Delivered, type DeliveryProblem, UNDELIVERED } from './hooks/delivered.js'
import { Flushes } from './hooks/flushes.js'
import { Offload, type OffloadParts } from './hooks/offload.js'
import { PageQueue } from './hooks/page-queue.js'
import type { EndReason, Summary } from './stats/stats.js'

/** Reads pages one by one. */
export interface PageReader {
  /** True once the loop is done with the page, false if it never gets it; undefined if nothing reads pages now. */
  put(page: Page): Promise<boolean> | undefined
  /** Declines all pages that were not read yet, and all further ones. */
  withdraw(): void
}

/** When `end` is emitted everything else is closed, so `run()` waits only for its listeners, and not longer than this. */
const MAX_END_MS = 30_000

export interface DeliveryOptions {
  readonly clock: Clock
  readonly hooks: readonly Hook[]
  readonly events: EventEmitter<CrawlEvents>
  readonly reader: PageReader | undefined
  readonly timeoutMs: number
  /** Present: hooks may leave pages to other processes. */
  readonly offload?: OffloadParts | undefined
  /** Receives mistakes in user code that no listener receives. Absent: the first is emitted as a process warning. */
  readonly warn?: ((message: string) => void) | undefined
  /** Receives, once, which resource this machine lacks. Absent: it is emitted as a process warning. */
  readonly advise?: ((message: string) => void) | undefined
}

/** A hook with a queue of its own. */
export interface QueuedHook {
  readonly name: string
  readonly queue: PageQueue
  /** Calls the hook; never throws. */
  call(page: Page): MaybePromise<Delivered>
}

/**
 * Delivers results: to hooks, then to `page` listeners, then to the reader of a `for await`. If one throws or is late,
 * the others still get the page, and the first problem is reported as the page's failure. Hooks with a queue get the page
 * from there: see `queued`.
 */
export class Delivery {
  readonly #options: DeliveryOptions
  readonly #waits: Waits
  readonly #endWaits: Waits
  /** Hooks that get pages at once. */
  readonly #direct: readonly Hook[]
  /** Hooks that get pages through a queue. */
  readonly queued: readonly QueuedHook[]
  /** Present if a hook leaves pages to other processes. */
  readonly offload: Offload | undefined
  /** Present if a hook must be waited for before a commit. */
  readonly #flushes: Flushes | undefined
  readonly #hasSkipHooks: boolean
  readonly #hasRedirectHooks: boolean
  #closed = false
  #warned = false
  #advised = false

  constructor(options: DeliveryOptions) {
    this.#options = options
    const { clock, timeoutMs, hooks } = options
    this.#waits = new Waits(clock, timeoutMs)
    this.#direct = hooks.filter((hook) => hook.page !== undefined && hook.queue === undefined)
    this.queued = hooks.flatMap((hook) =>
      hook.page === undefined || hook.queue === undefined
        ? []
        : [
            {
              name: hook.name,
              queue: new PageQueue(hook.name, hook.queue, clock, hook.stages?.bind(hook)),
              call: (page) => this.#callQueued(hook, page),
            },
          ],
    )
    const isOffloading = new Set(hooks.filter(({ queue }) => queue?.offload).map(({ name }) => name))
    const offloading = this.queued.filter(({ name }) => isOffloading.has(name))
    const sink = { clock, flush: () => this.flush(), warn: (message: string) => this.warn(message) }
    this.offload =
      options.offload && offloading.length > 0 ? new Offload(options.offload, offloading, sink) : undefined
    this.#hasSkipHooks = hooks.some(({ skip }) => skip !== undefined)
    this.#hasRedirectHooks = hooks.some(({ redirect }) => redirect !== undefined)
    const isFlushed = this.#hasSkipHooks || hooks.some(({ flush }) => flush !== undefined)
    this.#flushes = isFlushed ? new Flushes(this.#waits) : undefined
    this.#endWaits = new Waits(clock, Math.min(timeoutMs, MAX_END_MS))
  }

  /** Synchronous if no hook or listener returns a promise and nothing reads pages. */
  deliver(page: Page): MaybePromise<Delivered> {
    if (this.#closed) return UNDELIVERED
    const { events, reader } = this.#options
    const running: Promise<DeliveryProblem | undefined>[] = []
    let problem: DeliveryProblem | undefined
    const collect = (answer: MaybePromise<DeliveryProblem | undefined>) => {
      if (answer instanceof Promise) running.push(answer)
      else problem ??= answer
    }
    for (const hook of this.#direct) collect(this.#callHook(hook, () => hook.page!(page)))
    if (events.listenerCount('page') > 0) {
      for (const listener of events.listeners('page')) {
        collect(this.#call('a page listener', () => listener(page)))
      }
    }
    const reading = reader?.put(page)
    if (running.length === 0 && reading === undefined) return problem
    return Promise.all(running).then(async (answers) => {
      if ((await reading) === false) return UNDELIVERED
      return problem ?? answers.find((answer) => answer !== undefined)
    })
  }

  /** Delivers what changed in a feed, like `deliver` a page. */
  deliverFeed(event: FeedEvent): MaybePromise<DeliveryProblem | typeof UNDELIVERED | undefined> {
    if (this.#closed) return UNDELIVERED
    const { hooks, events } = this.#options
    const answers = [
      ...hooks.flatMap((hook) => (hook.feed ? [this.#callHook(hook, () => hook.feed!(event))] : [])),
      ...events.listeners('feed').map((listener) => this.#call('a feed listener', () => listener(event))),
    ]
    const first = (all: readonly (DeliveryProblem | undefined)[]) => all.find((each) => each !== undefined)
    if (answers.some((answer) => answer instanceof Promise)) return Promise.all(answers).then(first)
    return first(answers as readonly (DeliveryProblem | undefined)[])
  }

  /** Calls hooks and listeners with a failure. Errors that they throw belong to no page: see `#warn`. */
  async deliverFailure(failure: Failure): Promise<void> {
    if (this.#closed) return
    const { hooks } = this.#options
    if (!this.hearsFailures && USER_CODE_FAILURES.has(failure.code))
      this.#warn(
        `${sentence(`${failure.url}: ${failure.message}`)} Listen to 'failure' to see the failures of all pages.`,
      )
    for (const hook of hooks) {
      if (!hook.failure) continue
      this.#warnAbout(await this.#callHook(hook, () => hook.failure!(failure)))
    }
    await this.emit('failure', failure)
  }

  /** Whether a hook receives exchanges. */
  get hearsExchanges(): boolean {
    return this.#options.hooks.some((hook) => hook.exchange !== undefined)
  }

  /** Calls hooks with an exchange. Errors that they throw belong to no page: see `#warn`. */
  async deliverExchange(exchange: HttpExchange): Promise<void> {
    for (const hook of this.#options.hooks) {
      if (!hook.exchange || this.#closed) continue
      const answer = this.#callHook(hook, () => hook.exchange!(exchange))
      this.#warnAbout(answer instanceof Promise ? await answer : answer)
    }
  }

  /** Calls hooks and listeners with a redirect. `make` is called only if there are any. */
  async deliverRedirect(make: () => Redirect): Promise<void> {
    if (this.#closed || !(this.#hasRedirectHooks || this.hasListeners('redirect'))) return
    const redirect = make()
    for (const hook of this.#options.hooks) {
      if (hook.redirect) this.#warnAbout(await this.#callHook(hook, () => hook.redirect!(redirect)))
    }
    await this.emit('redirect', redirect)
  }

  /** Calls hooks and listeners with a skip. Nothing waits for them but the next flush. */
  deliverSkip(make: () => Skip): void {
    if (this.#closed || !this.hearsSkips) return
    const skip = make()
    for (const hook of this.#hasSkipHooks ? this.#options.hooks : []) {
      if (!hook.skip) continue
      const answer = this.#callHook(hook, () => hook.skip!(skip))
      if (answer instanceof Promise) this.#flushes!.track(answer.then((problem) => this.#warnAbout(problem)))
      else this.#warnAbout(answer)
    }
    void this.emit('skip', skip)
  }

  /** Whether a listener or a hook receives skips. */
  get hearsSkips(): boolean {
    return this.#hasSkipHooks || this.hasListeners('skip')
  }

  /** Whether commits must wait for hooks. */
  get hasFlushes(): boolean {
    return this.#flushes !== undefined
  }

  /**
   * Resolves when hooks have made durable what they were given; undefined if there is nothing to do.
   *
   * @throws KumoError `KUMO_FLUSH_FAILED`
   */
  flush(): Promise<void> | undefined {
    return this.#flushes?.flush()
  }

  /** The crawl was aborted and waits no longer: see `Flushes.giveUp`. */
  giveUpFlush(): void {
    this.#flushes?.giveUp()
  }

  /** Whether a listener or a hook receives failures. */
  get hearsFailures(): boolean {
    return this.hasListeners('failure') || this.#options.hooks.some((hook) => hook.failure !== undefined)
  }

  /** Frequent events are built only if there are listeners. */
  hasListeners(event: keyof CrawlEvents): boolean {
    return this.#options.events.listenerCount(event) > 0
  }

  /** Calls the listeners of an event; if one throws, the others are still called. */
  emit<E extends Exclude<keyof CrawlEvents, 'page' | 'feed' | 'end'>>(
    event: E,
    ...args: Parameters<CrawlEvents[E]>
  ): MaybePromise<void> {
    if (!this.#closed) return this.#emit(event, args)
  }

  /** Warns about a mistake in user code that belongs to no page. */
  warn(message: string): void {
    if (!this.#closed) this.#warn(message)
  }

  /** Warns, once per run, about a resource that this machine lacks. */
  advise(message: string): void {
    if (this.#closed || this.#advised) return
    this.#advised = true
    const advise = this.#options.advise ?? emitWarning
    advise(message)
  }

  /** Whether hooks are done with pages of other processes: see `Offload.mayEnd`. */
  mayEnd(reason: EndReason | undefined): boolean {
    return this.offload?.mayEnd(reason) ?? true
  }

  /** The crawl was aborted: pages that were not read yet stay pending. */
  abort(): void {
    this.#options.reader?.withdraw()
    this.offload?.abort()
    for (const { queue } of this.queued) queue.abort()
  }

  /** Stops all delivery: hooks are closed, and abandoned visits may still end later. */
  close(): void {
    this.#closed = true
    this.#waits.close()
    this.#endWaits.close()
  }

  /** The only event that is emitted after `close`. */
  end(summary: Summary): MaybePromise<void> {
    return this.#emit('end', [summary], this.#endWaits)
  }

  #emit(event: keyof CrawlEvents, args: readonly unknown[], waits = this.#waits): MaybePromise<void> {
    if (!this.hasListeners(event)) return
    const running: Promise<unknown>[] = []
    for (const listener of this.#options.events.listeners(event)) {
      const answer = this.#call(
        `${event === 'end' ? 'an' : 'a'} ${event} listener`,
        () => (listener as (...a: unknown[]) => unknown)(...args),
        waits,
      )
      if (answer instanceof Promise) running.push(answer.then((problem) => this.#warnAbout(problem)))
      else this.#warnAbout(answer)
    }
    if (running.length > 0) return Promise.all(running).then(() => undefined)
  }

  #warnAbout(problem: DeliveryProblem | undefined): void {
    if (problem !== undefined) this.#warn(problem.message)
  }

  /** Once per run: a mistake in user code must not go unnoticed because there is no `failure` listener. */
  #warn(message: string): void {
    if (this.#warned) return
    this.#warned = true
    const warn = this.#options.warn ?? emitWarning
    warn(sentence(message))
  }

  #callQueued(hook: Hook, page: Page): MaybePromise<Delivered> {
    return this.#closed ? UNDELIVERED : this.#callHook(hook, () => hook.page!(page))
  }

  #callHook(hook: Hook, call: () => unknown): MaybePromise<DeliveryProblem | undefined> {
    const answer = this.#call(`hook '${hook.name}'`, call)
    const flushes = this.#flushes
    if (flushes === undefined) return answer
    // When the call has ended and not when it begins: a flush in between need not include it.
    if (answer instanceof Promise) return answer.finally(() => flushes.gave(hook))
    flushes.gave(hook)
    return answer
  }

  #call(who: string, call: () => unknown, waits = this.#waits): MaybePromise<DeliveryProblem | undefined> {
    try {
      const answer = call()
      if (isThenable(answer)) return this.#await(who, answer, waits)
      return undefined
    } catch (error) {
      return thrown(who, error)
    }
  }

  async #await(
    who: string,
    answer: PromiseLike<unknown>,
    waits: Waits,
  ): Promise<DeliveryProblem | undefined> {
    try {
      if ((await waits.wait(answer)) !== LATE) return undefined
      const message = `${who} did not finish within ${waits.ms} ms`
      return { code: 'hook-timeout', message, cause: undefined }
    } catch (error) {
      return thrown(who, error)
    }
  }
}

export function emitWarning(message: string): void {
  process.emitWarning(message, { type: 'KumoWarning' })
}

/** Failures that user code causes, not the web. */
export const USER_CODE_FAILURES: ReadonlySet<FailureCode> = new Set([
  'extract-failed',
  'extract-timeout',
  'invalid-data',
  'fetcher-failed',
  'hook-failed',
  'hook-timeout',
  'no-route',
  'rewrite-failed',
  'scope-failed',
  'session-failed',
])

function thrown(who: string, error: unknown): DeliveryProblem {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  if (code === 'KUMO_NO_ROUTE') return { code: 'no-route', message: messageOf(error), cause: error }
  return { code: 'hook-failed', message: `${who} threw: ${messageOf(error)}`, cause: error }
}
