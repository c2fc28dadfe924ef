/**
 * What every crawler can be told in words and numbers: one method an option, each of which returns a new crawler.
 * docs/options.md explains them at length.
 */

import { availableParallelism } from 'node:os'
import type { TlsOptions } from '../fetch/http/access/access.js'
import type { Duration } from '../time.js'
import * as check from './check.js'
import { invalidOption } from './check.js'
import * as access from './check-access.js'
import {
  DEFAULTS,
  type GivenNetwork,
  type GivenOptions,
  type RetryOptions,
  type TrapLimits,
} from './options.js'
import { checkSeeds, type SeedInput } from './seeds.js'

/** More threads than any machine has cores are a typo. */
const MOST_WORKERS = 1024

/** Headers that say what is wanted, and nothing about who asks. */
const OPEN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-language',
  'cache-control',
  'dnt',
  'pragma',
  'referer',
])

export abstract class Settings {
  /** Written only by `with`, before anybody has seen the crawler. */
  #options: GivenOptions = DEFAULTS

  protected get options(): GivenOptions {
    return this.#options
  }

  protected with(change: Partial<GivenOptions>): this {
    const next = new (this.constructor as new () => this)()
    next.#options = Object.freeze({ ...this.#options, ...change })
    return next
  }

  /**
   * Where to start; each call adds. Strings, URLs, and anything that can be iterated over, also asynchronously: a
   * generator of a million seeds is read as the crawl needs them. Seeds are always fetched, whatever the scope says.
   */
  seeds(...seeds: SeedInput[]): this {
    return this.with({ seeds: [...this.options.seeds, ...checkSeeds(seeds)] })
  }

  /** Visits at the same time, over all hosts. Default 100. */
  concurrency(visits: number): this {
    return this.with({ concurrency: check.integer('concurrency', visits, 1, 100_000) })
  }

  /**
   * Threads that share the crawl; `'auto'`: one for each core. Default 0: everything happens in this thread. Code that
   * is given as a module runs inside the workers, functions of this thread (extractors, hooks, listeners) in this one.
   * A worker whose code blocks it for longer than `watchdog` (default `'30s'`, false: for ever) is replaced. `balance`
   * (default true): hosts move to workers that have less to do.
   */
  workers(count: number | 'auto', more: { watchdog?: Duration | false; balance?: boolean } = {}): this {
    const { watchdog, balance = true } = check.record('workers', more, ['watchdog', 'balance'])
    const threads = count === 'auto' ? Math.min(availableParallelism(), MOST_WORKERS) : count
    const { watchdogMs } = DEFAULTS.workers
    return this.with({
      workers: {
        count: check.workers('workers', threads, MOST_WORKERS),
        watchdogMs: watchdog === undefined ? watchdogMs : check.watchdog('workers.watchdog', watchdog),
        balance: check.boolean('workers.balance', balance),
      },
    })
  }

  /**
   * The pause on a host between the end of a visit and the start of the next. Default `'1s'`. With `adaptive` the pause
   * is that many times as long as the visit took, if that is longer, up to `max` (default `'1m'`).
   */
  delay(pause: Duration, more: { adaptive?: number; max?: Duration } = {}): this {
    const { adaptive: factor, max = 60_000 } = check.record('delay', more, ['adaptive', 'max'])
    const delayMs = check.duration('delay', pause)
    const maxMs = check.duration('delay.max', max)
    if (factor === undefined) return this.with({ delayMs, adaptive: undefined })
    return this.with({ delayMs, adaptive: { factor: check.positive('delay.adaptive', factor), maxMs } })
  }

  /**
   * Several connections to one host: one, and one more for each `growAt` requests that wait and are due (default
   * 100), up to `connections` (default 1). Each connection keeps the delay.
   */
  perHost(rules: { connections?: number; growAt?: number }): this {
    const given = check.record('perHost', rules, ['connections', 'growAt'])
    const { connections = this.options.perHost.connections, growAt = this.options.perHost.growAt } = given
    return this.with({
      perHost: {
        connections: check.integer('perHost.connections', connections, 1, 1024),
        growAt: check.integer('perHost.growAt', growAt, 1),
      },
    })
  }

  /** Who is asking. Name your project and a way to reach you: `'MyBot/1.0 (+https://example.com/bot)'`. */
  userAgent(name: string): this {
    return this.with({ userAgent: check.headerLine('userAgent', name) })
  }

