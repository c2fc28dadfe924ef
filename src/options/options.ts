import type { CrawlEvents } from '../engine/events.js'
import type { HealthRules } from '../engine/visit/host-health.js'
import type { RetryWhen } from '../engine/visit/retry.js'
import type { Extractor, Page } from '../extract/contract.js'
import type { FollowRules } from '../feeds/follow/contract.js'
import type { Fetcher } from '../fetch/contract.js'
import type { Resolver } from '../fetch/dns/resolver.js'
import type { TlsOptions } from '../fetch/http/access/access.js'
import { HTTP_DEFAULTS } from '../fetch/http/defaults.js'
import type { Frontier } from '../frontier/contract.js'
import type { Hook } from '../hooks/contract.js'
import type { Module, ModuleRef } from '../modules/module.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { RefreshRules } from '../refresh/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Store, StoreContext } from '../stores/contract.js'
import type { Clock, Duration, Random } from '../time.js'
import type { MaybePromise } from '../types.js'
import type { UrlRewriteRule } from '../url/rewrite.js'
import type { ScopeRule } from '../url/scope/scope.js'
import type { TrapOptions } from '../url/traps/traps.js'
import type { CacheSettings } from '../warc/cache.js'
import type { HostRule } from './hosts.js'
import type { GivenSeeds } from './seeds.js'

/** Functions that compute the fields of `page.data`. */
export type Fields = Readonly<Record<string, (page: Page) => unknown>>

export type Listener = { [E in keyof CrawlEvents]: readonly [E, CrawlEvents[E]] }[keyof CrawlEvents]

/** Every option of a crawl, checked, in its final unit, with all modules loaded. */
export interface CrawlOptions {
  readonly seeds: readonly GivenSeeds[]
  /** Whether the crawl goes on until `run.finish()`. */
  readonly keepOpen: boolean
  readonly workers: WorkerOptions
  /** Concurrent visits over all hosts. */
  readonly concurrency: number
  /** Options of single hosts, by pattern. */
  readonly hosts: readonly HostRule[]
  /** Pause between two visits to a host, from the end of one to the start of the next. */
  readonly delayMs: number
  /** Lengthens the pause in proportion to the duration of the last visit. */
  readonly adaptive: { readonly factor: number; readonly maxMs: number } | undefined
  readonly perHost: { readonly connections: number; readonly growAt: number }
  /** Over all hosts and workers. `most` undefined: what the system's limit on open files allows. */
  readonly connections: { readonly most: number | undefined; readonly keepMs: number }
  readonly userAgent: string
  /** Sent to the origins of the seeds only. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent with every request. */
  readonly headersEverywhere: Readonly<Record<string, string>>
  readonly access: NetworkOptions
  readonly proxy: string | URL | ((url: string) => string | URL | undefined) | undefined
  readonly resolver: Resolver | undefined
  /** Undefined: the sites of the seeds. */
  readonly scope: ScopeRule | undefined
  readonly include: readonly ScopeRule[]
  readonly exclude: readonly ScopeRule[]
  /** The operator's block-list. */
  readonly block: readonly ScopeRule[]
  /** Rules with a priority: see `Priorities`. */
  readonly prioritize: readonly ScopeRule[]
  readonly urls: { readonly drop: readonly string[]; readonly canonical: 'report' | 'follow' }
  /** `urls({ rewrite })`, in the order in which they apply. */
  readonly rewrite: readonly UrlRewriteRule[]
  /** Undefined: trap detection is off. */
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
    /** Bytes a second. */
    readonly bandwidth: number
  }
  /** Memory in which the threads of a crawl share its bandwidth. Undefined: there is one thread. */
  readonly line: SharedArrayBuffer | undefined
  readonly timeout: { readonly fetchMs: number; readonly extractMs: number; readonly hookMs: number }
  readonly maxBodyBytes: number
  /** Whether a larger body is truncated instead of failing. */
  readonly truncateBodies: boolean
  readonly retries: HealthRules & {
    /** Retries of one URL after a transient failure. */
    readonly times: number
    /** Statuses that are retried. Undefined: the usual ones. */
    readonly statuses: readonly number[] | undefined
  }
  /** Decides whether a failure is retried. */
  readonly retryWhen: RetryWhen | undefined
  /** Whether this run retries the URLs that earlier runs gave up on. */
  readonly retryFailed: boolean
  /** Redirects followed in a row. */
  readonly redirects: number
  readonly robots: {
    /** Whether robots.txt is obeyed. */
    readonly obey: boolean
    /** Whether `nofollow` on pages and links is obeyed. */
    readonly nofollow: boolean
    /** The longest Crawl-delay that is honored. */
    readonly maxDelayMs: number
  }
  /** How known pages are revisited. Undefined: they are not. */
  readonly refresh: RefreshRules | undefined
  /** How feeds are followed. Undefined: they are not. */
  readonly feeds: FollowRules | undefined
  /** Identifies the content of a page. Undefined: `contentDigest`. */
  readonly digest: ((page: Page) => string) | undefined
  readonly store: Store | undefined
  readonly frontier: Frontier | ((context: StoreContext) => MaybePromise<Frontier>) | undefined
  readonly seenStore: SeenStore | undefined
  readonly partitioner: HostPartitioner | undefined
  readonly fetcher: Fetcher | undefined
  /** Where answers are kept and served again. */
  readonly cache: CacheSettings | undefined
  readonly fields: Fields
  readonly extractors: readonly Extractor[]
  readonly hooks: readonly Hook[]
  readonly listeners: readonly Listener[]
  readonly clock: Clock | undefined
  readonly random: Random | undefined
}

