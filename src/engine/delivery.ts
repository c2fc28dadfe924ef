import type { EventEmitter } from 'eventemitter3'
import { messageOf, sentence } from '../errors.js'
import type { Page } from '../extract/contract.js'
import type { Hook } from '../hooks/contract.js'
import { type Clock, isThenable, LATE, Waits } from '../time.js'
import type { Failure, FailureCode, MaybePromise } from '../types.js'
import type { CrawlEvents } from './events.js'
import type { Summary } from './stats/stats.js'

export interface Problem {
  readonly code: FailureCode
  readonly message: string
  readonly cause: unknown
}

/** Somebody who takes pages one by one. */
export interface PageReader {
  /** True once the page has been taken; false if it will not be. */
  put(page: Page): Promise<boolean>
  /** Pages that were not taken yet will not be, nor any to come. */
  withdraw(): void
}

/** The page was offered, but its reader left or the crawl was aborted first: it is still to be delivered. */
export const UNREAD = Symbol('unread')

/** When `end` comes all is closed, and whoever awaits the run waits for its listeners alone. They may go on by themselves. */
const LONGEST_END_MS = 30_000

export interface DeliveryOptions {
  readonly clock: Clock
  readonly hooks: readonly Hook[]
  readonly events: EventEmitter<CrawlEvents>
  readonly reader: PageReader | undefined
  readonly timeoutMs: number
  /** Told of mistakes in the user's code that nobody listens for. Absent: the process warns of the first. */
  readonly warn?: ((message: string) => void) | undefined
  /** Told once what this machine is short of. Absent: the process warns of it. */
  readonly advise?: ((message: string) => void) | undefined
}

/**
 * Where results leave the crawl: hooks, then `page` listeners, then the reader of a `for await`. Whoever throws or
 * is late does so alone: the others still get the page, and the first problem is reported as the page's failure.
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
    this.#endWaits = new Waits(clock, Math.min(timeoutMs, LONGEST_END_MS))
  }

  /** Answers at once if nobody asked for time. */
  deliver(page: Page): MaybePromise<Problem | typeof UNREAD | undefined> {
    if (this.#closed) return UNREAD
    const { hooks, events, reader } = this.#options
    const running: Promise<Problem | undefined>[] = []
    let problem: Problem | undefined
    const collect = (answer: MaybePromise<Problem | undefined>) => {
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
      if ((await reading) === false) return UNREAD
      return problem ?? answers.find((answer) => answer !== undefined)
    })
  }

  /** Tells hooks and listeners of a failure. What they throw now has no page to be reported on: see `#warn`. */
  async fail(failure: Failure): Promise<void> {
    if (this.#closed) return
    const { hooks } = this.#options
    const heard = this.hasListeners('failure') || hooks.some((hook) => hook.failure !== undefined)
    if (!heard && OWN_MISTAKES.has(failure.code))
      this.#warn(
        `${sentence(`${failure.url}: ${failure.message}`)} Listen to 'failure' to hear of each page's.`,
      )
    for (const hook of hooks) {
      if (!hook.failure) continue
      this.#warnOf(await this.#call(`hook '${hook.name}'`, () => hook.failure?.(failure)))
    }
    await this.emit('failure', failure)
  }

  /** Whether anybody listens; what is told often is put together only then. */
  hasListeners(event: keyof CrawlEvents): boolean {
    return this.#options.events.listenerCount(event) > 0
  }

  /** Calls the listeners of an event; one that throws harms nobody. */
  emit<E extends Exclude<keyof CrawlEvents, 'page' | 'end'>>(
    event: E,
    ...args: Parameters<CrawlEvents[E]>
  ): MaybePromise<void> {
    if (!this.#closed) return this.#emit(event, args)
  }

  /** Warns of a mistake in the user's code that has no page to be reported on. */
  warn(message: string): void {
    if (!this.#closed) this.#warn(message)
  }

  /** Reports, once a run, what this machine is short of. */
  advise(message: string): void {
    if (this.#closed || this.#advised) return
    this.#advised = true
    const advise = this.#options.advise ?? adviceOf
    advise(message)
  }

  /** The crawl was aborted: pages that their reader has not taken yet stay pending. */
  abort(): void {
    this.#options.reader?.withdraw()
  }

  /** From now on nobody is told anything: hooks are closed, and an abandoned visit may still come to its end. */
  close(): void {
    this.#closed = true
    this.#waits.close()
    this.#endWaits.close()
  }

  /** The one event that comes after the close. */
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
      if (answer instanceof Promise) running.push(answer.then((problem) => this.#warnOf(problem)))
      else this.#warnOf(answer)
    }
    if (running.length > 0) return Promise.all(running).then(() => undefined)
  }

  #warnOf(problem: Problem | undefined): void {
    if (problem !== undefined) this.#warn(problem.message)
  }

  /** Once a run: a mistake in the user's own code must not pass unseen because nobody listens to `failure`. */
  #warn(message: string): void {
    if (this.#warned) return
    this.#warned = true
    const warn = this.#options.warn ?? warnOf
    warn(sentence(message))
  }

  #call(who: string, call: () => unknown, waits = this.#waits): MaybePromise<Problem | undefined> {
    try {
      const answer = call()
      if (isThenable(answer)) return this.#await(who, answer, waits)
      return undefined
    } catch (error) {
      return failed(who, error)
    }
  }

  async #await(who: string, answer: PromiseLike<unknown>, waits: Waits): Promise<Problem | undefined> {
    try {
      if ((await waits.wait(answer)) !== LATE) return undefined
      const message = `${who} did not finish within ${waits.ms} ms`
      return { code: 'hook-timeout', message, cause: undefined }
    } catch (error) {
      return failed(who, error)
    }
  }
}

/** Warns of a mistake in the user's code. */
export function warnOf(message: string): void {
  process.emitWarning(message, { type: 'KumoWarning' })
}

/** Warns of what this machine is short of. */
export function adviceOf(message: string): void {
  process.emitWarning(message, { type: 'KumoWarning' })
}

/** Failures that are the user's code's, not the web's. */
const OWN_MISTAKES: ReadonlySet<FailureCode> = new Set([
  'extract-failed',
  'extract-timeout',
  'fetcher-failed',
  'hook-failed',
  'hook-timeout',
  'scope-failed',
])

function failed(who: string, error: unknown): Problem {
  return { code: 'hook-failed', message: `${who} threw: ${messageOf(error)}`, cause: error }
}