  /**
   * More headers; each call adds. They go to the origins of the seeds and to no other, since they may hold a secret;
   * those that say what is wanted (`accept`, `accept-language` and such) go everywhere, and all do with `everywhere`.
   */
  headers(headers: Record<string, string>, more: { everywhere?: boolean } = {}): this {
    const { everywhere = false } = check.record('headers', more, ['everywhere'])
    const ofSeeds = { ...this.options.headers }
    const ofAll = { ...this.options.headersEverywhere }
    for (const [given, value] of Object.entries(check.headers('headers', headers))) {
      const name = given.toLowerCase()
      const isOpen = check.boolean('headers.everywhere', everywhere) || OPEN_HEADERS.has(name)
      // The last word counts, also about where it goes.
      delete ofSeeds[name]
      delete ofAll[name]
      if (isOpen) ofAll[name] = value
      else ofSeeds[name] = value
    }
    return this.with({ headers: ofSeeds, headersEverywhere: ofAll })
  }

  /** Your e-mail address, sent as the `From` header, so that an operator can reach you. */
  from(address: string): this {
    return this.withAccess(access.checked({ from: address }))
  }

  /** Basic authentication, sent to this origin and to no other; each call adds one. */
  auth(origin: string, credentials: { username: string; password: string }): this {
    return this.withAccess(access.checked({ auth: { ...this.options.access.auth, [origin]: credentials } }))
  }

  /** Keeps cookies, for each host by itself. Default: none are kept. */
  cookies(keep = true): this {
    return this.withAccess(access.checked({ cookies: keep }))
  }

  /** Speaks HTTP/2 with servers that offer it. Default: HTTP/1.1. */
  http2(offer = true): this {
    return this.withAccess(access.checked({ http2: offer }))
  }

  /** Whom to trust: `ca` for an authority of your own, `cert` and `key` to show a certificate. */
  tls(tls: TlsOptions): this {
    return this.withAccess(access.checked({ tls }))
  }

  /**
   * Addresses that the public internet cannot reach are refused unless a seed named their host, which must have been
   * private from the start. This allows the named hosts any address; `'all'` allows it every host: use it only where you
   * trust every page that is read.
   */
  allowPrivate(...hosts: [string, ...string[]]): this {
    return this.withAccess({ allowPrivate: access.privateHosts(hosts) })
  }

  /**
   * `drop`: parameters that are taken out of URLs, such as those of TRACKING_PARAMETERS and SESSION_PARAMETERS (`*` for
   * any text). `canonical: 'follow'` also follows the URL that a page names as its canonical one.
   */
  urls(rules: { drop?: readonly string[]; canonical?: 'report' | 'follow' }): this {
    const given = check.record('urls', rules, ['drop', 'canonical'])
    const { drop = this.options.urls.drop, canonical = this.options.urls.canonical } = given
    if (canonical !== 'report' && canonical !== 'follow') {
      throw invalidOption('urls.canonical', canonical, "'report' or 'follow'")
    }
    return this.with({ urls: { drop: check.parameters('urls.drop', drop), canonical } })
  }

  /** Bounds against endless sites; false lifts them all. docs/politeness.md lists them. */
  traps(limits: TrapLimits | false): this {
    return this.with({ traps: limits === false ? undefined : check.traps(limits) })
  }

  /**
   * Sitemaps that robots.txt names are read; `wellKnown` also asks each host for `/sitemap.xml`. A host's sitemaps give
   * at most `urlsPerHost` pages (default 10,000). False reads none.
   */
  sitemaps(rules: boolean | { wellKnown?: boolean; urlsPerHost?: number }): this {
    if (typeof rules === 'boolean') return this.with({ sitemaps: { ...this.options.sitemaps, read: rules } })
    if (typeof rules !== 'object') {
      throw invalidOption('sitemaps', rules, 'true or false, or { wellKnown, urlsPerHost }')
    }
    const given = check.record('sitemaps', rules, ['wellKnown', 'urlsPerHost'])
    const { wellKnown = this.options.sitemaps.wellKnown, urlsPerHost = this.options.sitemaps.urlsPerHost } =
      given
    return this.with({
      sitemaps: {
        read: true,
        wellKnown: check.boolean('sitemaps.wellKnown', wellKnown),
        urlsPerHost: check.count('sitemaps.urlsPerHost', urlsPerHost, 1),
      },
    })
  }

  /** How many links away from a seed: 0 fetches the seeds alone. Default: no bound. */
  depth(links: number): this {
    return this.with({ depth: check.count('depth', links, 0) })
  }

