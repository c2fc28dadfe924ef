/** Opens what belongs to the program's thread: the user's closures, and the store that the workers share. */

import { AbortGrace } from '../../engine/abort-grace.js'
import type { CrawlEvents } from '../../engine/events.js'
import { QUEUE_PAGES } from '../../engine/hooks/page-queue.js'
import { nextRoundOf, REFRESH } from '../../engine/refresh/rounds.js'
import { earlierRecords, isDone, recordName } from '../../engine/stats/ledger.js'
import { pagesForLimits } from '../../engine/stats/tally.js'
import { asKumoError, KumoError } from '../../errors.js'
import { completePage, type FetchedPage } from '../../extract/page.js'
import { loadShared } from '../../modules/load.js'
import { isModuleRef } from '../../modules/module.js'
import { closuresOf, type PortableOptions, toPortable } from '../../modules/portable.js'
import type { CrawlOptions, GivenOptions } from '../../options/options.js'
import type { SharedStore, StateSpace, StateStore, StoreEvent } from '../../stores/contract.js'
import { type Clock, Waits } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import type { Closures } from '../../workers/closures/host.js'
import { SharedFlush } from '../../workers/closures/shared-flush.js'
import { type Closer, closeAll } from '../closing.js'
import { productOf } from '../host-rules.js'
import { openPart } from '../plan.js'
import { clockOf, partitionerOf, stateOf, storeOf } from '../plan-defaults.js'
import { storeContext } from '../plan-store.js'
import type { RunOutputs } from '../run-events.js'
import { pageOf } from './packed-page.js'

/** What a `WorkerRun` is made of. */
export interface WorkerRunParts {
  readonly options: GivenOptions
  readonly portable: PortableOptions
  readonly clock: Clock
  readonly outputs: RunOutputs
  readonly closures: Closures
  /** Absent: each worker has a store of its own. */
  readonly shared: SharedStore | undefined
  readonly earlier: EarlierTotals
  /** With `refresh()` and a store that outlives the run: the round to begin with. */
  readonly nextRound: number | undefined
  /** Number of threads; never more than there are slots to share. */
  readonly shards: number
  readonly partitions: number
  partitionOf(host: string): number
  close(grace: AbortGrace): Promise<void>
}

/** What earlier runs of the crawl have counted. */
export interface EarlierTotals {
  readonly runs: number
  readonly wasDone: boolean
  /** As limits count them. */
  readonly pages: number
  readonly requests: number
  readonly bytes: number
}

export async function openWorkerRun(
  given: GivenOptions,
  outputs: RunOutputs,
  report: (event: StoreEvent) => void,
  clock = clockOf(given),
): Promise<WorkerRunParts> {
  const { unsupported } = storeOf(given as CrawlOptions)
  if (unsupported?.workers !== undefined)
    throw new KumoError('KUMO_INVALID_OPTION', `workers: ${unsupported.workers}`)
  const portable = toPortable(given)
  const closers: Closer[] = []
  const close = (grace: AbortGrace) => closeAll(closers, new Waits(clock, given.timeout.hookMs), clock, grace)
  try {
    const options = { ...given, ...(await loadShared(given)) }
    const partitioner = await partitionerOf(options)
    const store = storeOf(options)
    const shards = Math.min(given.workers.count, given.concurrency)
    const context = { ...storeContext(options, partitioner, clock), report }
    const shared = await share(store.name, () => store.share?.(context, shards))
    if (shared !== undefined) closers.push([`the ${store.name} store`, () => shared.close()])
    const state = new WatchedState(stateOf(shared?.state))
    const closures = await openClosures(given, outputs, state, shared, closers)
    return {
      options: given,
      portable,
      clock,
      outputs,
      closures,
      shared,
      earlier: await mergeEarlierRuns(shared, given.retryFailed),
      nextRound:
        shared?.state &&
        given.refresh &&
        (await nextRoundOf(
          shared.state.space(REFRESH),
          given.refresh.complete,
          // Members of a shared crawl have one record for all.
          shared.hasMembers ? 1 : shards,
        )),
      shards,
      partitions: partitioner.partitions,
      partitionOf: (host) => partitioner.partition(host),
      close,
    }
  } catch (error) {
    await close(new AbortGrace(clock)).catch(() => {})
    throw error
  }
}

