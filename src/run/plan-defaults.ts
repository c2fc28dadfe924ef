/** The parts that a crawl uses where the user chose none. Nothing else builds a default, in any thread. */

import { contentDigest } from '../extract/digest/content-digest.js'
import { cachingResolver, type Resolver } from '../fetch/dns/resolver.js'
import { Bandwidth } from '../fetch/http/bandwidth.js'
import { Cookies } from '../fetch/http/cookies.js'
import { fetcherWith, type HttpFetcher, type HttpFetcherOptions } from '../fetch/http/http.js'
import type { SessionSettings } from '../hooks/session/contract.js'
import type { CrawlOptions, GivenOptions } from '../options/options.js'
import { byDomain, byHost } from '../partition/by-host.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { TrustedNames } from '../seen/trusted-names.js'
import type { StateStore, Store } from '../stores/contract.js'
import { memory } from '../stores/memory.js'
import { forgetful, memoryState } from '../stores/memory-state.js'
import { type Clock, type Random, systemClock, systemRandom } from '../time.js'
import { hostOf } from '../url/canonicalize.js'
import { sameSite } from '../url/scope/rules.js'
import type { ScopeRule } from '../url/scope/scope.js'
import { loadSiteOf } from '../url/site.js'
import type { Closer } from './closing.js'
import { hostAccess } from './host-rules.js'
import { openFilesLimit } from './open-files.js'

/** The share of the files which the process may open that are connections. The store, DNS and the program need some, too. */
const SHARE_OF_FILES = 0.75
/** Each takes some 20 KB of memory, also while it is idle. */
const MOST_CONNECTIONS = 20_000
/** Idle connections beyond those in use where the limit on open files is not known. */
const SPARE_CONNECTIONS = 500

/** As many as a sitemap may have. Real pages have hundreds of links; the index of a large handbook has 17,000. */
const LINKS_PER_PAGE = 50_000

export function clockOf({ clock }: Pick<CrawlOptions, 'clock'>): Clock {
  return clock ?? systemClock()
}

export function randomOf({ random }: Pick<CrawlOptions, 'random'>): Random {
  return random ?? systemRandom()
}

export function storeOf({ store }: Pick<CrawlOptions, 'store'>): Store {
  return store ?? memory()
}

/** The state that hooks and revisits write to. It ends with the run if the store keeps none. */
export function stateOf(state: StateStore | undefined): StateStore {
  return state === undefined || state === forgetful ? memoryState() : state
}

/** With a limit per site, all hosts of a site share a partition, because one shard counts its pages. */
export async function partitionerOf(
  options: Pick<CrawlOptions, 'partitioner' | 'limit'>,
): Promise<HostPartitioner> {
  if (options.partitioner !== undefined) return options.partitioner
  return limitsSites(options) ? byDomain(await loadSiteOf()) : byHost()
}

export function limitsSites({ limit }: Pick<CrawlOptions, 'limit'>): boolean {
  return limit.pagesPerSite < Number.POSITIVE_INFINITY
}

export function scopeOf({ scope }: Pick<CrawlOptions, 'scope'>): ScopeRule {
  return scope ?? sameSite()
}

export function digestOf({ digest }: Pick<CrawlOptions, 'digest'>): typeof contentDigest {
  return digest ?? contentDigest
}

export function maxLinksPerPage({ traps }: Pick<CrawlOptions, 'traps'>): number {
  return traps?.linksPerPage ?? LINKS_PER_PAGE
}

/** The caller closes the resolver that this makes, but not the user's own. */
export function resolverOf({ resolver, access }: CrawlOptions, clock: Clock, closers: Closer[]): Resolver {
  if (resolver !== undefined) return resolver
  const { dnsServers: servers } = access
  const made = cachingResolver({ clock, ...(servers && { servers }) })
  closers.push(['the resolver', () => made.close()])
  return made
}

/** `trusted` are the hosts and origins of the seeds: they may be private, and get the headers that may hold a secret. */
export function httpFetcherOf(
  options: CrawlOptions,
  trusted: TrustedNames,
  clock: Clock,
  resolver: Resolver,
  cookies: Cookies | undefined,
): HttpFetcher {
  const { allowPrivate, dnsServers: _, ...access } = options.access
  const allowed = allowPrivate === 'all' ? undefined : new Set(allowPrivate)
  const secret = Object.keys(options.headers).length > 0 ? options.headers : undefined
  const fetching: HttpFetcherOptions = {
    ...access,
    proxy: options.proxy,
    userAgent: options.userAgent,
    headers: options.headersEverywhere,
    headersFor: secret && ((origin) => (trusted.hasOrigin(origin) ? secret : undefined)),
    hosts: hostAccess(options, (origin) => trusted.hasOrigin(origin)),
    maxBodyBytes: options.maxBodyBytes,
    connectionsPerHost: options.perHost.connections,
    maxConnections: connectionsOf(options),
    keepAliveMs: options.connections.keepMs,
    connectTimeoutMs: options.timeout.fetchMs,
    resolver,
    clock,
    allowsAddress: (hostname) => allowed === undefined || allowed.has(hostname),
    trusted,
  }
  const { bandwidth } = options.limit
  const isLimited = bandwidth < Number.POSITIVE_INFINITY
  return fetcherWith(fetching, cookies, isLimited ? new Bandwidth(bandwidth, options.line) : undefined)
}

/** How many connections this thread may have: all threads of a process share its files. */
function connectionsOf({ connections, concurrency, workers }: CrawlOptions): number {
  const threads = Math.max(1, workers.count)
  const files = openFilesLimit()
  if (connections.most === undefined && files === undefined) return concurrency + SPARE_CONNECTIONS
  const most = connections.most ?? Math.min(Math.floor(files! * SHARE_OF_FILES), MOST_CONNECTIONS)
  return Math.max(1, Math.floor(most / threads))
}

/** The cookies of the crawl. They end with the run if the store keeps nothing. */
export function cookiesOf(options: CrawlOptions, state: StateStore): Cookies | undefined {
  const { access, fetcher } = options
  if (fetcher !== undefined || !keepsCookies(options)) return undefined
  const hosts = new Set(sessionsOf(options).map(({ login }) => hostOf(login)))
  return Cookies.load({
    space: state === forgetful ? undefined : state.space('cookies'),
    ...(!access.cookies && { keeps: (host) => hosts.has(host) }),
  })
}

/** Whether cookies are kept, of all hosts or only of those with a session. A module may be a session too. */
export function keepsCookies({ access, hooks }: Pick<GivenOptions, 'access' | 'hooks'>): boolean {
  return access.cookies || hooks.some((hook) => 'session' in hook)
}

export function sessionsOf({ hooks }: Pick<CrawlOptions, 'hooks'>): SessionSettings[] {
  return hooks.flatMap(({ session }) => (session === undefined ? [] : [session as SessionSettings]))
}