/** Options that hold scope rules. A module in one of them is wrapped in a rule until it is loaded: see `moduleRule`. */
export type RuleOption = 'scope' | 'include' | 'exclude' | 'block' | 'prioritize'

/** Options that hold other code of the user. A module in one of them is a reference until it is loaded. */
export type PartOption =
  | 'proxy'
  | 'resolver'
  | 'store'
  | 'partitioner'
  | 'frontier'
  | 'seenStore'
  | 'fetcher'
  | 'retryWhen'
  | 'digest'
  | 'extractors'
  | 'hooks'
  | 'rewrite'

/** Options that take code of the user; `USER_CODE` describes each. */
export type CodeOption = RuleOption | PartOption

type OrModule<T> = T extends readonly (infer Item)[] ? readonly (Item | ModuleRef)[] : T | ModuleRef

/** Options as the builder holds them: modules are referenced, not loaded. */
export type GivenOptions = {
  readonly [K in keyof CrawlOptions]: K extends PartOption ? OrModule<CrawlOptions[K]> : CrawlOptions[K]
}

/** The worker threads of a crawl. */
interface WorkerOptions {
  /** 0: the crawl runs in the program's thread. */
  readonly count: number
  /** A worker that is blocked for longer is replaced. */
  readonly watchdogMs: number
  /** Whether hosts move from busy workers to idle ones. */
  readonly balance: boolean
}

/** How the fetcher identifies itself and connects to servers. */
export interface NetworkOptions {
  readonly from: string | undefined
  /** By origin. */
  readonly auth: Readonly<Record<string, { readonly username: string; readonly password: string }>>
  readonly cookies: boolean
  readonly http2: boolean
  readonly tls: TlsOptions | undefined
  /** Undefined: the name servers of the system. */
  readonly dnsServers: readonly string[] | undefined
  /** Hosts that may have private addresses; `all` turns the address guard off. */
  readonly allowPrivate: 'all' | readonly string[]
}

/** Options of `workers()`. */
export interface WorkerTuning {
  /** Replaces a worker that user code has blocked for this long; `false`: never. Default `'30s'`. */
  watchdog?: Duration | false | undefined
  /** Moves hosts from busy workers to idle ones. Default true. */
  balance?: boolean | undefined
}

/** Options of `delay()`. */
export interface DelayOptions {
  /** Waits at least this many times as long as the last visit took. Default: off. */
  adaptive?: number | undefined
  /** The longest pause that `adaptive` may cause. Default `'1m'`. */
  max?: Duration | undefined
}

/** Options of `perHost()`. */
export interface PerHostOptions {
  /** Most connections to one host, 1 to 1,024. Default 1. */
  connections?: number | undefined
  /** The number of due requests for which one more connection is opened. Default 100. */
  growAt?: number | undefined
}

