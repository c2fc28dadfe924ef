import type { Page } from '../extract/contract.js'
import type { FeedEvent } from '../feeds/follow/contract.js'
import type { Feasibility } from '../refresh/contract.js'
import type { StoreEvent } from '../stores/contract.js'
import type { Failure, Redirect, Skip } from '../types.js'
import type { Stats, Summary } from './stats/stats.js'

/** The events of a crawl. If a listener returns a promise, the crawl waits for it (back-pressure). */
export interface CrawlEvents<Data extends object = object> {
  /** A page was fetched and extracted. */
  page: (page: Page<Data>) => unknown
  /** With `feeds()`: a poll found new, changed or missing entries. */
  feed: (event: FeedEvent) => unknown
  /** A URL failed; `failure.final` is false if it will be retried. */
  failure: (failure: Failure) => unknown
  /** A URL was not fetched, or its response not used. */
  skip: (skip: Skip) => unknown
  /** The server redirected; the target is a separate request. */
  redirect: (redirect: Redirect) => unknown
  /** Once a second. */
  progress: (stats: Stats) => unknown
  /** With `refresh()`: the schedule became infeasible or feasible, or its correction changed. */
  feasibility: (feasibility: Feasibility) => unknown
  /** The store cannot write, has recovered, or repaired damaged data. */
  store: (event: StoreEvent) => unknown
  /** A worker thread crashed or hung, and was replaced. */
  worker: (event: WorkerEvent) => unknown
  /** The crawl has ended and everything is closed. */
  end: (summary: Summary) => unknown
}

/**
 * Who emits each event in a crawl with workers: the worker that visits the URL, or the main thread, which combines what
 * its workers report. The compiler demands an entry for every event, so that none is lost between the threads.
 */
export const EVENT_SOURCES = {
  page: 'worker',
  feed: 'worker',
  failure: 'worker',
  skip: 'worker',
  redirect: 'worker',
  progress: 'main',
  feasibility: 'main',
  store: 'main',
  worker: 'main',
  end: 'main',
} as const satisfies Record<keyof CrawlEvents, 'worker' | 'main'>

export const EVENT_NAMES = Object.keys(EVENT_SOURCES) as readonly (keyof CrawlEvents)[]

/** An event of a worker thread. */
export interface WorkerEvent {
  readonly kind: 'replaced'
  /** The number of the worker, starting at 0; its replacement keeps it. */
  readonly worker: number
  /** Why it was replaced. */
  readonly message: string
  /** Pages that it was processing, which are retried. */
  readonly retried: number
  /** URLs that were lost with it: 0 with a durable store. */
  readonly lost: number
}
