import { EventEmitter } from 'eventemitter3'
import { AbortGrace } from '../engine/abort-grace.js'
import { WELL_KNOWN_SITEMAP } from '../engine/admission/admission.js'
import { Delivery, type PageReader } from '../engine/delivery.js'
import type { CrawlEvents } from '../engine/events.js'
import type { EngineParts, EngineRules } from '../engine/parts.js'
import { assertNotRefreshed } from '../engine/refresh/known-pages.js'
import { KumoError, messageOf } from '../errors.js'
import type { Exchange } from '../exchange/contract.js'
import { localMesh } from '../exchange/local.js'
import { extraction } from '../extract/by-type.js'
import { contentDigest } from '../extract/digest/content-digest.js'
import { fieldExtractor } from '../extract/fields.js'
import { cachingResolver, type Resolver } from '../fetch/dns/resolver.js'
import { httpFetcher } from '../fetch/http/http.js'
import type { RobotsGate } from '../fetch/robots/contract.js'
import { productName, robotsGate } from '../fetch/robots/gate.js'
import type { CrawlOptions } from '../options/options.js'
import { knownSeeds, readSeeds } from '../options/seeds.js'
import { soleOwner } from '../partition/ownership.js'
import type { RefreshRules } from '../refresh/contract.js'
import { RefreshSchedule } from '../refresh/refresh-schedule.js'
import { NameSet, TrustedNames } from '../seen/trusted-names.js'
import type { Outbox, ShardContext, StoreContext, StoreEvent } from '../stores/contract.js'
import { forgetful, memoryState } from '../stores/memory-state.js'
import { type Clock, type Random, systemClock, systemRandom, Waits } from '../time.js'
import type { MaybePromise } from '../types.js'
import { hostOf, originOf } from '../url/canonicalize.js'
import { fingerprintText } from '../url/fingerprint.js'
import { all, any, not } from '../url/scope/combine.js'
import { sameSite } from '../url/scope/rules.js'
import type { ScopeRule } from '../url/scope/scope.js'
import { loadSiteOf } from '../url/site.js'
import { parameterFilter } from '../url/tracking.js'
import { sameContent } from '../url/traps/same-content.js'
import { traps } from '../url/traps/traps.js'
import { type Closer, closeAll } from './closing.js'
import { limitsSites, openStore, partitionerOf, storeContext } from './plan-store.js'

/** Idle connections besides those in use, so that a host's next visit finds its connection open. */
const SPARE_CONNECTIONS = 500

/** As many as a sitemap may have. Real pages have hundreds of links; the index of a large handbook has 17,000. */
const LINKS_PER_PAGE = 50_000

export interface Plan {
  readonly parts: EngineParts
  readonly rules: EngineRules
  /** Where batches on their way to other shards outlive a crash. */
  readonly outbox: Outbox | undefined
}

/** What a shard of several is given in place of the parts of one that is alone. */
export interface ShardPlace
  extends Pick<
    EngineParts,
    'ownership' | 'budget' | 'requestBudget' | 'earlierRuns' | 'reportCounts' | 'pageOver' | 'inFlight'
  > {
  readonly shard: ShardContext
  readonly clock: Clock
  readonly reader: PageReader | undefined
  /** Made once the store is open, for batches may outlive a crash in it. */
  exchange(outbox: Outbox | undefined): Exchange
  report(event: StoreEvent): void
  /** Told what would be a warning of the process. */
  warn(message: string): void
  advise(message: string): void
}

/** The clock that a run goes by. */
export function clockOf(options: Pick<CrawlOptions, 'clock'>): Clock {
  return options.clock ?? systemClock()
}

