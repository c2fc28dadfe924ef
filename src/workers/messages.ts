/** The messages between the main thread and a worker. Batches of URLs do not travel this way: see port-exchange.ts. */

import type { MessagePort } from 'node:worker_threads'
import type {
  CrawlEvents,
  Diagnosis,
  EarlierRuns,
  PageCounts,
  PartitionSnapshot,
  Stats,
  Summary,
} from '../engine/contract.js'
import type { KumoErrorCode } from '../errors.js'
import type { PollReport } from '../feeds/schedule/contract.js'
import type { PartitionLoad, ShardContext, StoreEvent, StoreHealth } from '../stores/contract.js'
import type { TimeOrigin } from '../time.js'
import type { Change, CrawlRequest, Link, RequestExtras } from '../types.js'
import type { RequestSpec } from '../url/request-options.js'
import type { InterruptedVisit } from './in-flight-log.js'

/** What a worker is started with. */
export interface WorkerData {
  readonly shard: ShardContext
  /** Number of shards. */
  readonly shards: number
  /** The owner of each partition, and the version of this table. */
  readonly owners: readonly number[]
  readonly version: number
  /** Visits that this shard may have in flight. */
  readonly concurrency: number
  /** So that all threads use the same time. */
  readonly origin: TimeOrigin
  /** Memory of the shared budget of pages and bytes, and of that of requests. */
  readonly budget: SharedArrayBuffer
  readonly requestBudget: SharedArrayBuffer
  /** Memory in which the workers share the bandwidth. */
  readonly line: SharedArrayBuffer
  /** Memory in which the worker logs what it is doing: see in-flight-log.ts. */
  readonly inFlight: SharedArrayBuffer
  /** What earlier runs, or a predecessor that died, have left. */
  readonly earlierRuns: EarlierRuns
  /** Whether what the shard commits outlives its thread. */
  readonly isDurable: boolean
  /** Requests, as the seen-set knows them, that must not be tried again because they crashed workers, and why. */
  readonly fatal: readonly (readonly [name: string, why: string])[]
  /** The options of the crawl as plain data. */
  readonly options: unknown
  readonly output: WantedOutput
}

/** What the main thread wants to receive. */
export interface WantedOutput {
  /** Events with listeners. */
  readonly events: readonly (keyof CrawlEvents)[]
  /** Whether pages are read with `for await`. */
  readonly pages: boolean
}

/** To a worker. */
export type ToWorker =
  /** All peers are connected: start. */
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' | 'abort' | 'pause' | 'resume' | 'budgetChanged' }
  /** Listeners were added or removed, or a `for await` began. */
  | { readonly kind: 'want'; readonly output: WantedOutput }
  /** All shards are idle and nothing is in transit. */
  | { readonly kind: 'finish' }
  /** The program has nothing more to add: a shard that is a member of a shared crawl may end when that is over. */
  | { readonly kind: 'fed' }
  /** Requests that must not be tried again: see `WorkerData.fatal`. */
  | { readonly kind: 'fatal'; readonly fatal: WorkerData['fatal'] }
  /** Seeds: all define the scope, those in `mine` are this shard's to admit. Confirmed by `done`. */
  | {
      readonly kind: 'seeds'
      readonly id: number
      readonly urls: readonly string[]
      readonly mine: readonly RequestSpec[]
      /** The program added them while the crawl runs, so that other processes must hear of them. */
      readonly isAdded: boolean
    }
  /** A batch whose sender or receiver died. Confirmed by `done` once its requests are durable. */
  | { readonly kind: 'leftover'; readonly id: number; readonly text: string }
  | { readonly kind: 'peer'; readonly shard: number; readonly port: MessagePort }
  | { readonly kind: 'peerLost'; readonly shard: number }
  /** Release these partitions. */
  | {
      readonly kind: 'release'
      readonly partitions: readonly number[]
      readonly to: number
      readonly version: number
    }
  /** All shards have finished a round over the known pages; the next one starts. */
  | { readonly kind: 'nextRound' }
  /** What a poll of a feed must be worth from now on. */
  | { readonly kind: 'price'; readonly price: number }
  /** These partitions have moved. */
  | {
      readonly kind: 'moved'
      readonly partitions: readonly number[]
      readonly to: number
      readonly version: number
    }
  | { readonly kind: 'expect'; readonly partitions: readonly number[]; readonly isComing: boolean }
  /** `visitedUntil`: a previous owner that died may have visited their hosts until then. */
  | {
      readonly kind: 'adopt'
      readonly snapshot: PartitionSnapshot
      readonly version: number
      readonly visitedUntil?: number | undefined
    }
  /** Requests that a worker had in flight when it died. Confirmed by `done`. */
  | { readonly kind: 'requests'; readonly id: number; readonly requests: readonly CrawlRequest[] }
  /** Answered by `alive`, unless the worker is blocked. */
  | { readonly kind: 'ping' }
  | {
      readonly kind: 'reply'
      readonly id: number
      readonly value?: unknown
      readonly error?: PlainError
      /** What was followed on the page since the last reply. */
      readonly followed?: readonly RequestSpec[] | undefined
    }