/** Options of `connections()`. */
export interface ConnectionOptions {
  /** Most open connections over all hosts and workers, idle ones included. Default: by the limit on open files. */
  most?: number | undefined
  /** How long an idle connection is kept for the next visit. Default `'10s'`. */
  keepFor?: Duration | undefined
}

/** Options of `headers()`. */
export interface HeaderOptions {
  /** Sends the headers to every host, not only to the origins of the seeds. Default false. */
  everywhere?: boolean | undefined
}

/** Options of `maxBodyBytes()`. */
export interface BodyOptions {
  /** Uses the beginning of a larger body instead of failing with `body-too-large`. Default false. */
  truncate?: boolean | undefined
}

/** Options of `dns()`. */
export interface DnsOptions {
  /** Addresses of name servers, optionally with a port, e.g. `'192.0.2.53'`. */
  servers: readonly string[]
}

/** Options of `urls()`. */
export interface UrlOptions {
  /** Query parameters to remove from every URL; `*` matches any text. Default: none. */
  drop?: readonly string[] | undefined
  /** `'follow'` also crawls the canonical URL that a page names. Default `'report'`: see `page.canonical`. */
  canonical?: 'report' | 'follow' | undefined
  /**
   * Rules that rewrite every URL before it is known, in order: `indexPages()`, a function of the URL, a rule with a name,
   * or a module that exports one of these. Default: none. With workers a function must be in a module.
   */
  rewrite?: UrlRewriteRule | Module | readonly (UrlRewriteRule | Module)[] | undefined
}

/** Options of `sitemaps()`. */
export interface SitemapRules {
  /** Also tries `/sitemap.xml` on each host. Default false. */
  wellKnown?: boolean | undefined
  /** Most URLs that the sitemaps of one host may add. Default 10,000. */
  urlsPerHost?: number | undefined
}

/** Options of `limit()`. `Infinity` lifts a limit. */
export interface LimitOptions {
  /** Pages to deliver; exact. A page on which an extractor or hook failed counts too. */
  pages?: number | undefined
  /** Requests to send: pages, robots.txt, sitemaps, redirects and retries. */
  requests?: number | undefined
  /** Bytes of bodies on the wire. Once reached, no visit starts; those in flight finish. */
  bytes?: number | undefined
  /** Duration of the run. Fetches in flight are aborted then. */
  time?: Duration | undefined
  /** Pages to deliver from one host; exact. */
  pagesPerHost?: number | undefined
  /** Pages to deliver from one site (registrable domain); exact. */
  pagesPerSite?: number | undefined
  /**
   * What all connections may receive together, in bits (`'50Mbps'`) or bytes (`'6MB/s'`) a second. It ends nothing: the
   * crawl goes on more slowly.
   */
  bandwidth?: string | number | undefined
}

/** Options of `timeout()`. */
export interface TimeoutOptions {
  /** For one fetch, from the start to the last byte. Default `'30s'`. */
  fetch?: Duration | undefined
  /** For one extractor and one page. Default `'30s'`. */
  extract?: Duration | undefined
  /** For one hook or `page` listener and one page. Default `'5m'`. */
  hook?: Duration | undefined
}

/** Options of `robots()`. */
export interface RobotsRules {
  /** Whether robots.txt is obeyed. Default true. */
  obey?: boolean | undefined
  /** Whether `nofollow` on pages and links is obeyed. Default true. */
  nofollow?: boolean | undefined
  /** The longest Crawl-delay that is honored; a longer one counts as this. Default `'1m'`. */
  maxDelay?: Duration | undefined
}

/** The retry policy: see docs/politeness.md. */
export interface RetryOptions {
  /** Retries of one URL. Default 2. */
  times?: number | undefined
  /** The statuses that are retried, instead of 408, 425, 429 and 500 to 599 without 501 and 505. */
  statuses?: readonly number[] | undefined
  /**
   * Decides about each failure with attempts left: true retries it, also if the request is a POST, false gives it up, and
   * undefined leaves the decision to the other rules. With workers it must be a module that exports the function.
   */
  when?: RetryWhen | Module | undefined
  /** Wait before the next visit to a host after its first failure; doubles with each. Default `'1s'`. */
  backoff?: Duration | undefined
  /** The longest such wait. Default `'1m'`. */
  maxBackoff?: Duration | undefined
  /** The longest Retry-After that is honored; a longer one counts as this. Default `'1h'`. */
  maxRetryAfter?: Duration | undefined
  /** Failures in a row after which a host cools down. Default 4. */
  cooldownAfter?: number | undefined
  /** How long a host cools down; doubles each time. Default `'5m'`. */
  cooldown?: Duration | undefined
  /** How often a host cools down before its URLs are given up. Default 3. */
  cooldowns?: number | undefined
}