/** Chooses and builds what the user left open, and opens everything. The only file that knows the defaults. */
export async function plan(
  options: CrawlOptions,
  reader: PageReader | undefined,
  place?: ShardPlace,
): Promise<Plan> {
  const clock = place?.clock ?? clockOf(options)
  const random = options.random ?? systemRandom()
  const closers: Closer[] = []
  try {
    let delivery: Delivery | undefined
    const early: StoreEvent[] = []
    const report = (event: StoreEvent) =>
      void (delivery === undefined ? early.push(event) : delivery.emit('store', event))
    const partitioner = await partitionerOf(options)
    const refresher = options.refresh && refresherOf(options.refresh, options)
    const context: StoreContext = {
      ...storeContext(options, partitioner, clock, refresher),
      report: place?.report ?? report,
      shard: place?.shard,
    }
    const { outbox, ...stored } = await openStore(options, context, closers)
    const { state } = stored.memory
    const hookState = state === forgetful ? memoryState() : state
    if (refresher === undefined) await assertNotRefreshed(state)
    const scope = scopeOf(options).start()
    const blocked = options.block.length > 0 ? any(...options.block).start() : undefined
    const named = new TrustedNames(state.space('addresses'))
    const name = (seed: string) => named.add(hostOf(seed), originOf(seed))
    const fetcher =
      options.fetcher ?? defaultFetcher(options, named, clock, resolverOf(options, clock, closers))
    closers.push(['the fetcher', () => fetcher.close?.()])
    const robots = options.robots.obey ? await gateOf(options, random) : OPEN_GATE
    const fields = Object.keys(options.fields).length > 0 ? [fieldExtractor(options.fields)] : []
    const extractors = [...fields, ...options.extractors]
    const step = extraction({
      extractors,
      clock,
      timeoutMs: options.timeout.extractMs,
      product: productName(options.userAgent),
    })
    closers.push(['an extractor', () => step.close()])
    await opened('an extractor', () => step.open())
    for (const hook of options.hooks) {
      const memory = { state: hookState.space(`hook ${hook.name}`) }
      await opened(`hook '${hook.name}'`, () => hook.open?.(memory))
      closers.push([`hook '${hook.name}'`, () => hook.close?.()])
    }
    await opened('the scope', () => scope.open?.())
    await opened('the block-list', () => blocked?.open?.())
    const siteOf = limitsSites(options) ? await loadSiteOf() : asItIs
    // All seeds that are known now count for the scope from the first page on, whenever their turn comes.
    for (const seed of knownSeeds(options.seeds)) {
      scope.addSeed?.(seed)
      name(seed)
    }
    const seeds = state.space('seeds')
    const recorded = new NameSet()
    for await (const [, seed] of seeds.entries()) {
      recorded.add(String(seed))
      scope.addSeed?.(String(seed))
      name(String(seed))
    }
    const exchange = place?.exchange(outbox) ?? localMesh(1)[0]!
    closers.push(['the exchange', () => exchange.close()])
    delivery = new Delivery({
      clock,
      hooks: options.hooks,
      events: emitterOf(options),
      reader: place?.reader ?? reader,
      timeoutMs: options.timeout.hookMs,
      warn: place?.warn,
      advise: place?.advise,
    })
    for (const event of early) void delivery.emit('store', event)
    const parts: EngineParts = {
      clock,
      random,
      ...stored,
      partitioner,
      ownership: soleOwner(),
      ...(place && placed(place)),
      exchange,
      robots,
      fetcher,
      extraction: step,
      scope,
      blocked,
      siteOf,
      withoutParameters: options.urls.drop.length > 0 ? parameterFilter(options.urls.drop) : undefined,
      ...trapsOf(options),
      onSeed: (seed, isOwn) => {
        name(seed)
        if (!isOwn || recorded.has(seed)) return
        recorded.add(seed)
        seeds.put(fingerprintText(seed), seed)
      },
      delivery: delivery,
      refresh: refresher && {
        schedule: refresher,
        state: hookState,
        digest: options.digest ?? contentDigest,
        isLed: place !== undefined,
        replaces: place?.shard.replaces === true,
      },
      // Of several shards none reads them: whoever started the shards does.
      seeds: place === undefined ? readSeeds(options.seeds) : [].values(),
      close: (grace) => closeAll(closers, new Waits(clock, options.timeout.hookMs), clock, grace),
    }
    return { parts, rules: rulesOf(options), outbox: outbox }
  } catch (error) {
    const waits = new Waits(clock, options.timeout.hookMs)
    await closeAll(closers, waits, clock, new AbortGrace(clock)).catch(() => {})
    throw error
  }
}

function refresherOf(rules: RefreshRules, { concurrency, delayMs }: CrawlOptions): RefreshSchedule {
  return new RefreshSchedule(rules, { sockets: concurrency, minIntervalMs: delayMs })
}

function placed(place: ShardPlace): Partial<EngineParts> {
  const {
    ownership,
    budget,
    requestBudget,
    earlierRuns: earlier,
    reportCounts: tellCounts,
    pageOver,
    inFlight,
  } = place
  return {
    ownership,
    budget,
    requestBudget,
    earlierRuns: earlier,
    reportCounts: tellCounts,
    pageOver,
    inFlight: inFlight,
  }
}

