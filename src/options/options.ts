import type { CrawlEvents } from '../engine/events.js'
import type { HealthRules } from '../engine/visit/host-health.js'
import type { Extractor, Page } from '../extract/contract.js'
import type { Fetcher } from '../fetch/contract.js'
import type { Resolver } from '../fetch/dns/resolver.js'
import type { TlsOptions } from '../fetch/http/access/access.js'
import type { Frontier } from '../frontier/contract.js'
import type { Hook } from '../hooks/contract.js'
import type { ModuleRef } from '../modules/module.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { RefreshRules } from '../refresh/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Store, StoreContext } from '../stores/contract.js'
import type { Clock, Duration, Random } from '../time.js'
import type { MaybePromise } from '../types.js'
import type { ScopeRule } from '../url/scope/scope.js'
import type { TrapOptions } from '../url/traps/traps.js'
import type { SeedInput } from './seeds.js'

/** Functions that make the fields of `page.data`. */
export type Fields = Readonly<Record<string, (page: Page) => unknown>>

export type Listener = { [E in keyof CrawlEvents]: readonly [E, CrawlEvents[E]] }[keyof CrawlEvents]

/** Every option of a crawl, checked and in its final unit; what was given as a module is loaded. */
export interface CrawlOptions {
  readonly seeds: readonly SeedInput[]
  readonly workers: WorkerOptions
  /** Visits at the same time over all hosts. */
  readonly concurrency: number
  /** Pause between two visits to a host, from the end of one to the start of the next. */
  readonly delayMs: number
  /** The pause grows with the time that a visit took. */
  readonly adaptive: { readonly factor: number; readonly maxMs: number } | undefined
  readonly perHost: { readonly connections: number; readonly growAt: number }
  readonly userAgent: string
  /** For the origins of the seeds. */
  readonly headers: Readonly<Record<string, string>>
  /** For every request. */
  readonly headersEverywhere: Readonly<Record<string, string>>
  readonly access: NetworkOptions
  /** Undefined: the seeds' sites. */
  readonly scope: ScopeRule | undefined
  readonly include: readonly ScopeRule[]
  readonly exclude: readonly ScopeRule[]
  /** The operator's own block-list. */
  readonly block: readonly ScopeRule[]
  readonly urls: { readonly drop: readonly string[]; readonly canonical: 'report' | 'follow' }
  /** Undefined: no trap is looked for. */
  readonly traps: TrapLimits | undefined
  readonly sitemaps: { readonly read: boolean; readonly wellKnown: boolean; readonly urlsPerHost: number }
  readonly depth: number
  readonly limit: {
    readonly pages: number
    readonly requests: number
    readonly bytes: number
    readonly timeMs: number
    readonly pagesPerHost: number
    readonly pagesPerSite: number
  }
  readonly timeout: { readonly fetchMs: number; readonly extractMs: number; readonly hookMs: number }
  readonly maxBodyBytes: number
  /** Whether larger bodies are cut off, instead of failing. */
  readonly truncateBodies: boolean
  readonly retries: HealthRules & {
    /** How often a transient failure is tried again. */
    readonly times: number
  }
  /** Whether URLs that earlier runs gave up are tried again. */
  readonly retryFailed: boolean
  /** Redirects followed in a row. */
  readonly redirects: number
  readonly robots: {
    /** Whether robots.txt is obeyed. */
    readonly obey: boolean
    /** Whether pages and links that ask not to be followed are heeded. */
    readonly nofollow: boolean
    /** The longest Crawl-delay that is honoured. */
    readonly maxDelayMs: number
  }
  /** How known pages are visited again. Undefined: they are not. */
  readonly refresh: RefreshRules | undefined
  /** Of a page's content, without what changes by itself. Undefined: the default. */
  readonly digest: ((page: Page) => string) | undefined
  readonly store: Store | undefined
  readonly frontier: Frontier | ((context: StoreContext) => MaybePromise<Frontier>) | undefined
  readonly seenStore: SeenStore | undefined
  readonly partitioner: HostPartitioner | undefined
  readonly fetcher: Fetcher | undefined
  readonly fields: Fields
  readonly extractors: readonly Extractor[]
  readonly hooks: readonly Hook[]
  readonly listeners: readonly Listener[]
  readonly clock: Clock | undefined
  readonly random: Random | undefined
}

/** Options as they were given: modules are named, not loaded. A scope rule may stand for one: see `moduleRule`. */
export interface GivenOptions
  extends Omit<
    CrawlOptions,
    | 'access'
    | 'digest'
    | 'store'
    | 'frontier'
    | 'seenStore'
    | 'partitioner'
    | 'fetcher'
    | 'extractors'
    | 'hooks'
  > {
  readonly access: GivenNetwork
  readonly digest: CrawlOptions['digest'] | ModuleRef
  readonly store: CrawlOptions['store'] | ModuleRef
  readonly frontier: CrawlOptions['frontier'] | ModuleRef
  readonly seenStore: CrawlOptions['seenStore'] | ModuleRef
  readonly partitioner: CrawlOptions['partitioner'] | ModuleRef
  readonly fetcher: CrawlOptions['fetcher'] | ModuleRef
  readonly extractors: readonly (Extractor | ModuleRef)[]
  readonly hooks: readonly (Hook | ModuleRef)[]
}

