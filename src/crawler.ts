import type { CrawlEvents } from './engine/events.js'
import type { Reader } from './engine/outlet.js'
import type { Stats, Summary } from './engine/stats.js'
import { KumoError } from './errors.js'
import type { Extractor, Page } from './extract/contract.js'
import type { FetchContext, Fetcher, Outcome } from './fetch/contract.js'
import type { Frontier } from './frontier/contract.js'
import type { Hook } from './hooks/contract.js'
import { iterate, type PageIterator } from './iterate.js'
import * as check from './options.js'
import { type CrawlOptions, DEFAULTS, invalidOption, type Listener } from './options.js'
import type { HostPartitioner } from './partition/contract.js'
import { Run } from './run.js'
import { checkSeeds, type SeedInput } from './seeds.js'
import type { SeenStore } from './seen/contract.js'
import type { Store, StoreContext } from './stores/contract.js'
import type { Clock, Duration, Random } from './time.js'
import type { CrawlRequest, MaybePromise } from './types.js'
import { all } from './url/combine.js'
import type { ScopeLike } from './url/scope.js'

const NO_SEEDS =
  'nothing to crawl: give at least one URL with .seeds(); ' +
  'every method returns a new crawler, so run the one that .seeds() returned'
const EVENTS = ['page', 'failure', 'skip', 'redirect', 'progress', 'end'] as const

/** What `.extract({ … })` adds to the type of `page.data`. */
type FieldData<F> = { [K in keyof F]: F[K] extends (page: Page) => infer V ? Awaited<V> : never }

/**
 * A crawl, described. A crawler is a value: every step returns a new one and changes nothing, so a half-made crawler
 * can be shared and branched. Nothing happens until `run()` or `for await`.
 *
 * @example
 * const summary = await new Crawler()
 *   .seeds('https://example.com/')
 *   .concurrency(500)
 *   .on('page', (page) => console.log(page.status, page.url, page.title))
 *   .run()
 */
export class Crawler<Data extends object = object> {
  /** Written only by `#with`, before anybody has seen the crawler. */
  #options: CrawlOptions = DEFAULTS
  #run: Run | undefined = undefined

  constructor(...none: []) {
    const [given] = none as unknown[]
    if (given !== undefined) {
      throw invalidOption('new Crawler()', given, 'no arguments; use its methods, e.g. .concurrency(10)')
    }
  }

  /**
   * Where to start; each call adds. Strings, URLs, and anything that can be iterated over, also asynchronously: a
   * generator of a million seeds is read as the crawl needs them. Seeds are always fetched, whatever the scope says.
   */
  seeds(...seeds: SeedInput[]): Crawler<Data> {
    return this.#with({ seeds: [...this.#options.seeds, ...checkSeeds(seeds)] })
  }

  /** Visits at the same time, over all hosts. Default 100. */
  concurrency(visits: number): Crawler<Data> {
    return this.#with({ concurrency: check.integer('concurrency', visits, 1, 100_000) })
  }

  /** The pause on a host between the end of a visit and the start of the next. Default `'1s'`. */
  delay(pause: Duration): Crawler<Data> {
    return this.#with({ delayMs: check.duration('delay', pause) })
  }

