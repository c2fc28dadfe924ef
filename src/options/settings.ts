import { availableParallelism } from 'node:os'
import { invalidOption } from '../errors.js'
import type { FeedsOptions } from '../feeds/follow/contract.js'
import type { FetchContext, Fetcher, Outcome } from '../fetch/contract.js'
import type { Resolver } from '../fetch/dns/resolver.js'
import type { Credentials, TlsOptions } from '../fetch/http/access/access.js'
import type { Frontier } from '../frontier/contract.js'
import { isModule, type Module } from '../modules/module.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Store, StoreContext } from '../stores/contract.js'
import type { Duration } from '../time.js'
import type { CrawlRequest, MaybePromise } from '../types.js'
import { cacheSettings } from '../warc/cache.js'
import type { CacheOptions } from '../warc/contract.js'
import * as check from './check.js'
import * as access from './check-access.js'
import { feedOptions } from './check-feeds.js'
import { type RefreshOptions, refreshOptions } from './check-refresh.js'
import { retryOptions } from './check-retries.js'
import { type HostOptions, hostRule } from './hosts.js'
import { meantKey } from './meant.js'
import {
  type BodyOptions,
  type ConnectionOptions,
  DEFAULTS,
  type DelayOptions,
  type DnsOptions,
  type HeaderOptions,
  type LimitOptions,
  type NetworkOptions,
  type PerHostOptions,
  type RetryOptions,
  type RobotsRules,
  type SitemapRules,
  type TimeoutOptions,
  type TrapLimits,
  type UrlOptions,
  type WorkerTuning,
} from './options.js'
import { RuleSettings } from './rule-settings.js'
import { checkSeeds, type SeedInput } from './seeds.js'
import { accept, withExtractor } from './user-code.js'

/** No machine has more cores than this; a larger number of threads is a typo. */
const MOST_WORKERS = 1024
const MOST_CONCURRENT = 100_000
const DEFAULT_MAX_ADAPTIVE_MS = 60_000

/** Headers that say what is wanted and nothing about who asks, so they may go to every host. */
const OPEN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-language',
  'cache-control',
  'dnt',
  'pragma',
  'referer',
])

const atLeastOne: check.Check<number> = (option, value) => check.count(option, value, 1)

/**
 * The options of a crawler: one method each, which returns a new crawler. docs/options.md explains them at length.
 *
 * Methods that take functions have one signature and no overloads: to choose an overload, the compiler would have to
 * look into the function, and could not type `const crawler = new Crawler().fetcher(() => crawler.stop())`.
 */
export abstract class Settings extends RuleSettings {
  /**
   * Where the crawl starts: URLs, requests with a label and data, or arrays, generators and streams of these. Each call
   * adds. Generators and streams are read as the crawl needs them. Seeds are fetched even if they are outside the scope,
   * but never against robots.txt.
   *
   * @example
   * new Crawler().seeds('https://example.com/', ['https://example.org/', new URL('https://example.net/')])
   * @example
   * new Crawler().seeds({ url: 'https://example.com/toys', label: 'list', data: { category: 3 } })
   */
  seeds(...seeds: SeedInput[]): this {
    return this.with({ seeds: [...this.options.seeds, ...checkSeeds(seeds)] })
  }

  /**
   * Concurrent visits over all hosts, 1 to 100,000. Default 100. A visit ends when every hook has handled its page. Each
   * host has its own rate limit: see `delay` and `perHost`.
   */
  concurrency(visits: number): this {
    return this.with({ concurrency: check.integer('concurrency', visits, 1, MOST_CONCURRENT) })
  }

  /**
   * Worker threads that share the crawl, 0 to 1,024; `'auto'` starts one per core. Default 0: the crawl runs in this
   * thread. Code that is given as a module runs in the workers; functions for extractors, hooks and listeners run here.
   *
   * @example
   * new Crawler().workers('auto').extract(new URL('./prices.js', import.meta.url))
   */
  workers(count: number | 'auto', options: WorkerTuning = {}): this {
    const threads = count === 'auto' ? Math.min(availableParallelism(), MOST_WORKERS) : count
    const { watchdog = DEFAULTS.workers.watchdogMs, balance = DEFAULTS.workers.balance } = check.keys(
      'workers',
      options,
      { watchdog: check.watchdog, balance: check.boolean },
    )
    return this.with({
      workers: { count: check.workers('workers', threads, MOST_WORKERS), watchdogMs: watchdog, balance },
    })
  }

