import type { EventEmitter } from 'eventemitter3'
import { AbortGrace } from '../engine/abort-grace.js'
import { WELL_KNOWN_SITEMAP } from '../engine/admission/admission.js'
import { Delivery, type PageReader } from '../engine/delivery.js'
import type { CrawlEvents } from '../engine/events.js'
import { assertNotFollowed } from '../engine/feeds/followed-feeds.js'
import type { OffloadParts } from '../engine/hooks/offload.js'
import type { EarlierRuns, EngineParts, EngineRules } from '../engine/parts.js'
import { assertNotRefreshed } from '../engine/refresh/known-pages.js'
import { KumoError, messageOf } from '../errors.js'
import type { Exchange } from '../exchange/contract.js'
import { soleExchange } from '../exchange/sole.js'
import { extraction } from '../extract/by-type.js'
import type { Page } from '../extract/contract.js'
import { sameContent } from '../extract/digest/same-content.js'
import { FetchedPage } from '../extract/page.js'
import type { RobotsGate } from '../fetch/robots/contract.js'
import { productName, robotsGate } from '../fetch/robots/gate.js'
import type { HookContext, HookPeers } from '../hooks/contract.js'
import { Sessions } from '../hooks/session/sessions.js'
import type { CrawlOptions } from '../options/options.js'
import { knownSeeds, readSeeds } from '../options/seeds.js'
import { allExtractors } from '../options/user-code.js'
import { soleOwner } from '../partition/ownership.js'
import type { RefreshRules } from '../refresh/contract.js'
import { RefreshSchedule } from '../refresh/refresh-schedule.js'
import { NameSet, TrustedNames } from '../seen/trusted-names.js'
import type {
  Membership,
  Outbox,
  ShardContext,
  StateStore,
  StoreContext,
  StoreEvent,
} from '../stores/contract.js'
import { type Clock, type Random, Waits } from '../time.js'
import type { MaybePromise } from '../types.js'
import { hostOf, originOf } from '../url/canonicalize.js'
import { fingerprintText } from '../url/fingerprint.js'
import { urlRewriter } from '../url/rewrite.js'
import { all, any, not } from '../url/scope/combine.js'
import { Priorities } from '../url/scope/priorities.js'
import { RuleUse } from '../url/scope/rule-use.js'
import type { ScopeRule } from '../url/scope/scope.js'
import { loadSiteOf } from '../url/site.js'
import { parameterFilter } from '../url/tracking.js'
import { traps } from '../url/traps/traps.js'
import { openCache } from '../warc/cache.js'
import { type Closer, closeAll } from './closing.js'
import {
  hostAgents,
  hostPages,
  hostRetries,
  mostConnections,
  productOf,
  withHostDelays,
} from './host-rules.js'
import {
  clockOf,
  cookiesOf,
  digestOf,
  httpFetcherOf,
  keepsCookies,
  limitsSites,
  maxLinksPerPage,
  partitionerOf,
  randomOf,
  resolverOf,
  scopeOf,
  sessionsOf,
  stateOf,
  storeOf,
} from './plan-defaults.js'
import { feedPartsOf } from './plan-feeds.js'
import { openStore, storeContext } from './plan-store.js'
import { packPage, unpackPage } from './threads/packed-page.js'

export interface Plan {
  readonly parts: EngineParts
  readonly rules: EngineRules
  /** Where batches for other shards survive a crash. */
  readonly outbox: Outbox | undefined
}

/** Where pages and events leave the engine. */
export interface EngineOutputs {
  readonly events: EventEmitter<CrawlEvents>
  readonly reader: PageReader | undefined
}

/** Parts that differ when there are several shards. */
interface ShardOverrides
  extends Pick<
    EngineParts,
    'ownership' | 'budget' | 'requestBudget' | 'earlierRuns' | 'reportCounts' | 'onPageDone' | 'inFlight'
  > {
  readonly shard: ShardContext
  readonly clock: Clock
  /**
   * Called once the store is open, because batches may survive a crash in its outbox. `membership`: the store shares the
   * crawl among processes, and this shard is one of its members.
   */
  exchange(outbox: Outbox | undefined, membership: Membership | undefined): Exchange
  report(event: StoreEvent): void
  /** The copies of a hook in the other workers; `hook` is its place among the hooks. */
  peersOf(hook: number): HookPeers
  /** Receives what would otherwise be a warning of the process. */
  warn(message: string): void
  advise(message: string): void
}

