import { EventEmitter } from 'eventemitter3'
import type { CrawlEvents } from './engine/events.js'
import { Outlet, type Reader } from './engine/outlet.js'
import type { EngineRules, Parts } from './engine/parts.js'
import { Patience } from './engine/patience.js'
import { KumoError, messageOf } from './errors.js'
import { localMesh } from './exchange/local.js'
import { extraction } from './extract/by-type.js'
import { fieldExtractor } from './extract/fields.js'
import { httpFetcher } from './fetch/http.js'
import { robotsGate } from './fetch/robots.js'
import type { RobotsGate } from './fetch/robots-contract.js'
import type { Frontier } from './frontier/contract.js'
import { firstCome } from './frontier/selection.js'
import { type CrawlOptions, frontierPart } from './options.js'
import { byHost } from './partition/by-host.js'
import { soleOwner } from './partition/ownership.js'
import { knownSeeds, readSeeds } from './seeds.js'
import type { StoreContext } from './stores/contract.js'
import { memory } from './stores/memory.js'
import { type Clock, LATE, systemClock, systemRandom, Waits, within } from './time.js'
import type { MaybePromise } from './types.js'
import { all, any, not } from './url/combine.js'
import { sameSite } from './url/rules.js'
import type { ScopeRule } from './url/scope.js'

/** Waits before the first retry of a failed request, and never longer than the second figure. */
const BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 60_000
/** Browsers give up at 20; a crawler gains nothing from the second ten. */
const MAX_REDIRECTS = 10
/** Idle connections kept besides those in use, so that a host's next visit finds its connection open. */
const SPARE_CONNECTIONS = 500

/** After an abort nobody waits longer than this for one part to close. */
const HASTY_CLOSE_MS = 250

export interface Plan {
  readonly parts: Parts
  readonly rules: EngineRules
}

/** The clock that a run goes by. */
export function clockOf(options: CrawlOptions): Clock {
  return options.clock ?? systemClock()
}

/** Chooses and builds what the user left open, and opens everything. The only file that knows the defaults. */
export async function plan(options: CrawlOptions, reader: Reader | undefined): Promise<Plan> {
  const clock = clockOf(options)
  const random = options.random ?? systemRandom()
  const closers: Closer[] = []
  try {
    const partitioner = options.partition ?? byHost()
    const politeness = { delayMs: options.delayMs, ...options.perHost }
    const { partitions } = partitioner
    const stored = await openStore(options, { politeness, policy: firstCome, clock, partitions }, closers)
    const scope = scopeOf(options).start()
    const fetcher = options.fetcher ?? defaultFetcher(options)
    closers.push(['the fetcher', () => fetcher.close?.()])
    const robots = options.robots ? await robotsGate({ userAgent: options.userAgent, random }) : OPEN_GATE
    const fields = Object.keys(options.fields).length > 0 ? [fieldExtractor(options.fields)] : []
    const extractors = [...fields, ...options.extractors]
    const step = extraction({ extractors, clock, timeoutMs: options.timeout.extractMs })
    closers.push(['an extractor', () => step.close()])
    await opened('an extractor', () => step.open())
    for (const hook of options.hooks) {
      await opened(`hook '${hook.name}'`, () => hook.open?.())
      closers.push([`hook '${hook.name}'`, () => hook.close?.()])
    }
    await opened('the scope', () => scope.open?.())
    // All seeds that are known now count for the scope from the first page on, whenever their turn comes.
    for (const seed of knownSeeds(options.seeds)) scope.addSeed?.(seed)
    const exchange = localMesh(1)[0]!
    closers.push(['the exchange', () => exchange.close()])
    const outlet = new Outlet({
      clock,
      hooks: options.hooks,
      events: emitterOf(options),
      reader,
      timeoutMs: options.timeout.hookMs,
    })
    const parts: Parts = {
      clock,
      random,
      ...stored,
      partitioner,
      ownership: soleOwner(),
      exchange,
      robots,
      fetcher,
      extraction: step,
      scope,
      outlet,
      seeds: readSeeds(options.seeds),
      close: (patience) => closeAll(closers, new Waits(clock, options.timeout.hookMs), clock, patience),
    }
    return { parts, rules: rulesOf(options) }
  } catch (error) {
    const waits = new Waits(clock, options.timeout.hookMs)
    await closeAll(closers, waits, clock, new Patience(clock)).catch(() => {})
    throw error
  }
}

