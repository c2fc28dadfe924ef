/** What the main thread and a worker thread tell each other. Batches of URLs do not come this way: see port-exchange.ts. */

import type { MessagePort } from 'node:worker_threads'
import type {
  CrawlEvents,
  EarlierRuns,
  PageCounts,
  PartitionSnapshot,
  Stats,
  Summary,
} from '../engine/contract.js'
import type { KumoErrorCode } from '../errors.js'
import type { PartitionLoad, ShardContext, StoreEvent } from '../stores/contract.js'
import type { TimeOrigin } from '../time.js'
import type { Change, CrawlRequest, Link } from '../types.js'

/** What a thread is given when it starts. */
export interface WorkerData {
  readonly shard: ShardContext
  /** How many there are. */
  readonly shards: number
  /** The owner of each partition, and the version of that. */
  readonly owners: readonly number[]
  readonly version: number
  /** Visits that this shard may have under way. */
  readonly concurrency: number
  /** So that all threads tell the same time. */
  readonly origin: TimeOrigin
  /** The memory of the shared budget of pages and bytes, and that of requests. */
  readonly budget: SharedArrayBuffer
  readonly requestBudget: SharedArrayBuffer
  /** The memory in which the thread says what it is doing: see under-way.ts. */
  readonly inFlight: SharedArrayBuffer
  /** What earlier runs left behind, and a shard that died. */
  readonly earlierRuns: EarlierRuns
  /** Whether what the shard commits outlives its thread. */
  readonly isDurable: boolean
  /** URLs that are not to be tried any more, for threads have died of them, and why. */
  readonly fatal: readonly (readonly [url: string, why: string])[]
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
  /** All peers are connected: begin. */
  | { readonly kind: 'go' }
  | { readonly kind: 'stop' | 'abort' | 'pause' | 'resume' | 'rouse' }
  /** Listeners came or went, or a `for await` began. */
  | { readonly kind: 'want'; readonly output: WantedOutput }
  /** No shard has anything to do, and nothing is on its way. */
  | { readonly kind: 'over' }
  /** Seeds: all count for the scope, those of `mine` are this shard's to admit. Answered by `seeded`. */
  | {
      readonly kind: 'seeds'
      readonly id: number
      readonly urls: readonly string[]
      readonly mine: readonly string[]
    }
  /** A batch that somebody had sent before it, or its receiver, died. Answered by `seeded`, once it is kept. */
  | { readonly kind: 'leftover'; readonly id: number; readonly text: string }
  | { readonly kind: 'peer'; readonly shard: number; readonly port: MessagePort }
  | { readonly kind: 'peerGone'; readonly shard: number }
  /** Give these away. */
  | {
      readonly kind: 'give'
      readonly partitions: readonly number[]
      readonly to: number
      readonly version: number
    }
  /** All shards are done with a pass over what is known; the next begins. */
  | { readonly kind: 'round' }
  /** These have moved. */
  | {
      readonly kind: 'moved'
      readonly partitions: readonly number[]
      readonly to: number
      readonly version: number
    }
  | { readonly kind: 'expect'; readonly partitions: readonly number[]; readonly isComing: boolean }
  /** `visitedUntil`: whoever had them before, and died, may have visited their hosts until then. */
  | {
      readonly kind: 'take'
      readonly snapshot: PartitionSnapshot
      readonly version: number
      readonly visitedUntil?: number | undefined
    }
  /** Requests that a thread had under way when it died. Answered by `seeded`. */
  | { readonly kind: 'requests'; readonly id: number; readonly requests: readonly CrawlRequest[] }
  /** Answered by `alive`, if anything can be. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: PlainError }

/** To the main thread. */
export type ToMain =
  /** Everything is opened. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'stats'; readonly stats: Stats; readonly loads?: readonly PartitionLoad[] | undefined }
  | { readonly kind: 'alive' }
  /** For a successor, where the shard's store does not outlive its thread. */
  | { readonly kind: 'counted'; readonly counts: PageCounts }
  /** It has let go of partitions. */
  | { readonly kind: 'gave'; readonly snapshot: PartitionSnapshot }
  | {
      readonly kind: 'resting'
      readonly sent: readonly number[]
      readonly taken: readonly number[]
      readonly commands: number
    }
  | { readonly kind: 'seeded'; readonly id: number }
  /** Partitions that were on their way to this shard have come. */
  | { readonly kind: 'took'; readonly version: number }
  /** Others may go on: shares of the budget came back, or it is used up. */
  | { readonly kind: 'rouse' }
  | { readonly kind: 'store'; readonly event: StoreEvent }
  | { readonly kind: 'warn'; readonly message: string }
  | { readonly kind: 'advice'; readonly message: string }
  | {
      readonly kind: 'ask'
      readonly id: number
      readonly what: ClosureCall
      readonly page?: PageRef | undefined
    }
  /** Nothing more will be asked about this page. */
  | { readonly kind: 'pageOver'; readonly page: number }
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'ended'; readonly summary: Summary }
  | { readonly kind: 'failed'; readonly error: PlainError }

/** What closures of the main thread are asked to do. */
export type ClosureCall =
  | { readonly part: 'extractor'; readonly closure: number }
  | { readonly part: 'hook'; readonly closure: number }
  | { readonly part: 'hook-failure'; readonly closure: number; readonly failure: unknown }
  | { readonly part: 'listener'; readonly event: string; readonly argument?: unknown }
  | { readonly part: 'reader' }

/** A page by its number; with its content the first time. */
export interface PageRef {
  readonly number: number
  readonly content?: PageContent | undefined
  /** What extractors have made of it so far. */
  readonly data: object
  /** Links that extractors have added so far. */
  readonly links: readonly Link[]
}

/** A page as it travels. The body is handed over, not copied by the port. */
export interface PageContent {
  readonly url: string
  readonly host: string
  readonly depth: number
  readonly parent: string | undefined
  readonly via: readonly string[]
  readonly attempt: number
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