/** Bounds against crawler traps (endless sites). `Infinity` lifts one. */
export interface TrapLimits extends TrapOptions {
  /** Links read from one page. Default 50,000. */
  readonly linksPerPage?: number | undefined
  /** How often a host may serve the same content before links on it are no longer followed. Default 10. */
  readonly sameContent?: number | undefined
}

export const VERSION = '0.1.0'

/** The value of every option that the user does not set. `undefined`: see run/plan-defaults.ts. */
export const DEFAULTS = Object.freeze<CrawlOptions>({
  seeds: [],
  keepOpen: false,
  // Longer than any page should block a thread; collecting the garbage of a large heap may take seconds.
  workers: { count: 0, watchdogMs: 30_000, balance: true },
  // Enough to saturate a home connection over many hosts; a crawl of one host is bound by its delay anyway.
  concurrency: 100,
  hosts: [],
  delayMs: 1000,
  adaptive: undefined,
  // Beyond 16 parallel downloads a server has been measured to give no more.
  perHost: { connections: 1, growAt: 100 },
  connections: { most: undefined, keepMs: HTTP_DEFAULTS.keepAliveMs },
  // Tells the operator who reads it in a log that the crawler's owner left no contact.
  userAgent: `Kumo/${VERSION} (no contact given: set userAgent)`,
  headers: {},
  headersEverywhere: {},
  access: {
    from: undefined,
    auth: {},
    cookies: false,
    http2: false,
    tls: undefined,
    dnsServers: undefined,
    allowPrivate: [],
  },
  proxy: undefined,
  resolver: undefined,
  scope: undefined,
  include: [],
  exclude: [],
  block: [],
  prioritize: [],
  urls: { drop: [], canonical: 'report' },
  rewrite: [],
  traps: {},
  // A crawl of many hosts must not be flooded by their sitemaps.
  sitemaps: { read: true, wellKnown: false, urlsPerHost: 10_000 },
  depth: Number.POSITIVE_INFINITY,
  limit: {
    pages: Number.POSITIVE_INFINITY,
    requests: Number.POSITIVE_INFINITY,
    bytes: Number.POSITIVE_INFINITY,
    timeMs: Number.POSITIVE_INFINITY,
    pagesPerHost: Number.POSITIVE_INFINITY,
    pagesPerSite: Number.POSITIVE_INFINITY,
    bandwidth: Number.POSITIVE_INFINITY,
  },
  line: undefined,
  timeout: { fetchMs: HTTP_DEFAULTS.connectTimeoutMs, extractMs: 30_000, hookMs: 300_000 },
  maxBodyBytes: HTTP_DEFAULTS.maxBodyBytes,
  truncateBodies: false,
  retries: {
    times: 2,
    statuses: undefined,
    backoffMs: 1000,
    maxBackoffMs: 60_000,
    maxRetryAfterMs: 3_600_000,
    // With two URLs or more, each has failed twice by then, and none is lost.
    cooldownAfter: 4,
    cooldownMs: 300_000,
    cooldowns: 3,
  },
  retryWhen: undefined,
  retryFailed: false,
  // Browsers give up at 20; a crawler gains nothing from the second ten.
  redirects: 10,
  robots: { obey: true, nofollow: true, maxDelayMs: 60_000 },
  refresh: undefined,
  feeds: undefined,
  digest: undefined,
  store: undefined,
  frontier: undefined,
  seenStore: undefined,
  partitioner: undefined,
  fetcher: undefined,
  cache: undefined,
  fields: {},
  extractors: [],
  hooks: [],
  listeners: [],
  clock: undefined,
  random: undefined,
})