async function openStore(
  options: CrawlOptions,
  context: StoreContext,
  closers: Closer[],
): Promise<Pick<Parts, 'frontier' | 'seen'>> {
  const store = options.store ?? memory()
  try {
    const open = await store.open(context)
    closers.push([`the ${store.name} store`, () => open.close()])
    const frontier = await ownFrontier(options, context)
    if (frontier !== undefined) closers.push(['the frontier', () => frontier.close()])
    if (options.seen !== undefined) closers.push(['the seen-set', () => options.seen?.close()])
    return { frontier: frontier ?? open.frontier, seen: options.seen ?? open.seen }
  } catch (error) {
    if (error instanceof KumoError) throw error
    const message = `the ${store.name} store could not be opened: ${messageOf(error)}`
    throw new KumoError('KUMO_STORE_FAILED', message, { cause: error })
  }
}

async function ownFrontier({ frontier }: CrawlOptions, context: StoreContext): Promise<Frontier | undefined> {
  if (typeof frontier !== 'function') return frontier
  try {
    return frontierPart('what the function given to frontier() returned', await frontier(context))
  } catch (error) {
    if (error instanceof KumoError) throw error
    const message = `the function given to frontier() threw: ${messageOf(error)}`
    throw new KumoError('KUMO_STORE_FAILED', message, { cause: error })
  }
}

async function opened(what: string, open: () => MaybePromise<unknown>): Promise<void> {
  try {
    await open()
  } catch (error) {
    throw new KumoError('KUMO_OPEN_FAILED', `${what} could not be opened: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** What is to be closed, for the message if it cannot be, and how. */
type Closer = readonly [what: string, close: () => MaybePromise<unknown>]

/**
 * In reverse order of opening; one that fails or is late does not keep the others open. The first failure is thrown,
 * but for being late after an abort: then nobody is waited for.
 */
async function closeAll(closers: Closer[], waits: Waits, clock: Clock, patience: Patience): Promise<void> {
  const failures: KumoError[] = []
  for (const [what, close] of closers.splice(0).reverse()) {
    try {
      const closing = close()
      if (!(closing instanceof Promise)) continue
      const hasty = patience.isAborted
      const closed = await (hasty
        ? within(clock, HASTY_CLOSE_MS, closing)
        : patience.wait(waits.wait(closing)))
      if (closed === LATE && !hasty) throw new Error(`it took longer than ${waits.ms} ms`)
    } catch (cause) {
      const message = `${what} could not be closed: ${messageOf(cause)}`
      failures.push(new KumoError('KUMO_CLOSE_FAILED', message, { cause }))
    }
  }
  waits.close()
  if (failures.length > 0) throw failures[0]
}

function scopeOf({ scope, include, exclude }: CrawlOptions): ScopeRule {
  const rules: ScopeRule[] = [scope ?? sameSite()]
  if (include.length > 0) rules.push(any(...include))
  if (exclude.length > 0) rules.push(not(...exclude))
  return rules.length === 1 ? rules[0]! : all(...rules)
}

function defaultFetcher(options: CrawlOptions) {
  return httpFetcher({
    userAgent: options.userAgent,
    headers: options.headers,
    maxBodyBytes: options.maxBodyBytes,
    connectionsPerHost: options.perHost.connections,
    maxConnections: options.concurrency + SPARE_CONNECTIONS,
    connectTimeoutMs: options.timeout.fetchMs,
  })
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
    maxDepth: options.depth,
    connectionsPerHost: options.perHost.connections,
    limit: options.limit,
    retries: options.retries,
    backoffMs: BACKOFF_MS,
    maxBackoffMs: MAX_BACKOFF_MS,
    maxRedirects: MAX_REDIRECTS,
  }
}

/** `.robots(false)`: the operator answers for the hosts it crawls. */
const OPEN_GATE: RobotsGate = {
  check: () => 'allow',
  learn: () => {},
  delayMs: () => undefined,
}