async function share<T>(name: string, open: () => MaybePromise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    throw asKumoError(error, 'KUMO_STORE_FAILED', `the ${name} store could not be opened`)
  }
}

/** Merges the counts of all shards into the first shard's record, before any of them starts. */
async function mergeEarlierRuns(
  shared: SharedStore | undefined,
  retryFailed: boolean,
): Promise<EarlierTotals> {
  // Members of a shared crawl restore them themselves.
  const crawl = shared?.hasMembers ? undefined : shared?.state?.space('crawl')
  const { sum, others } = crawl === undefined ? { others: [] } : await earlierRecords(crawl)
  if (sum === undefined) return { runs: 0, wasDone: false, pages: 0, requests: 0, bytes: 0 }
  crawl!.put(recordName(0), sum)
  for (const name of others) crawl!.delete(name)
  await shared!.flush?.()
  const { runs, requests, bytes } = sum
  return { runs, wasDone: isDone(sum), pages: pagesForLimits(sum, retryFailed), requests, bytes }
}

async function openClosures(
  options: GivenOptions,
  { events, stream }: RunOutputs,
  state: WatchedState,
  shared: SharedStore | undefined,
  closers: Closer[],
): Promise<Closures> {
  const { extractors, hooks } = closuresOf(options)
  for (const extractor of extractors) {
    await openPart('an extractor', () => extractor.open?.())
    closers.push(['an extractor', () => extractor.close?.()])
  }
  for (const hook of hooks) {
    await openPart(`hook '${hook.name}'`, () => hook.open?.({ state: state.space(`hook ${hook.name}`) }))
    closers.push([`hook '${hook.name}'`, () => hook.close?.()])
  }
  const flushes = hooks.map((hook) => hook.flush && new SharedFlush(() => hook.flush?.()))
  // Workers flush what they gave; a worker that died could not.
  for (const [at, hook] of hooks.entries()) closers.push([`hook '${hook.name}'`, () => flushes[at]?.flush()])
  const product = productOf(options)
  return {
    extractors,
    hooks,
    flushHook: (closure) => flushes[closure]?.flush(),
    reader: stream,
    listeners: <E extends keyof CrawlEvents>(event: E) => events.emitter.listeners(event) as CrawlEvents[E][],
    pageOf: (content) => pageOf(content, product(content.host)),
    complete: completePage,
    setOpen: (page, isOpen) => {
      ;(page as FetchedPage).isSettled = !isOpen
    },
    takeFollowed: (page) => (page as FetchedPage).takeFollowed(),
    flush: () => (state.takeChanged() ? shared?.flush?.() : undefined),
  }
}

/** Knows whether a hook has written a record that is not on disk yet. Its page must not be settled before that. */
class WatchedState implements StateStore {
  readonly #state: StateStore
  #hasChanged = false

  constructor(state: StateStore) {
    this.#state = state
  }

  takeChanged(): boolean {
    const changed = this.#hasChanged
    this.#hasChanged = false
    return changed
  }

  space(name: string): StateSpace {
    const space = this.#state.space(name)
    return {
      get: (key, host) => space.get(key, host),
      entries: () => space.entries(),
      put: (key, value, host) => {
        this.#hasChanged = true
        space.put(key, value, host)
      },
      delete: (key, host) => {
        this.#hasChanged = true
        space.delete(key, host)
      },
    }
  }
}

/** Pages that may be in the queues of a worker's hooks. What hooks of modules ask for is not known here. */
export function mostQueued({ hooks }: GivenOptions): number {
  return hooks.reduce((sum, hook) => {
    if (isModuleRef(hook)) return sum + QUEUE_PAGES
    return sum + (hook.queue === undefined ? 0 : (hook.queue.pages ?? QUEUE_PAGES))
  }, 0)
}

/** In a crawl in rounds, a page that moves could be visited twice in a round or not at all. */
export function mayBalance({ workers, refresh }: GivenOptions): boolean {
  const isInPasses = refresh !== undefined && refresh.rounds < Number.POSITIVE_INFINITY
  return workers.balance && !isInPasses
}