  /**
   * The rate limit of each host: the pause between the end of a visit and the start of the next. Default `'1s'`.
   * Crawl-delay in robots.txt can lengthen it. With `adaptive: 5` the pause is at least five times as long as the last
   * visit took, up to `max`.
   *
   * @example
   * new Crawler().delay('2s', { adaptive: 5, max: '30s' })
   */
  delay(pause: Duration, options: DelayOptions = {}): this {
    const delayMs = check.duration('delay', pause)
    const checks = { adaptive: check.positive, max: check.duration }
    const { adaptive: factor, max: maxMs = DEFAULT_MAX_ADAPTIVE_MS } = check.keys('delay', options, checks)
    return this.with({ delayMs, adaptive: factor === undefined ? undefined : { factor, maxMs } })
  }

  /**
   * Connections to one host: one, plus one for every `growAt` requests that are due, up to `connections`. Default: one
   * connection. Each keeps the delay, so four connections make up to four visits per pause.
   */
  perHost(options: PerHostOptions): this {
    const checks = {
      connections: (option: string, value: unknown) => check.integer(option, value, 1, 1024),
      growAt: (option: string, value: unknown) => check.integer(option, value, 1),
    }
    const given = check.keys('perHost', options, checks, meantKey('perHost', options, 'connections'))
    return this.with({ perHost: { ...this.options.perHost, ...given } })
  }

  /**
   * Connections over all hosts, idle ones included. `most` is 1 to 100,000, by default three quarters of the files that
   * the system lets the process open. An idle connection is kept for `keepFor` (default `'10s'`), or for as long as its
   * server announces if that is shorter.
   *
   * @example
   * new Crawler().connections({ most: 500, keepFor: '30s' })
   */
  connections(options: ConnectionOptions): this {
    const checks = {
      most: (option: string, value: unknown) => check.integer(option, value, 1, MOST_CONCURRENT),
      keepFor: (option: string, value: unknown) => check.duration(option, value, 1),
    }
    const { connections } = this.options
    const { most = connections.most, keepFor: keepMs = connections.keepMs } = check.keys(
      'connections',
      options,
      checks,
      meantKey('connections', options, 'most'),
    )
    return this.with({ connections: { most, keepMs } })
  }

  /**
   * Options for one host, or for the subdomains of a domain (`'*.example.org'`). Each call adds. Of each option, the most
   * specific host that sets it wins: a name before wildcards, a longer wildcard before a shorter one. docs/options.md
   * lists the options.
   *
   * @example
   * new Crawler().host('slow.example', { delay: '10s' }).host('*.example.org', { connections: 4 })
   */
  host(host: string, options: HostOptions): this {
    return this.with({ hosts: [...this.options.hosts, hostRule(host, options)] })
  }

  /**
   * The `User-Agent` header. Name your project and a way to reach you. The word before the slash selects the group of
   * robots.txt that applies. One line of Latin-1 text.
   *
   * @example
   * new Crawler().userAgent('MyBot/1.0 (+https://example.com/bot)')
   */
  userAgent(name: string): this {
    return this.with({ userAgent: check.headerLine('userAgent', name) })
  }

  /**
   * More request headers; each call adds. They may contain a secret, so they are sent only to the origins of the seeds.
   * Headers such as `accept` and `accept-language` are sent to every host; with `everywhere: true` all are.
   */
  headers(headers: Record<string, string>, options: HeaderOptions = {}): this {
    const { everywhere = false } = check.keys('headers', options, { everywhere: check.boolean })
    const ofSeeds = { ...this.options.headers }
    const ofAll = { ...this.options.headersEverywhere }
    for (const [given, value] of Object.entries(check.headers('headers', headers))) {
      const name = given.toLowerCase()
      // The last call decides, also about where the header is sent.
      delete ofSeeds[name]
      delete ofAll[name]
      if (everywhere || OPEN_HEADERS.has(name)) ofAll[name] = value
      else ofSeeds[name] = value
    }
    return this.with({ headers: ofSeeds, headersEverywhere: ofAll })
  }

