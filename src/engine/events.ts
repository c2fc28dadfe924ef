import type { Page } from '../extract/contract.js'
import type { Feasibility } from '../refresh/contract.js'
import type { StoreEvent } from '../stores/contract.js'
import type { Failure, SkipReason } from '../types.js'
import type { Stats, Summary } from './stats/stats.js'

/** What a crawl tells while it runs. A listener that returns a promise slows the crawl until it is done. */
export interface CrawlEvents<Data extends object = object> {
  /** A page was fetched and extracted. */
  page: (page: Page<Data>) => unknown
  /** Something went wrong with a URL; `failure.final` tells whether it will be tried again. */
  failure: (failure: Failure) => unknown
  /** A URL was not fetched, or its response not used. */
  skip: (skip: Skip) => unknown
  /** A redirect was answered; its target is a request of its own. */
  redirect: (redirect: Redirect) => unknown
  /** Once a second. */
  progress: (stats: Stats) => unknown
  /** The schedule of known pages cannot be kept as wished, or can again; or what is done about it has changed. */
  feasibility: (feasibility: Feasibility) => unknown
  /** The store cannot write, can again, or had to mend what it found. */
  store: (event: StoreEvent) => unknown
  /** A worker thread died or hung, and was replaced. */
  worker: (event: WorkerEvent) => unknown
  /** The crawl is over and everything is closed. */
  end: (summary: Summary) => unknown
}

/**
 * Who emits each event in a crawl with workers: the worker that visits the URL, or the main thread, which combines what
 * its workers report. The compiler demands an entry for every event, so that none is lost between the threads.
 */
export const EVENT_SOURCES = {
  page: 'worker',
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

/** What became of a worker thread. */
export interface WorkerEvent {
  readonly kind: 'replaced'
  /** Its number, from 0 on; its successor has the same. */
  readonly worker: number
  /** What it died of. */
  readonly message: string
  /** Pages that it had under way, which are tried again. */
  readonly retried: number
  /** URLs that were lost with it. With a durable store, none. */
  readonly lost: number
}

export interface Skip {
  readonly url: string
  readonly reason: SkipReason
  /** The page with the link, if there was one. */
  readonly parent: string | undefined
}

export interface Redirect {
  readonly url: string
  readonly to: string
  readonly status: number
}