/** To the main thread. */
export type ToMain =
  /** Everything is open. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'stats'
      readonly stats: Stats
      /** What is pending does not count as work: see `Engine.isForLater`. */
      readonly isForLater: boolean
      readonly loads?: readonly PartitionLoad[] | undefined
      /** With `feeds()`, from time to time. */
      readonly polls?: PollReport | undefined
      /** If other processes share the crawl. */
      readonly health?: StoreHealth | undefined
    }
  | { readonly kind: 'alive' }
  /** For a replacement, where the shard's store does not outlive its thread. */
  | { readonly kind: 'counts'; readonly counts: PageCounts }
  /** Partitions have been released. `stats` no longer count what was in them. */
  | { readonly kind: 'released'; readonly snapshot: PartitionSnapshot; readonly stats: Stats }
  | {
      readonly kind: 'idle'
      readonly sent: readonly number[]
      readonly processed: readonly number[]
      readonly commands: number
    }
  | { readonly kind: 'done'; readonly id: number }
  /** Partitions in transit to this shard have arrived. `stats` count what is in them. */
  | { readonly kind: 'adopted'; readonly version: number; readonly stats: Stats }
  /** The budget has changed: shares were returned, or it is used up. Sent on to all workers. */
  | { readonly kind: 'budgetChanged' }
  | { readonly kind: 'store'; readonly event: StoreEvent }
  | { readonly kind: 'warn'; readonly message: string }
  | { readonly kind: 'advice'; readonly message: string }
  | {
      readonly kind: 'call'
      readonly id: number
      readonly call: ClosureCall
      readonly page?: PageRef | undefined
    }
  /** A visit whose request does not fit into the in-flight log has started, or, without a request, has ended. */
  | {
      readonly kind: 'inFlight'
      readonly slot: number
      readonly request: InterruptedVisit['request'] | undefined
    }
  /** No closure needs this page any more. */
  | { readonly kind: 'pageDone'; readonly page: number }
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'ended'; readonly summary: Summary; readonly diagnosis: Diagnosis }
  | { readonly kind: 'failed'; readonly error: PlainError }

/** Which closure on the main thread to call. */
export type ClosureCall =
  | { readonly part: 'extractor'; readonly closure: number }
  | { readonly part: 'hook'; readonly closure: number }
  | {
      readonly part: 'hook-call'
      readonly closure: number
      readonly method: 'failure' | 'redirect' | 'skip' | 'feed' | 'exchange' | 'flush'
      readonly argument?: unknown
    }
  | { readonly part: 'listener'; readonly event: string; readonly argument?: unknown }
  | { readonly part: 'reader' }

/** A page by number; with its content the first time. */
export interface PageRef {
  readonly number: number
  readonly content?: PageContent | undefined
  /** Data extracted so far. */
  readonly data: object
  /** Links that extractors have added so far. */
  readonly links: readonly Link[]
}

/** A page in transit. The body is transferred, not copied. */
export interface PageContent {
  readonly url: string
  readonly host: string
  readonly depth: number
  readonly parent: string | undefined
  readonly via: readonly string[]
  readonly attempt: number
  readonly priority: number
  readonly extras: RequestExtras | undefined
  readonly change: Change
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
  readonly truncated: boolean
  readonly wireBytes: number
  readonly fetchedAt: number
  readonly fetchMs: number
}

/** An error as data. `closure` is the number under which the main thread remembers the original. */
export interface PlainError {
  readonly message: string
  readonly code?: KumoErrorCode | undefined
  readonly stack?: string | undefined
  readonly closure?: number | undefined
}