  /** Your e-mail address, sent as the `From` header, so that operators can reach you. */
  from(address: string): this {
    return this.#withAccess(access.checked({ from: address }))
  }

  /** Credentials for basic authentication, sent to this origin only. Each call adds one origin. */
  auth(origin: string, credentials: Credentials): this {
    const { auth } = access.checked({ auth: { ...this.options.access.auth, [origin]: credentials } })
    const { username, password } = credentials
    return this.#withAccess({ auth: { ...auth, [origin]: { username, password } } })
  }

  /** Keeps cookies, separately for each host, and sends them back. Default: off. */
  cookies(keep = true): this {
    return this.#withAccess(access.checked({ cookies: keep }))
  }

  /** Uses HTTP/2 with servers that support it. Default: HTTP/1.1. */
  http2(offer = true): this {
    return this.#withAccess(access.checked({ http2: offer }))
  }

  /** Certificates: `ca` to trust your own authority, `cert` and `key` to present a client certificate. */
  tls(tls: TlsOptions): this {
    return this.#withAccess(access.checked({ tls }))
  }

  /**
   * An HTTP proxy: its URL, a function that returns the proxy for a URL (undefined: none), or a module that exports such
   * a function. The proxy resolves names, so the address guard sees literal addresses only. With workers a function must
   * be in a module.
   *
   * @example
   * new Crawler().proxy('http://user:password@proxy.example:3128')
   */
  proxy(proxy: string | URL | ((url: string) => string | URL | undefined) | Module): this {
    return this.with({ proxy: accept('proxy', proxy) })
  }

  /**
   * Name servers (`{ servers: ['192.0.2.53'] }`), your own resolver, or a module that exports one or a function that
   * makes one. Default: the name servers of the system. With workers a resolver must be in a module; each has its own.
   */
  dns(names: DnsOptions | Resolver | Module): this {
    const isResolver = isModule(names) || typeof (names as Partial<Resolver> | null)?.resolve === 'function'
    const dnsServers = isResolver ? undefined : access.dnsServers(names)
    const resolver = isResolver ? accept('resolver', names) : undefined
    return this.with({ resolver, access: { ...this.options.access, dnsServers } })
  }

  /**
   * Allows these hosts to have private, loopback or link-local addresses, on every port. By default such an address is
   * refused with `address-refused`, unless a seed names its host. `'all'` turns the address guard off: use it only if
   * you trust every page of the crawl (docs/security.md).
   *
   * @example
   * new Crawler().allowPrivate('wiki.intranet.example', '10.0.0.7')
   */
  allowPrivate(...hosts: [string, ...string[]]): this {
    return this.#withAccess({ allowPrivate: access.privateHosts(hosts) })
  }

  /**
   * How URLs are rewritten. `drop` removes query parameters, such as those in TRACKING_PARAMETERS and SESSION_PARAMETERS;
   * `rewrite` applies rules of your own or `indexPages()`; `canonical: 'follow'` also crawls the canonical URL that a page
   * names.
   *
   * @example
   * new Crawler().urls({ drop: TRACKING_PARAMETERS, rewrite: indexPages() })
   */
  urls(options: UrlOptions): this {
    const { rewrite = this.options.rewrite, ...given } = check.keys('urls', options, {
      drop: check.parameters,
      canonical: (option, value) => check.oneOf(option, value, ['report', 'follow'] as const),
      rewrite: (_, value) => [value].flat().map((each) => accept('rewrite', each)),
    })
    return this.with({ urls: { ...this.options.urls, ...given }, rewrite })
  }

  /** Bounds against crawler traps (endless sites); `false` lifts all of them. docs/options.md lists the defaults. */
  traps(limits: TrapLimits | false): this {
    return this.with({ traps: limits === false ? undefined : check.traps(limits) })
  }