  /**
   * Several connections to one host: one, and one more for each `growAt` waiting requests (default 100), up to
   * `connections` (default 1). Each connection keeps the delay.
   */
  perHost(rules: { connections?: number; growAt?: number }): Crawler<Data> {
    const given = check.record('perHost', rules, ['connections', 'growAt'])
    const { connections = this.#options.perHost.connections, growAt = this.#options.perHost.growAt } = given
    return this.#with({
      perHost: {
        connections: check.integer('perHost.connections', connections, 1, 1024),
        growAt: check.integer('perHost.growAt', growAt, 1),
      },
    })
  }

  /** Who is asking. Name your project and a way to reach you: `'MyBot/1.0 (+https://example.com/bot)'`. */
  userAgent(name: string): Crawler<Data> {
    return this.#with({ userAgent: check.headerLine('userAgent', name) })
  }

  /** Headers for every request; each call adds. */
  headers(headers: Record<string, string>): Crawler<Data> {
    return this.#with({ headers: { ...this.#options.headers, ...check.headers('headers', headers) } })
  }

  /**
   * Which links are followed: a name (`'site'`, `'host'`, `'origin'`, `'path'`, `'all'`), a rule, a glob, a regular
   * expression or a function; several must all agree. Default `'site'`: the registrable domains of the seeds.
   */
  scope(...rules: [ScopeLike, ...ScopeLike[]]): Crawler<Data> {
    const [first, ...more] = rules.map((rule) => check.scopeRule('scope', rule))
    if (first === undefined) return this.#with({ scope: check.scopeRule('scope', undefined) })
    return this.#with({ scope: more.length === 0 ? first : all(first, ...more) })
  }

  /** Within the scope, only links that match one of these; each call adds. */
  include(...rules: ScopeLike[]): Crawler<Data> {
    return this.#with({ include: [...this.#options.include, ...check.scopeRules('include', rules)] })
  }

  /** Within the scope, no links that match one of these; each call adds. */
  exclude(...rules: ScopeLike[]): Crawler<Data> {
    return this.#with({ exclude: [...this.#options.exclude, ...check.scopeRules('exclude', rules)] })
  }

  /** How many links away from a seed: 0 fetches the seeds alone. Default: no bound. */
  depth(links: number): Crawler<Data> {
    return this.#with({ depth: check.count('depth', links, 0) })
  }

  /**
   * When to end. `pages` is exact. Once `bytes` (of bodies, on the wire) are reached no visit starts; at `time`
   * visits are ended; a host gives at most `pagesPerHost`.
   */
  limit(limits: { pages?: number; bytes?: number; time?: Duration; pagesPerHost?: number }): Crawler<Data> {
    const given = check.record('limit', limits, ['pages', 'bytes', 'time', 'pagesPerHost'])
    const limit = { ...this.#options.limit }
    if (given.pages !== undefined) limit.pages = check.count('limit.pages', given.pages, 1)
    if (given.bytes !== undefined) limit.bytes = check.count('limit.bytes', given.bytes, 1)
    if (given.time !== undefined) limit.timeMs = check.timeLimit('limit.time', given.time)
    if (given.pagesPerHost !== undefined) {
      limit.pagesPerHost = check.count('limit.pagesPerHost', given.pagesPerHost, 1)
    }
    return this.#with({ limit })
  }

  /**
   * How long a fetch may take from start to last byte (default `'30s'`). As an object also how long an extractor
   * (`'30s'`) and a hook or `page` listener (`'5m'`) may take for one page.
   */
  timeout(time: Duration | { fetch?: Duration; extract?: Duration; hook?: Duration }): Crawler<Data> {
    const timeout = { ...this.#options.timeout }
    if (typeof time !== 'object' || time === null) {
      timeout.fetchMs = check.duration('timeout', time, 1)
      return this.#with({ timeout })
    }
    const given = check.record('timeout', time, ['fetch', 'extract', 'hook'])
    if (given.fetch !== undefined) timeout.fetchMs = check.duration('timeout.fetch', given.fetch, 1)
    if (given.extract !== undefined) timeout.extractMs = check.duration('timeout.extract', given.extract, 1)
    if (given.hook !== undefined) timeout.hookMs = check.duration('timeout.hook', given.hook, 1)
    return this.#with({ timeout })
  }

  /** Larger bodies, on the wire or decoded, fail with `body-too-large`. Default 8 MiB. */
  maxBodyBytes(bytes: number): Crawler<Data> {
    return this.#with({ maxBodyBytes: check.integer('maxBodyBytes', bytes, 1) })
  }

  /**
   * How often a request is tried again after a timeout, a name that was not resolved, a failed or lost connection, or
   * the status 408, 425, 429, 500, 502, 503 or 504. Default 2.
   */
  retries(times: number): Crawler<Data> {
    return this.#with({ retries: check.integer('retries', times, 0) })
  }

  /** Whether robots.txt is obeyed. Default true; turn it off only for hosts that are yours. */
  robots(obey: boolean): Crawler<Data> {
    if (typeof obey !== 'boolean') throw invalidOption('robots', obey, 'true or false')
    return this.#with({ robots: obey })
  }

  /** Where the crawl keeps its state. Default `memory()`. */
  store(store: Store): Crawler<Data> {
    return this.#with({ store: check.part('store', store, ['open'], 'a store such as memory()') })
  }

  /** A frontier of your own, or a function that makes one when the crawl runs. */
  frontier(frontier: Frontier | ((context: StoreContext) => MaybePromise<Frontier>)): Crawler<Data> {
    if (typeof frontier === 'function') return this.#with({ frontier })
    return this.#with({ frontier: check.frontierPart('frontier', frontier) })
  }

  /** A seen-set of your own. */
  seen(seen: SeenStore): Crawler<Data> {
    return this.#with({ seen: check.part('seen', seen, ['addAll', 'close'], 'a SeenStore') })
  }

  /** How hosts are dealt out over shards. Default: by a hash of the host. */
  partition(partitioner: HostPartitioner): Crawler<Data> {
    const partition = check.part<HostPartitioner>(
      'partition',
      partitioner,
      ['partition'],
      'a HostPartitioner',
    )
    check.integer('partition.partitions', partitioner.partitions, 1, 65_536)
    return this.#with({ partition })
  }

  /** A fetcher of your own: an object with `fetch`, or the function itself. */
  fetch(
    fetcher: Fetcher | ((request: CrawlRequest, context: FetchContext) => MaybePromise<Outcome>),
  ): Crawler<Data> {
    return this.#with({ fetcher: check.fetcher(fetcher) })
  }

  /**
   * What to make of a page: functions for the fields of `page.data`, or an extractor with media types, links and a
   * life cycle of its own. Each call adds.
   *
   * @example
   * new Crawler().extract({ heading: (page) => page.document.querySelector('h1')?.textContent })
   */
  extract<D extends object>(extractor: Extractor<D>): Crawler<Data & D>
  extract<F extends Record<string, (page: Page) => unknown>>(fields: F): Crawler<Data & FieldData<F>>
  extract(what: Extractor | Record<string, (page: Page) => unknown>): Crawler<Data> {
    if (isExtractor(what)) {
      return this.#with({ extractors: [...this.#options.extractors, check.extractor(what)] })
    }
    return this.#with({ fields: { ...this.#options.fields, ...check.fields(what) } })
  }

  /** Adds a hook: something that receives every page and failure. */
  use(hook: Hook<Data>): Crawler<Data> {
    return this.#with({ hooks: [...this.#options.hooks, check.hook(hook)] })
  }

  /** Listens to an event. A listener that returns a promise slows the crawl until it is done. */
  on<E extends keyof CrawlEvents>(event: E, listener: CrawlEvents<Data>[E]): Crawler<Data> {
    if (!EVENTS.includes(event)) throw invalidOption('on: event', event, EVENTS.join(', '))
    if (typeof listener !== 'function') throw invalidOption(`on('${event}')`, listener, 'a function')
    return this.#with({ listeners: [...this.#options.listeners, [event, listener] as unknown as Listener] })
  }

  /** Another clock: for simulations and tests. */
  clock(clock: Clock): Crawler<Data> {
    return this.#with({ clock: check.part('clock', clock, ['now', 'wakeAt'], 'a Clock') })
  }

  /** Another source of chance: for simulations and tests. */
  random(random: Random): Crawler<Data> {
    return this.#with({ random: check.part('random', random, ['next'], 'a Random') })
  }

  /** Crawls to the end. Aborting the signal ends it within a second, with a summary whose reason is `aborted`. */
  async run(options: { signal?: AbortSignal } = {}): Promise<Summary> {
    const { signal } = check.record('run', options, ['signal'])
    return this.#begin(undefined).finish(check.signal('run.signal', signal))
  }

  /** Crawls while you read. A slow loop slows the crawl; leaving the loop ends it. */
  [Symbol.asyncIterator](): PageIterator<Page<Data>> {
    return iterate((reader) => this.#begin(reader)) as PageIterator<Page<Data>>
  }

  /** How the run stands; undefined before the first. After a run it tells how it ended. */
  stats(): Stats | undefined {
    return this.#run?.stats()
  }

  /** No new visits; what is in flight finishes, and `run()` resolves. */
  stop(): void {
    this.#run?.tell((engine) => engine.stop())
  }

  /** No new visits until `resume()`. */
  pause(): void {
    this.#run?.tell((engine) => engine.pause())
  }

  resume(): void {
    this.#run?.tell((engine) => engine.resume())
  }

  #begin(reader: Reader | undefined): Run {
    if (this.#options.seeds.length === 0) {
      throw new KumoError('KUMO_NO_SEEDS', NO_SEEDS)
    }
    if (this.#run?.isGoingOn) {
      const message = 'this crawler is running; wait for it, or run another value, e.g. crawler.seeds(…)'
      throw new KumoError('KUMO_ALREADY_RUNNING', message)
    }
    this.#run = new Run(this.#options, reader)
    return this.#run
  }

  #with<D extends object = Data>(change: Partial<CrawlOptions>): Crawler<D> {
    const next = new Crawler<D>()
    next.#options = Object.freeze({ ...this.#options, ...change })
    return next
  }
}

function isExtractor(what: unknown): what is Extractor {
  const { name, extract } = (what ?? {}) as Partial<Extractor>
  return typeof name === 'string' && typeof extract === 'function'
}
