import type { CrawlEvents } from './engine/events.js'
import type { Summary } from './engine/stats/stats.js'
import { invalidOption, KumoError } from './errors.js'
import type { Extractor, Page } from './extract/contract.js'
import type { Hook } from './hooks/contract.js'
import { RouteTable } from './hooks/routes.js'
import type { Module } from './modules/module.js'
import { signal as abortSignal, boolean, part, record } from './options/check.js'
import type { Listener } from './options/options.js'
import { Settings } from './options/settings.js'
import { CrawlRun } from './run/crawl-run.js'
import { noteListener, noteStart } from './run/discarded-listeners.js'
import type { PageIterator } from './run/iterate.js'
import { checkedListener } from './run/run-events.js'
import type { Clock, Random } from './time.js'

const NO_SEEDS =
  'nothing to crawl: give at least one URL with .seeds(); ' +
  'every method returns a new crawler, so run the one that .seeds() returned'

const NEEDS_HANDLE =
  'it with start(), which returns the handle that has add() and finish(), or with run({ signal }); run() alone would never end'

export interface RunOptions {
  /** Aborts the crawl: visits in flight are abandoned and stay pending. */
  signal?: AbortSignal | undefined
}

/** What `.extract({ … })` adds to the type of `page.data`. */
type FieldData<F> = { [K in keyof F]: F[K] extends (page: Page) => infer V ? Awaited<V> : never }

/** `page.data` with more: written out, so that an editor shows `{ a: string }` and not the types that led to it. */
type With<Data, More> = keyof More extends never
  ? Data
  : { [K in keyof Data | keyof More]: (Data & More)[K & keyof (Data & More)] }

/**
 * A crawl, described. A crawler is a value: every step returns a new one and changes nothing, so a half-made crawler
 * can be shared and branched. Nothing happens until `run()`, `start()` or `for await`.
 *
 * @example
 * const summary = await new Crawler()
 *   .seeds('https://example.com/')
 *   .concurrency(500)
 *   .on('page', (page) => console.log(page.status, page.url, page.title))
 *   .run()
 */
export class Crawler<Data extends object = object> extends Settings {
  constructor(...none: []) {
    super()
    const [given] = none as unknown[]
    if (given !== undefined) {
      throw invalidOption(
        'new Crawler()',
        given,
        "no arguments; use its methods, e.g. .seeds('https://example.com/')",
      )
    }
  }

  /**
   * What to make of a page, as an extractor with media types, links and a life cycle of its own. It runs in this thread,
   * also with workers. Each call adds.
   */
  extract<D extends object>(extractor: Extractor<D>): Crawler<With<Data, D>>
  /**
   * What to make of a page, as functions for the fields of `page.data`. They run in this thread, also with workers. Each
   * call adds.
   *
   * @example
   * new Crawler().extract({ heading: (page) => page.document.querySelector('h1')?.textContent })
   */
  extract<F extends Record<string, (page: Page) => unknown>>(fields: F): Crawler<With<Data, FieldData<F>>>
  /**
   * A module, or the name of a package, whose export is an extractor, fields, or a function that makes one of these. It
   * runs inside the workers. The compiler cannot look into it: say what data it makes.
   *
   * @example
   * new Crawler().extract<{ price: number }>(new URL('./prices.js', import.meta.url))
   */
  extract<D extends object = object>(module: Module | string): Crawler<With<Data, D>>
  extract(what: Extractor | Record<string, (page: Page) => unknown> | Module | string): Crawler<Data> {
    return this.withExtractor(what)
  }

  /**
   * Adds a hook: something that receives every page and failure. It runs in this thread, also with workers. A hook that is
   * given as a module, or as the name of a package, whose export is a hook or a function that makes one, runs inside the
   * workers: each has its own, which receives what comes out of that worker.
   *
   * @example
   * new Crawler().use(fromModule(new URL('./json-lines.js', import.meta.url), { with: { folder: 'pages' } }))
   */
  use(hook: Hook<Data> | Module | string): Crawler<Data> {
    return this.withHook(hook)
  }

