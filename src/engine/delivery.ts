import type { EventEmitter } from 'eventemitter3'
import { messageOf, sentence } from '../errors.js'
import type { Page } from '../extract/contract.js'
import type { Hook } from '../hooks/contract.js'
import { type Clock, isThenable, LATE, Waits } from '../time.js'
import type { Failure, FailureCode, MaybePromise } from '../types.js'
import type { CrawlEvents } from './events.js'
import type { Summary } from './stats/stats.js'

export interface DeliveryProblem {
  readonly code: FailureCode
  readonly message: string
  readonly cause: unknown
}

/** Reads pages one by one. */
export interface PageReader {
  /** True once the loop is done with the page, false if it never gets it; undefined if nothing reads pages now. */
  put(page: Page): Promise<boolean> | undefined
  /** Declines all pages that were not read yet, and all further ones. */
  withdraw(): void
}

/** The reader left, or the crawl was aborted, before the page was read: it must be delivered later. */
export const UNDELIVERED = Symbol('undelivered')

/** When `end` is emitted everything else is closed, so `run()` waits only for its listeners, and not longer than this. */
const MAX_END_MS = 30_000

export interface DeliveryOptions {
  readonly clock: Clock
  readonly hooks: readonly Hook[]
  readonly events: EventEmitter<CrawlEvents>
  readonly reader: PageReader | undefined
  readonly timeoutMs: number
  /** Receives mistakes in user code that no listener receives. Absent: the first is emitted as a process warning. */
  readonly warn?: ((message: string) => void) | undefined
  /** Receives, once, which resource this machine lacks. Absent: it is emitted as a process warning. */
  readonly advise?: ((message: string) => void) | undefined
}

/**
 * Delivers results: to hooks, then to `page` listeners, then to the reader of a `for await`. If one throws or is late,
 * the others still get the page, and the first problem is reported as the page's failure.
 */
export class Delivery {
  readonly #options: DeliveryOptions
  readonly #waits: Waits
  readonly #endWaits: Waits
  #closed = false
  #warned = false
  #advised = false

  constructor(options: DeliveryOptions) {
    this.#options = options
    const { clock, timeoutMs } = options
    this.#waits = new Waits(clock, timeoutMs)
    this.#endWaits = new Waits(clock, Math.min(timeoutMs, MAX_END_MS))
  }

  /** Synchronous if no hook or listener returns a promise and nothing reads pages. */
  deliver(page: Page): MaybePromise<DeliveryProblem | typeof UNDELIVERED | undefined> {
    if (this.#closed) return UNDELIVERED
    const { hooks, events, reader } = this.#options
    const running: Promise<DeliveryProblem | undefined>[] = []
    let problem: DeliveryProblem | undefined
    const collect = (answer: MaybePromise<DeliveryProblem | undefined>) => {
      if (answer instanceof Promise) running.push(answer)
      else problem ??= answer
    }
    for (const hook of hooks) {
      if (hook.page) collect(this.#call(`hook '${hook.name}'`, () => hook.page?.(page)))
    }
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
      this.#warnAbout(await this.#call(`hook '${hook.name}'`, () => hook.failure?.(failure)))
    }
    await this.emit('failure', failure)
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
  emit<E extends Exclude<keyof CrawlEvents, 'page' | 'end'>>(
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

  /** The crawl was aborted: pages that were not read yet stay pending. */
  abort(): void {
    this.#options.reader?.withdraw()
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