/**
 * Builds and opens every part of a shard: those of the user, and defaults (plan-defaults.ts) for the rest. If one cannot
 * be opened, closes those that are open and throws.
 */
export async function plan(
  options: CrawlOptions,
  { events, reader }: EngineOutputs,
  overrides?: ShardOverrides,
): Promise<Plan> {
  const clock = overrides?.clock ?? clockOf(options)
  const random = randomOf(options)
  const closers: Closer[] = []
  const { unsupported } = storeOf(options)
  if (options.refresh !== undefined && unsupported?.refresh !== undefined)
    throw new KumoError('KUMO_INVALID_OPTION', `refresh: ${unsupported.refresh}`)
  try {
    let delivery: Delivery | undefined
    // Events of a store that is still opening wait for the listeners.
    const early: StoreEvent[] = []
    const report = (event: StoreEvent) =>
      void (delivery === undefined ? early.push(event) : delivery.emit('store', event))
    const partitioner = await partitionerOf(options)
    const schedule = options.refresh && scheduleOf(options.refresh, options)
    const context: StoreContext = {
      ...storeContext(options, partitioner, clock, schedule),
      report: overrides?.report ?? report,
      shard: overrides?.shard,
    }
    const { outbox, ...stored } = await openStore(options, context, closers)
    const { state } = stored.storeState
    const hookState = stateOf(state)
    if (schedule === undefined) await assertNotRefreshed(state)
    if (options.feeds === undefined) await assertNotFollowed(state)
    const ruleUse = new RuleUse()
    const scope = wholeScope(options, ruleUse).start()
    const blocked =
      options.block.length > 0 ? ruleUse.watch('block', any(...options.block)).start() : undefined
    const priorities = options.prioritize.length > 0 ? new Priorities(options.prioritize) : undefined
    const trusted = new TrustedNames(state.space('addresses'))
    const { withoutParameters, rewrite } = spellingOf(options)
    const spelled = (seed: string) => orItself(seed, rewrite)
    const trust = (seed: string) => {
      // Where the program's own rules lead from a seed is as trusted as the seed.
      for (const url of new Set([seed, spelled(seed)])) trusted.add(hostOf(url), originOf(url))
    }
    const cookies = cookiesOf(options, state)
    const web =
      options.fetcher ?? httpFetcherOf(options, trusted, clock, resolverOf(options, clock, closers), cookies)
    const fetcher = options.cache
      ? await openCache(web, options.cache, overrides?.shard.index ?? 0, clock)
      : web
    closers.push(['the fetcher', () => fetcher.close?.()])
    const robots = withHostDelays(options.robots.obey ? gateOf(options, random) : OPEN_GATE, options)
    const step = extraction({
      extractors: allExtractors(options),
      clock,
      timeoutMs: options.timeout.extractMs,
      productOf: productOf(options),
    })
    closers.push(['an extractor', () => step.close()])
    await openPart('an extractor', () => step.open())
    // Opened later, and closed after the hooks: until then they talk to each other.
    let exchange: Exchange | undefined
    closers.push(['the exchange', () => exchange?.close()])
    for (const [at, hook] of options.hooks.entries()) {
      const context: HookContext = {
        state: hookState.space(`hook ${hook.name}`),
        worker: overrides?.shard.index ?? 0,
        peers: overrides?.peersOf(at),
      }
      await openPart(`hook '${hook.name}'`, () => hook.open?.(context))
      closers.push([`hook '${hook.name}'`, () => hook.close?.()])
    }
    await openPart('the scope', () => scope.open?.())
    await openPart('the block-list', () => blocked?.open?.())
    await openPart('a rule of prioritize()', () => priorities?.open())
    const siteOf = limitsSites(options) ? await loadSiteOf() : (host: string) => host
    // Every known seed defines the scope from the first page on, even if it is fetched much later.
    for (const seed of knownSeeds(options.seeds)) {
      scope.addSeed?.(spelled(seed))
      priorities?.addSeed(spelled(seed))
      trust(seed)
    }
    const seeds = state.space('seeds')
    const recorded = new NameSet()
    for await (const [, seed] of seeds.entries()) {
      recorded.add(String(seed))
      scope.addSeed?.(spelled(String(seed)))
      priorities?.addSeed(spelled(String(seed)))
      trust(String(seed))
    }
    const sessions = openSessions(options, hookState, clock, closers)
    const { membership } = stored
    exchange = overrides?.exchange(outbox, membership) ?? membership?.exchange ?? soleExchange()
    delivery = new Delivery({
      clock,
      hooks: options.hooks,
      events,
      reader,
      timeoutMs: options.timeout.hookMs,
      warn: overrides?.warn,
      advise: overrides?.advise,
      offload: offloadOf(membership, options),
    })
    for (const event of early) void delivery.emit('store', event)
    const hooks = delivery
    if (hooks.hasFlushes) stored.storeState.beforeCommit?.(() => hooks.flush())
    const parts: EngineParts = {
      clock,
      random,
      ...stored,
      partitioner,
      ownership: soleOwner(),
      ...(overrides && partsOf(overrides)),
      ...(membership && withOthers(membership, options, overrides?.earlierRuns)),
      exchange,
      robots,
      fetcher,
      extraction: step,
      scope,
      blocked,
      languageOf,
      ruleUse,
      priorities,
      siteOf,
      withoutParameters,
      rewrite,
      ...trapsOf(options),
      onSeed: (seed, isOwn) => {
        trust(seed)
        if (!isOwn || recorded.has(seed)) return
        recorded.add(seed)
        seeds.put(fingerprintText(seed), seed)
      },
      delivery,
      refresh: schedule && {
        schedule,
        state: hookState,
        digest: digestOf(options),
        roundsStartedByMain: overrides !== undefined && membership === undefined,
        replaces: overrides?.shard.replaces === true,
      },
      feeds: feedPartsOf(options, hookState, overrides === undefined || membership !== undefined),
      // With several shards, the thread that started them reads the seeds.
      seeds: overrides === undefined ? readSeeds(options.seeds) : [].values(),
      sessions,
      onHostsLeft: (isGone) => {
        cookies?.forget(isGone)
        sessions?.forget(isGone)
      },
      close: (grace) => closeAll(closers, new Waits(clock, options.timeout.hookMs), clock, grace),
    }
    const isFed = overrides === undefined ? options.keepOpen : membership !== undefined
    return { parts, rules: rulesOf(options, isFed), outbox }
  } catch (error) {
    const waits = new Waits(clock, options.timeout.hookMs)
    await closeAll(closers, waits, clock, new AbortGrace(clock)).catch(() => {})
    throw error
  }
}