  /**
   * Whether the sitemaps that robots.txt names are read. Default true. `wellKnown: true` also tries `/sitemap.xml` on
   * each host; `urlsPerHost` bounds what the sitemaps of a host may add.
   */
  sitemaps(rules: boolean | SitemapRules): this {
    if (typeof rules === 'boolean') return this.with({ sitemaps: { ...this.options.sitemaps, read: rules } })
    if (typeof rules !== 'object') {
      throw invalidOption('sitemaps', rules, 'true or false, or { wellKnown, urlsPerHost }')
    }
    const given = check.keys('sitemaps', rules, { wellKnown: check.boolean, urlsPerHost: atLeastOne })
    return this.with({ sitemaps: { ...this.options.sitemaps, ...given, read: true } })
  }

  /** How many links away from a seed the crawl goes; 0 fetches the seeds alone. Default: no bound. */
  depth(links: number): this {
    return this.with({ depth: check.count('depth', links, 0) })
  }

  /**
   * When the crawl ends, or a host or site is done, and how much it may receive a second (`bandwidth`). Several calls combine; `Infinity` lifts a limit. With a durable store
   * the counts include earlier runs; `time` is for each run.
   *
   * @example
   * new Crawler().limit({ pages: 1000, time: '10m', pagesPerHost: 50 })
   */
  limit(limits: LimitOptions): this {
    const before = this.options.limit
    const checks = {
      pages: atLeastOne,
      bytes: atLeastOne,
      time: check.timeLimit,
      pagesPerHost: atLeastOne,
      pagesPerSite: atLeastOne,
      requests: atLeastOne,
      bandwidth: check.bandwidth,
    }
    const hint = meantKey('limit', limits, 'pages')
    const { time = before.timeMs, ...counts } = check.keys('limit', limits, checks, hint)
    return this.with({ limit: { ...before, ...counts, timeMs: time } })
  }

  /** How long a fetch may take, from the start to the last byte (default `'30s'`); or an object with all timeouts. */
  timeout(time: Duration | TimeoutOptions): this {
    const before = this.options.timeout
    if (typeof time !== 'object' || time === null) {
      return this.with({ timeout: { ...before, fetchMs: check.timeout('timeout', time) } })
    }
    const checks = { fetch: check.timeout, extract: check.timeout, hook: check.timeout }
    const { fetch, extract, hook } = check.keys('timeout', time, checks)
    return this.with({
      timeout: {
        fetchMs: fetch ?? before.fetchMs,
        extractMs: extract ?? before.extractMs,
        hookMs: hook ?? before.hookMs,
      },
    })
  }

  /**
   * The largest body, on the wire and decoded. Default 8 MiB. A larger one fails with `body-too-large`; with
   * `truncate: true` its beginning is used instead, and `page.truncated` is true.
   */
  maxBodyBytes(bytes: number, options: BodyOptions = {}): this {
    const { truncate = false } = check.keys('maxBodyBytes', options, { truncate: check.boolean })
    return this.with({
      maxBodyBytes: check.integer('maxBodyBytes', bytes, 1),
      truncateBodies: truncate,
    })
  }

  /**
   * The retry policy. A number: how often a URL is retried after a timeout, a DNS or connection failure, or status 408,
   * 425, 429 or 5xx without 501 and 505. Default 2. A request that may do harm twice (POST, PATCH) is retried only if
   * the server cannot have received it. An object also sets what is retried, and the backoff and cooldown of a failing
   * host.
   *
   * @example
   * new Crawler().retries({ times: 4, backoff: '2s', cooldown: '15m' })
   * new Crawler().retries({ statuses: [429, 503], when: ({ code }) => (code === 'tls-failed' ? true : undefined) })
   */
  retries(rules: number | RetryOptions): this {
    return this.with(retryOptions(this.options, rules))
  }

  /**
   * Retries, once, the URLs that earlier runs with this store gave up on: after an outage, or once an extractor is fixed.
   * Default: off. Needs a durable store. With `refresh()` the schedule retries them anyway.
   *
   * @example
   * await new Crawler().seeds('https://example.com/').store(level('./crawl')).retryFailed().run()
   */
  retryFailed(again = true): this {
    return this.with({ retryFailed: check.boolean('retryFailed', again) })
  }

  /** How many redirects in a row are followed, 0 to 100. Default 10. */
  redirects(most: number): this {
    return this.with({ redirects: check.integer('redirects', most, 0, 100) })
  }

