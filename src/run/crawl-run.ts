import { emitWarning } from '../engine/delivery.js'
import type { CrawlEvents } from '../engine/events.js'
import type { Stats, Summary } from '../engine/stats/stats.js'
import { invalidOption, messageOf, sentence } from '../errors.js'
import type { Page } from '../extract/contract.js'
import type { GivenOptions } from '../options/options.js'
import type { SeedInput } from '../options/seeds.js'
import type { StoreHealth } from '../stores/contract.js'
import { type Duration, parseDuration } from '../time.js'
import { iterate, type PageIterator } from './iterate.js'
import { PageStream } from './page-stream.js'
import { Run } from './run.js'
import { RunEvents } from './run-events.js'

export interface StopOptions {
  /** How long visits in flight may take. */
  readonly within?: Duration | undefined
}

/**
 * A running crawl: what `crawler.start()` returns. It emits nothing before the next macrotask, so listeners that are
 * added right after `start()` miss nothing.
 *
 * @example
 * const run = crawler.start()
 * run.on('page', (page) => console.log(page.url))
 * process.once('SIGINT', () => run.stop())
 * const summary = await run.done
 */
export class CrawlRun<Data extends object = object> implements AsyncIterable<Page<Data>> {
  readonly #events: RunEvents
  readonly #stream = new PageStream()
  readonly #run: Run
  readonly #result: Promise<Summary>
  /** Created on first access, so that an unobserved failure can be reported as a warning. */
  #done: Promise<Summary> | undefined = undefined
  /** The failure is thrown by the loop over the pages or by the end of an `await using` block. */
  #isThrownElsewhere = false

  /** @internal Use `crawler.start()`. */
  constructor(options: GivenOptions, signal: AbortSignal | undefined) {
    this.#events = new RunEvents(options.listeners)
    this.#run = new Run(options, { events: this.#events, stream: this.#stream })
    this.#result = this.#run.execute(signal)
    this.#result.then(
      () => this.#stream.end(),
      (error) => {
        this.#stream.end()
        this.#reportUnobserved(error)
      },
    )
  }

  /**
   * Resolves with the summary once the crawl is over and everything is closed. Rejects if the crawl fails: a store that
   * cannot write, a part that cannot be opened. If you neither read `done` nor iterate the pages, a failure is reported
   * as a warning of the process.
   */
  get done(): Promise<Summary> {
    this.#done ??= this.#result.then((summary) => summary)
    // The loop over the pages throws the error; an unhandled rejection must not end the process as well.
    if (this.#isThrownElsewhere) this.#done.catch(() => {})
    return this.#done
  }

  /**
   * Listens to an event. If the listener returns a promise, the crawl waits for it (back-pressure). Listeners that the
   * crawler already had are called first. With workers, a listener that is added while the crawl runs may miss what
   * happens before the workers know about it.
   */
  on<E extends keyof CrawlEvents>(event: E, listener: CrawlEvents<Data>[E]): this {
    this.#events.on(event, listener)
    return this
  }

  /** Listens to an event and removes the listener when it is called. */
  once<E extends keyof CrawlEvents>(event: E, listener: CrawlEvents<Data>[E]): this {
    this.#events.once(event, listener)
    return this
  }

  /** Removes a listener, also one that was added with `once()` or by the crawler's `on()`. */
  off<E extends keyof CrawlEvents>(event: E, listener: CrawlEvents<Data>[E]): this {
    this.#events.off(event, listener)
    return this
  }

  /** Statistics of the run; undefined until everything is opened. After the run they are final and have a `reason`. */
  stats(): Stats | undefined {
    return this.#run.stats()
  }

  /**
   * How this process is doing in a crawl that several share: the time left of its lease, the age of its last commit, its
   * partitions. Undefined with any other store, before everything is opened, and after the run.
   *
   * @example
   * const health = run.health()
   * if (health?.isReachable === false) console.warn(health.message)
   */
  health(): StoreHealth | undefined {
    return this.#run.health()
  }

  /**
   * Adds requests while the crawl runs: one, several, or arrays, generators and streams of them. They are like seeds: they
   * widen the scope, ignore it themselves, and may have private addresses. For URLs that a page contains, use
   * `page.follow()`. If the crawl has enough to do, this waits (back-pressure). Resolves once all are admitted; with a
   * durable store, once they would survive a crash. What is already known is not fetched again.
   *
   * What you give directly or in an array is checked first, and nothing is added if one is wrong. A wrong request from a
   * generator or stream is a `failure` with the code `invalid-seed`.
   *
   * Rejects with a KumoError: `KUMO_INVALID_OPTION`, `KUMO_SEEDS_FAILED` if an iterable throws, `KUMO_RUN_ENDED` if the
   * crawl ends first, and the crawl's own error if it fails.
   *
   * @example
   * const run = crawler.keepOpen().start()
   * await run.add({ url: 'https://example.com/toys', label: 'list' })
   * run.finish()
   */
  add(...requests: SeedInput[]): Promise<void> {
    return this.#run.add(requests)
  }

  /** After `keepOpen()`: lets the crawl end once it has nothing left to do. */
  finish(): void {
    this.#run.command((runner) => runner.finish())
  }

  /** Starts no more visits until `resume()`. Visits in flight finish. */
  pause(): void {
    this.#run.command((runner) => runner.pause())
  }

  /** Continues after `pause()`. */
  resume(): void {
    this.#run.command((runner) => runner.resume())
  }

  /**
   * Ends the crawl: starts no more visits and lets those in flight finish; then `done` resolves. Visits that are not
   * finished after `within` are aborted; their URLs stay pending in a durable store. Without it, they have all the time
   * they need.
   *
   * @example
   * process.once('SIGTERM', () => run.stop({ within: '20s' }))
   */
  stop({ within }: StopOptions = {}): void {
    const withinMs = within === undefined ? undefined : parseDuration(within)
    if (within !== undefined && withinMs === undefined)
      throw invalidOption('stop({ within })', within, "a duration such as '20s'")
    this.#run.stop(withinMs)
  }

  /**
   * The pages, from now on: iterate right after `start()` to get all of them. A slow loop slows the crawl
   * (back-pressure); leaving the loop aborts it. Several loops over one run share its pages.
   */
  [Symbol.asyncIterator](): PageIterator<Page<Data>> {
    return iterate(this.#iterated()) as PageIterator<Page<Data>>
  }

  /** @internal The pages of a run that starts with the first `next`: `for await (const page of crawler)`. */
  static pages<D extends object>(start: () => CrawlRun<D>): PageIterator<Page<D>> {
    return iterate(() => start().#iterated()) as PageIterator<Page<D>>
  }

  /** Stops the crawl and waits for its end, for `await using run = crawler.start()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    // Nothing reads on after the block, and a page that waits to be read would keep the run from ending.
    if (this.#stream.isOpen) this.#stream.close()
    const isObserved = this.#isObserved
    this.#isThrownElsewhere = true
    try {
      await this.#result
    } catch (error) {
      // Thrown once: code that awaits `done` or iterates has the error already.
      if (!isObserved) throw error
    }
  }

  get #isObserved(): boolean {
    return this.#done !== undefined || this.#isThrownElsewhere
  }

  #iterated() {
    this.#isThrownElsewhere = true
    this.#done?.catch(() => {})
    this.#stream.open()
    return { stream: this.#stream, finished: this.#result, abort: () => this.#run.abort() }
  }

  #reportUnobserved(error: unknown): void {
    if (this.#isObserved) return
    emitWarning(
      `The crawl failed: ${sentence(messageOf(error))} Await run.done, or catch its rejection, to handle this.`,
    )
  }
}