export async function opened(what: string, open: () => MaybePromise<unknown>): Promise<void> {
  try {
    await open()
  } catch (error) {
    throw new KumoError('KUMO_OPEN_FAILED', `${what} could not be opened: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

function scopeOf({ scope, include, exclude }: CrawlOptions): ScopeRule {
  const rules: ScopeRule[] = [scope ?? sameSite()]
  if (include.length > 0) rules.push(any(...include))
  if (exclude.length > 0) rules.push(not(...exclude))
  return rules.length === 1 ? rules[0]! : all(...rules)
}

/** A resolver that the user brought is the user's to close. */
function resolverOf({ access }: CrawlOptions, clock: Clock, closers: Closer[]): Resolver {
  if (access.resolver !== undefined) return access.resolver
  const resolver = cachingResolver({ clock, ...(access.dnsServers && { servers: access.dnsServers }) })
  closers.push(['the resolver', () => resolver.close()])
  return resolver
}

function defaultFetcher(options: CrawlOptions, named: TrustedNames, clock: Clock, resolver: Resolver) {
  const { allowPrivate, resolver: _, dnsServers: __, ...access } = options.access
  const allowed = allowPrivate === 'all' ? undefined : new Set(allowPrivate)
  const secret = Object.keys(options.headers).length > 0 ? options.headers : undefined
  const given = Object.entries(access).filter(([, value]) => value !== undefined)
  return httpFetcher({
    ...Object.fromEntries(given),
    userAgent: options.userAgent,
    headers: options.headersEverywhere,
    headersFor: secret && ((origin) => (named.hasOrigin(origin) ? secret : undefined)),
    maxBodyBytes: options.maxBodyBytes,
    connectionsPerHost: options.perHost.connections,
    maxConnections: options.concurrency + SPARE_CONNECTIONS,
    connectTimeoutMs: options.timeout.fetchMs,
    resolver,
    clock,
    allowsAddress: (hostname) => allowed === undefined || allowed.has(hostname),
    trusted: named,
  })
}

async function gateOf(options: CrawlOptions, random: Random): Promise<RobotsGate> {
  const gate = await robotsGate({
    userAgent: options.userAgent,
    random,
    maxDelayMs: options.robots.maxDelayMs,
  })
  if (!options.sitemaps.wellKnown) return gate
  return {
    check: (request, now) => gate.check(request, now),
    learn: (origin, fetched, outcome, now) => gate.learn(origin, fetched, outcome, now),
    delayMs: (request) => gate.delayMs(request),
    takeSitemaps: (origin) => [...gate.takeSitemaps(origin), WELL_KNOWN_SITEMAP],
    record: (origin) => gate.record(origin),
    restore: (record) => gate.restore(record),
  }
}

function trapsOf({ traps: limits }: CrawlOptions): Pick<EngineParts, 'trap' | 'sameContent'> {
  if (limits === undefined) return {}
  const { linksPerPage: _, sameContent: repeats, ...bounds } = limits
  const urls = traps(bounds)
  const contents = sameContent({ repeats })
  return {
    trap: (url) => urls.check(url),
    sameContent: (host, page) => contents.isRepeated(host, page.url, page.body),
  }
}

function asItIs(host: string): string {
  return host
}

function emitterOf(options: CrawlOptions): EventEmitter<CrawlEvents> {
  const events = new EventEmitter<CrawlEvents>()
  for (const [event, listener] of options.listeners)
    events.on(event, listener as (...args: unknown[]) => void)
  return events
}

function rulesOf(options: CrawlOptions): EngineRules {
  return {
    concurrency: options.concurrency,
    fetchTimeoutMs: options.timeout.fetchMs,
    delayMs: options.delayMs,
    maxDepth: options.depth,
    connectionsPerHost: options.perHost.connections,
    limit: options.limit,
    ...options.retries,
    retries: options.retries.times,
    retryFailed: options.retryFailed,
    maxRedirects: options.redirects,
    circles: options.access.cookies,
    adaptive: options.adaptive,
    truncateBodies: options.truncateBodies,
    maxLinksPerPage: options.traps?.linksPerPage ?? LINKS_PER_PAGE,
    nofollow: options.robots.nofollow,
    followCanonical: options.urls.canonical === 'follow',
    // What a sitemap names is one link away.
    sitemapEntriesPerHost: options.sitemaps.read && options.depth >= 1 ? options.sitemaps.urlsPerHost : 0,
  }
}

/** `.robots(false)`: the operator answers for the hosts it crawls. */
const OPEN_GATE: RobotsGate = {
  check: () => 'allow',
  learn: () => {},
  delayMs: () => undefined,
  takeSitemaps: () => [],
}