/** The threads of a crawl. */
export interface WorkerOptions {
  /** 0: everything happens in the thread of the program. */
  readonly count: number
  /** A worker whose code blocks it for so long is replaced. */
  readonly watchdogMs: number
  /** Whether hosts move from workers that have much to do to those that have little. */
  readonly balance: boolean
}

/** How a crawl answers failures, as it is written: see docs/politeness.md. */
export interface RetryOptions {
  /** Tries after the first. Default 2. */
  times?: number
  /** Wait after the first failure of a host; doubles with each. Default `'1s'`. */
  backoff?: Duration
  /** Default `'1m'`. */
  maxBackoff?: Duration
  /** The longest Retry-After that is honoured; a longer one counts as this. Default `'1h'`. */
  maxRetryAfter?: Duration
  /** A host that fails so often in a row is set aside. Default 4. */
  cooldownAfter?: number
  /** For how long; doubles each time. Default `'5m'`. */
  cooldown?: Duration
  /** How often, before its URLs are given up. Default 3. */
  cooldowns?: number
}

/** Bounds against endless sites. `Infinity` lifts one. */
export interface TrapLimits extends TrapOptions {
  /** Links that are read of one page. Default 10,000. */
  readonly linksPerPage?: number | undefined
  /** How often a host may show the same content before links on it are no longer followed. Default 10. */
  readonly sameContent?: number | undefined
}

/** How the fetcher presents itself and gets to servers. */
export interface NetworkOptions {
  readonly from: string | undefined
  /** By origin. */
  readonly auth: Readonly<Record<string, { readonly username: string; readonly password: string }>>
  readonly cookies: boolean
  readonly proxy: string | URL | ((url: string) => string | URL | undefined) | undefined
  readonly http2: boolean
  readonly tls: TlsOptions | undefined
  readonly resolver: Resolver | undefined
  /** Name servers, if not the system's. */
  readonly dnsServers: readonly string[] | undefined
  /** Hosts whose private addresses may be connected to; `all`: no address is refused. */
  readonly allowPrivate: 'all' | readonly string[]
}

/** As it was given: see `GivenOptions`. */
export interface GivenNetwork extends Omit<NetworkOptions, 'proxy' | 'resolver'> {
  readonly proxy: NetworkOptions['proxy'] | ModuleRef
  readonly resolver: NetworkOptions['resolver'] | ModuleRef
}

export const VERSION = '0.1.0'

/** What a crawl does if nothing is said. */
export const DEFAULTS = Object.freeze<CrawlOptions>({
  seeds: [],
  // Longer than any page should keep a thread; the garbage of a large heap may take seconds to collect.
  workers: { count: 0, watchdogMs: 30_000, balance: true },
  // Enough to keep a home connection busy over many hosts; a crawl of one host is bound by its delay anyway.
  concurrency: 100,
  delayMs: 1000,
  adaptive: undefined,
  // System B's measure: beyond 16 parallel downloads a server gives no more.
  perHost: { connections: 1, growAt: 100 },
  // Whoever reads it in a log should know that somebody forgot to say who they are.
  userAgent: `Kumo/${VERSION} (no contact given: set userAgent)`,
  headers: {},
  headersEverywhere: {},
  access: {
    from: undefined,
    auth: {},
    cookies: false,
    proxy: undefined,
    http2: false,
    tls: undefined,
    resolver: undefined,
    dnsServers: undefined,
    allowPrivate: [],
  },
  scope: undefined,
  include: [],
  exclude: [],
  block: [],
  urls: { drop: [], canonical: 'report' },
  traps: {},
  // A broad crawl over many hosts must not be flooded by what each lists.
  sitemaps: { read: true, wellKnown: false, urlsPerHost: 10_000 },
  depth: Number.POSITIVE_INFINITY,
  limit: {
    pages: Number.POSITIVE_INFINITY,
    requests: Number.POSITIVE_INFINITY,
    bytes: Number.POSITIVE_INFINITY,
    timeMs: Number.POSITIVE_INFINITY,
    pagesPerHost: Number.POSITIVE_INFINITY,
    pagesPerSite: Number.POSITIVE_INFINITY,
  },
  timeout: { fetchMs: 30_000, extractMs: 30_000, hookMs: 300_000 },
  // System E capped pages at 2 MB; today's are larger.
  maxBodyBytes: 8 * 1024 * 1024,
  truncateBodies: false,
  retries: {
    times: 2,
    backoffMs: 1000,
    maxBackoffMs: 60_000,
    maxRetryAfterMs: 3_600_000,
    // With two URLs or more, each has failed twice by then and none is lost.
    cooldownAfter: 4,
    cooldownMs: 300_000,
    cooldowns: 3,
  },
  retryFailed: false,
  // Browsers give up at 20; a crawler gains nothing from the second ten.
  redirects: 10,
  robots: { obey: true, nofollow: true, maxDelayMs: 60_000 },
  refresh: undefined,
  digest: undefined,
  store: undefined,
  frontier: undefined,
  seenStore: undefined,
  partitioner: undefined,
  fetcher: undefined,
  fields: {},
  extractors: [],
  hooks: [],
  listeners: [],
  clock: undefined,
  random: undefined,
})