  /**
   * Gives each page to one handler, like a hook: by the label of its request; else by the first pattern that matches its
   * URL, written like a glob of `scope()`; else to `default`. A page without a route is a failure with the code
   * `no-route`. Each call adds. Handlers run in this thread, also with workers; the crawl waits for their promises. If one
   * throws, that page fails with `hook-failed`, and the crawl goes on.
   *
   * @example
   * new Crawler()
   *   .seeds({ url: 'https://example.com/toys', label: 'list' })
   *   .routes({
   *     list: (page) => page.links.forEach(({ url }) => page.follow(url, { label: 'detail' })),
   *     detail: (page) => console.log(page.title),
   *     '/blog/**': (page) => console.log(page.url),
   *     default: () => {},
   *   })
   */
  routes(routes: Readonly<Record<string, (page: Page<Data>) => unknown>>): Crawler<Data> {
    const { hooks } = this.options
    const before = hooks.find((hook) => hook instanceof RouteTable)
    const table = new RouteTable(routes, before)
    return this.with({
      hooks: before ? hooks.map((hook) => (hook === before ? table : hook)) : [...hooks, table],
    })
  }

  /**
   * Listens to an event, in every run of the crawler that this returns. If the listener returns a promise, the crawl
   * waits for it (back-pressure). To listen to one run only, use `on()` of what `start()` returns.
   */
  on<E extends keyof CrawlEvents>(event: E, listener: CrawlEvents<Data>[E]): Crawler<Data> {
    const added = [event, checkedListener('on', event, listener)] as unknown as Listener
    noteListener(this, added)
    return this.with({ listeners: [...this.options.listeners, added] })
  }

  /**
   * Keeps the crawl open until `run.finish()`, also while there is nothing to do, for requests that come later by
   * `run.add()`. It may start without seeds. A limit, `run.stop()` and a signal still end it. Default: off.
   *
   * @example
   * const run = new Crawler().keepOpen().start()
   * await run.add('https://example.com/')
   * run.finish()
   * await run.done
   */
  keepOpen(open = true): Crawler<Data> {
    return this.with({ keepOpen: boolean('keepOpen', open) })
  }

  /** Another clock: for simulations and tests. Not with workers. */
  clock(clock: Clock): Crawler<Data> {
    return this.with({ clock: part('clock', clock, ['now', 'wakeAt'], 'a Clock') })
  }

  /** Another source of chance: for simulations and tests. Not with workers. */
  random(random: Random): Crawler<Data> {
    return this.with({ random: part('random', random, ['next'], 'a Random') })
  }

  /**
   * Starts a crawl and returns its handle, with events, statistics, `pause()`, `resume()`, `stop()` and `done`. The
   * crawler itself stays as it is: each call starts another run. Runs at the same time share the parts that you gave as
   * objects (fetcher, frontier, seen store, hooks, extractors), and the run that ends first closes them. Aborting the
   * signal ends the run within a second, with a summary whose reason is `aborted`.
   *
   * @throws KumoError `KUMO_NO_SEEDS` if there is nothing to crawl.
   *
   * @example
   * const run = crawler.start()
   * run.on('progress', ({ pages }) => console.log(pages))
   * const summary = await run.done
   */
  start(options: RunOptions = {}): CrawlRun<Data> {
    return this.#start('start', options)
  }

  /** Crawls to the end. Aborting the signal ends it within a second, with a summary whose reason is `aborted`. */
  async run(options: RunOptions = {}): Promise<Summary> {
    return this.#start('run', options).done
  }

  /** Crawls while you iterate. A slow loop slows the crawl (back-pressure); leaving the loop aborts it. */
  [Symbol.asyncIterator](): PageIterator<Page<Data>> {
    return CrawlRun.pages(() => this.start())
  }

  #start(method: 'start' | 'run', options: RunOptions): CrawlRun<Data> {
    const { signal } = record(method, options, ['signal'])
    const abort = abortSignal(`${method}.signal`, signal)
    const { seeds, keepOpen } = this.options
    if (seeds.length === 0 && !keepOpen) throw new KumoError('KUMO_NO_SEEDS', NO_SEEDS)
    if (method === 'run' && keepOpen && abort === undefined)
      throw invalidOption('keepOpen', true, NEEDS_HANDLE)
    noteStart(this, this.options.listeners)
    return new CrawlRun(this.options, abort)
  }
}