  /** Whether robots.txt is obeyed. Default true; turn it off only for hosts that you own. An object sets more rules. */
  robots(rules: boolean | RobotsRules): this {
    const before = this.options.robots
    if (typeof rules === 'boolean') return this.with({ robots: { ...before, obey: rules } })
    if (typeof rules !== 'object') {
      throw invalidOption('robots', rules, 'true or false, or { obey, nofollow, maxDelay }')
    }
    const checks = { obey: check.boolean, nofollow: check.boolean, maxDelay: check.duration }
    const { maxDelay = before.maxDelayMs, ...given } = check.keys('robots', rules, checks)
    return this.with({ robots: { ...before, ...given, maxDelayMs: maxDelay } })
  }

  /**
   * Revisits known pages. By default each page gets its own schedule, by how often it changes, and the run continues until
   * it is stopped; with `rounds: n` every known page is revisited n times. docs/refresh.md explains the options.
   *
   * @example
   * new Crawler().seeds('https://example.com/').store(level('./crawl')).refresh({ min: '1h', max: '30d' })
   */
  refresh(options: RefreshOptions = {}): this {
    return this.with(refreshOptions(options))
  }

  /**
   * Follows feeds: seeds that are feeds, and with `discover: true` those that pages name. Each is polled when that is worth
   * most, within the budget, and the event `feed` reports what is new. The run continues until it is stopped, or with
   * `once: true` until everything that is due was polled. docs/feeds.md explains the options.
   *
   * @example
   * new Crawler()
   *   .seeds('https://example.com/feed.xml')
   *   .store(level('./feeds'))
   *   .feeds({ budget: '2000/day' })
   *   .on('feed', (event) => event.new.forEach(({ title, url }) => console.log(title, url)))
   */
  feeds(options: FeedsOptions = {}): this {
    return this.with({ feeds: feedOptions(options) })
  }

  /**
   * Where the crawl keeps its state: `memory()` (default), `level(path)` to resume after a restart, your own store, or a
   * module that exports one or a function that makes one. With workers your own store must be in a module.
   *
   * @example
   * new Crawler().store(level('./crawl'))
   */
  store(store: Store | Module): this {
    return this.with({ store: accept('store', store) })
  }

  /**
   * Your own queue of pending requests: a frontier, a function that makes one for each run, or a module that exports such
   * a function. With workers it must be in a module; each worker has its own.
   */
  frontier(frontier: Frontier | ((context: StoreContext) => MaybePromise<Frontier>) | Module): this {
    return this.with({ frontier: accept('frontier', frontier) })
  }

  /**
   * Your own set of known URLs, or a module that exports a function that makes one. With workers it must be in a module;
   * each worker has its own.
   */
  seenStore(seenStore: SeenStore | Module): this {
    return this.with({ seenStore: accept('seenStore', seenStore) })
  }

  /**
   * Which hosts belong together: `byHost()` (default), your own partitioner, or a module that exports one or a function
   * that makes one. Hosts of a partition share a worker. With workers your own must be in a module.
   */
  partitioner(partitioner: HostPartitioner | Module): this {
    return this.with({ partitioner: accept('partitioner', partitioner) })
  }

  /**
   * Keeps answers in a folder, as WARC files, and serves them again: work on an extractor costs the web nothing, and a
   * test needs no network. What is served from the cache is no visit, so its host needs no rest.
   *
   * @example
   * new Crawler().seeds('https://example.com/').cache('./http', { mode: 'use' })
   */
  cache(folder: string, options: CacheOptions = {}): this {
    return this.with({ cache: cacheSettings(folder, options) })
  }

  /**
   * Your own fetcher, e.g. a headless browser: an object with `fetch`, the function itself, or a module that exports one
   * of these. With workers it must be in a module; each worker has its own.
   */
  fetcher(
    fetcher: Fetcher | ((request: CrawlRequest, context: FetchContext) => MaybePromise<Outcome>) | Module,
  ): this {
    return this.with({ fetcher: accept('fetcher', fetcher) })
  }

  protected withExtractor(given: unknown): this {
    return this.with(withExtractor(this.options, given))
  }

  protected withHook(given: unknown): this {
    return this.with({ hooks: [...this.options.hooks, accept('hooks', given)] })
  }

  #withAccess(change: Partial<NetworkOptions>): this {
    return this.with({ access: { ...this.options.access, ...change } })
  }
}