function openSessions(
  options: CrawlOptions,
  state: StateStore,
  clock: Clock,
  closers: Closer[],
): Sessions | undefined {
  const settings = sessionsOf(options)
  if (settings.length === 0) return undefined
  const waits = new Waits(clock, options.timeout.hookMs)
  closers.push(['a session', () => waits.close()])
  return new Sessions(settings, {
    records: state.space('sessions'),
    waits,
    openedAt: clock.now(),
    pageOf: (request, response) =>
      new FetchedPage(
        request,
        response,
        { fetchedAt: clock.now(), fetchMs: 0 },
        productName(options.userAgent),
      ),
  })
}

function scheduleOf(rules: RefreshRules, { concurrency, delayMs }: CrawlOptions): RefreshSchedule {
  return new RefreshSchedule(rules, { sockets: concurrency, minIntervalMs: delayMs })
}

function partsOf(overrides: ShardOverrides): Partial<EngineParts> {
  const { ownership, budget, requestBudget, earlierRuns, reportCounts, onPageDone, inFlight } = overrides
  return { ownership, budget, requestBudget, earlierRuns, reportCounts, onPageDone, inFlight }
}

/** A frontier of the user's own does not pass documents on. */
function offloadOf(membership: Membership | undefined, options: CrawlOptions): OffloadParts | undefined {
  const work = options.frontier === undefined ? membership?.work : undefined
  const product = productOf(options)
  return work && { work, pack: packPage, unpack: (packed) => unpackPage(packed, product) }
}