  /**
   * When to end. `pages` is exact; a page that could not be extracted counts as well. `requests` counts all that is
   * asked for, with robots.txt, sitemaps, redirects and retries. Once `bytes` (of bodies, on the wire) are reached no
   * visit starts; at `time` visits are ended; a host gives at most `pagesPerHost`, a site (registrable domain)
   * `pagesPerSite`.
   */
  limit(limits: {
    pages?: number
    requests?: number
    bytes?: number
    time?: Duration
    pagesPerHost?: number
    pagesPerSite?: number
  }): this {
    const keys = ['pages', 'bytes', 'time', 'pagesPerHost', 'pagesPerSite', 'requests'] as const
    const given = check.record('limit', limits, keys)
    const limit = { ...this.options.limit }
    if (given.pages !== undefined) limit.pages = check.count('limit.pages', given.pages, 1)
    if (given.requests !== undefined) limit.requests = check.count('limit.requests', given.requests, 1)
    if (given.bytes !== undefined) limit.bytes = check.count('limit.bytes', given.bytes, 1)
    if (given.time !== undefined) limit.timeMs = check.timeLimit('limit.time', given.time)
    if (given.pagesPerHost !== undefined) {
      limit.pagesPerHost = check.count('limit.pagesPerHost', given.pagesPerHost, 1)
    }
    if (given.pagesPerSite !== undefined) {
      limit.pagesPerSite = check.count('limit.pagesPerSite', given.pagesPerSite, 1)
    }
    return this.with({ limit })
  }

  /**
   * How long a fetch may take from start to last byte (default `'30s'`). As an object also how long an extractor
   * (`'30s'`) and a hook or `page` listener (`'5m'`) may take for one page.
   */
  timeout(time: Duration | { fetch?: Duration; extract?: Duration; hook?: Duration }): this {
    const timeout = { ...this.options.timeout }
    if (typeof time !== 'object' || time === null) {
      timeout.fetchMs = check.duration('timeout', time, 1)
      return this.with({ timeout })
    }
    const given = check.record('timeout', time, ['fetch', 'extract', 'hook'])
    if (given.fetch !== undefined) timeout.fetchMs = check.duration('timeout.fetch', given.fetch, 1)
    if (given.extract !== undefined) timeout.extractMs = check.duration('timeout.extract', given.extract, 1)
    if (given.hook !== undefined) timeout.hookMs = check.duration('timeout.hook', given.hook, 1)
    return this.with({ timeout })
  }

  /**
   * Larger bodies, on the wire or decoded, fail with `body-too-large`. Default 8 MiB. With `{ truncate: true }` they are
   * cut off there instead, and `page.truncated` is true.
   */
  maxBodyBytes(bytes: number, rules: { truncate?: boolean } = {}): this {
    const { truncate = false } = check.record('maxBodyBytes', rules, ['truncate'])
    return this.with({
      maxBodyBytes: check.integer('maxBodyBytes', bytes, 1),
      truncateBodies: check.boolean('maxBodyBytes.truncate', truncate),
    })
  }

  /**
   * How often a request is tried again after a timeout, a name that was not resolved, a failed or lost connection, or
   * the status 408, 425, 429, 500, 502, 503 or 504. Default 2. As an object also how long a host that fails is left
   * alone: docs/politeness.md explains.
   */
  retries(rules: number | RetryOptions): this {
    return this.with({ retries: check.retries(this.options.retries, rules) })
  }

  /**
   * Whether URLs that earlier runs of this store gave up are tried again, once, at the beginning of this run: after an
   * outage, or once an extractor is mended. Needs a durable store. With `refresh()` such URLs have a schedule anyway.
   *
   * @example
   * await new Crawler().seeds('https://example.com/').store(level('./crawl')).retryFailed().run()
   */
  retryFailed(again = true): this {
    return this.with({ retryFailed: check.boolean('retryFailed', again) })
  }

  /** How many redirects in a row are followed. Default 10. */
  redirects(most: number): this {
    return this.with({ redirects: check.integer('redirects', most, 0, 100) })
  }

  /**
   * Whether robots.txt is obeyed. Default true; turn it off only for hosts that are yours. As an object: `obey`;
   * `nofollow`, whether pages and links that ask not to be followed are heeded (default true); `maxDelay`, the longest
   * Crawl-delay that is honoured (default `'1m'`).
   */
  robots(rules: boolean | { obey?: boolean; nofollow?: boolean; maxDelay?: Duration }): this {
    if (typeof rules === 'boolean') return this.with({ robots: { ...this.options.robots, obey: rules } })
    if (typeof rules !== 'object') {
      throw invalidOption('robots', rules, 'true or false, or { obey, nofollow, maxDelay }')
    }
    const given = check.record('robots', rules, ['obey', 'nofollow', 'maxDelay'])
    const robots = { ...this.options.robots }
    if (given.obey !== undefined) robots.obey = check.boolean('robots.obey', given.obey)
    if (given.nofollow !== undefined) robots.nofollow = check.boolean('robots.nofollow', given.nofollow)
    if (given.maxDelay !== undefined) robots.maxDelayMs = check.duration('robots.maxDelay', given.maxDelay)
    return this.with({ robots })
  }

  protected withAccess(change: Partial<GivenNetwork>): this {
    return this.with({ access: { ...this.options.access, ...change } })
  }
}