/** The parts that differ when other processes share the crawl. `given`: what the main thread knows, if this is a worker. */
function withOthers(
  membership: Membership,
  { limit }: CrawlOptions,
  given: EarlierRuns | undefined,
): Partial<EngineParts> {
  const { ownership, joinedAfter } = membership
  const { pages, requests } = membership.limit(limit)
  const nextRound = given?.nextRound
  // The first one restores what earlier runs have counted.
  const earlierRuns = joinedAfter === undefined ? undefined : { runs: joinedAfter, wasDone: false, nextRound }
  return { ownership, budget: pages, requestBudget: requests, earlierRuns }
}

/** @throws KumoError `KUMO_OPEN_FAILED`, naming the part. */
export async function openPart(name: string, open: () => MaybePromise<unknown>): Promise<void> {
  try {
    await open()
  } catch (cause) {
    throw new KumoError('KUMO_OPEN_FAILED', `${name} could not be opened: ${messageOf(cause)}`, { cause })
  }
}

/** The scope, narrowed by `include` and `exclude`. */
function wholeScope(options: CrawlOptions, use: RuleUse): ScopeRule {
  const { scope, include, exclude } = options
  const rules = [scope === undefined ? scopeOf(options) : use.watch('scope', scope)]
  if (include.length > 0) rules.push(use.watch('include', any(...include)))
  if (exclude.length > 0) rules.push(use.watch('exclude', not(...exclude)))
  return rules.length === 1 ? rules[0]! : all(...rules)
}

/** The language with its region or script, if the page declares them. */
function languageOf({ language: { code, declared } }: Page): string | undefined {
  return declared?.toLowerCase().split('-')[0] === code ? declared : code
}

function gateOf(options: CrawlOptions, random: Random): RobotsGate {
  const { userAgent, robots, sitemaps } = options
  return robotsGate({
    userAgent,
    userAgentFor: hostAgents(options),
    random,
    maxDelayMs: robots.maxDelayMs,
    sitemaps: sitemaps.wellKnown ? [WELL_KNOWN_SITEMAP] : [],
  })
}

function spellingOf({
  urls,
  rewrite: rules,
}: CrawlOptions): Pick<EngineParts, 'withoutParameters' | 'rewrite'> {
  const withoutParameters = urls.drop.length > 0 ? parameterFilter(urls.drop) : undefined
  return { withoutParameters, rewrite: rules.length > 0 ? urlRewriter(rules, withoutParameters) : undefined }
}

/** A seed that cannot be rewritten fails when it is admitted. */
function orItself(seed: string, rewrite: ((url: string) => string) | undefined): string {
  try {
    return rewrite?.(seed) ?? seed
  } catch {
    return seed
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

/**
 * With several shards, the thread that started them keeps the crawl open. If each of them is a member of a crawl that
 * processes share, it stays open until that thread has nothing more to add.
 */
function rulesOf(options: CrawlOptions, isKeptOpen: boolean): EngineRules {
  return {
    isKeptOpen,
    concurrency: options.concurrency,
    fetchTimeoutMs: options.timeout.fetchMs,
    delayMs: options.delayMs,
    maxDepth: options.depth,
    connectionsPerHost: mostConnections(options),
    limit: options.limit,
    hostPages: hostPages(options),
    hostRetries: hostRetries(options),
    ...options.retries,
    retries: options.retries.times,
    retryStatuses: options.retries.statuses && new Set(options.retries.statuses),
    retryWhen: options.retryWhen,
    retryFailed: options.retryFailed,
    maxRedirects: options.redirects,
    followsLoops: keepsCookies(options),
    adaptive: options.adaptive,
    truncateBodies: options.truncateBodies,
    maxLinksPerPage: maxLinksPerPage(options),
    nofollow: options.robots.nofollow,
    followCanonical: options.urls.canonical === 'follow',
    // What a sitemap lists is one link away from a seed.
    sitemapEntriesPerHost: options.sitemaps.read && options.depth >= 1 ? options.sitemaps.urlsPerHost : 0,
  }
}

/** For `.robots(false)`: allows everything and never asks for robots.txt. */
const OPEN_GATE: RobotsGate = {
  check: () => 'allow',
  learn: () => {},
  delayMs: () => undefined,
  takeSitemaps: () => [],
}
