import type { Page } from '../../extract/contract.js'
import type { StateSpace } from '../../stores/contract.js'
import type { Clock, Duration } from '../../time.js'
import type { Change, MaybePromise } from '../../types.js'

/**
 * Where the pages of a crawl are written, in batches.
 *
 * Invariants:
 * - `open` has finished before the first `write`. Calls of `write` do not overlap, and batches arrive in the order of
 *   their pages. `close` comes last.
 * - If `write` throws, the same batch is written again after a pause. So a batch, or a part of it, may arrive twice, and
 *   the second must replace the first: items are the same if they have the same `id`.
 * - A batch that failed too often, and items that `write` rejects, become dead letters in the crawl's store. They are
 *   written again when the next run begins.
 */
export interface Sink<Item = PageRecord, Data extends object = object> extends SinkOptions<Item> {
  /** Used in messages, and for the state in the store: two sinks of a crawl need different names. */
  readonly name: string
  /** What is kept of a page. Anything JSON can represent; undefined: the page is not written. Default: `pageRecord`. */
  readonly record?: ((page: Page<Data>) => Item | undefined) | undefined
  readonly open?: ((context: SinkContext) => MaybePromise<void>) | undefined
  /**
   * Writes a batch durably. Return the items that can never be written, whatever happens; throw if the whole batch should
   * be tried again.
   */
  readonly write: (
    batch: readonly SinkItem<Item>[],
  ) => MaybePromise<undefined | readonly RejectedItem[] | void>
  /** Called before each commit of the crawl, after everything was written. What it puts into `state` is part of it. */
  readonly flush?: (() => MaybePromise<void>) | undefined
  /** Whether a page was already written before a crash. It is then left out. */
  readonly has?: ((page: Page<Data>) => boolean) | undefined
  readonly close?: (() => MaybePromise<void>) | undefined
}

/** One page on its way to a sink. */
export interface SinkItem<Item = PageRecord> {
  /** `page.id`. */
  readonly id: string
  /** `page.url`. */
  readonly url: string
  /** `page.change`. */
  readonly change: Change
  /** What `record` returned. */
  readonly record: Item
}

/** An item that can never be written, for example because the database refuses a value. */
export interface RejectedItem {
  /** Its place in the batch. */
  readonly index: number
  /** Why, for people. */
  readonly reason: string
}

/** What a sink receives before its first batch. */
export interface SinkContext {
  /** Small records in the crawl's store. */
  readonly state: StateSpace
  readonly clock: Clock
  /** The number of the worker that runs the sink, from 0; 0 also without workers. */
  readonly worker: number
}

/** How a sink collects, retries and gives up. */
export interface SinkOptions<Item = PageRecord> {
  /** When a batch is written: at so many pages or bytes, or when its first page is so old, whichever comes first. */
  readonly batch?: BatchOptions | undefined
  /** What happens after a failed write. */
  readonly retry?: SinkRetryOptions | undefined
  /** How much is kept of what could not be written. */
  readonly dead?: DeadLetterOptions<Item> | undefined
  /** The time, for tests. Default: the system's. */
  readonly clock?: Clock | undefined
}

/** The size of a batch. */
export interface BatchOptions {
  /** Pages in a batch. Default 500. */
  readonly pages?: number | undefined
  /** Bytes in a batch, roughly. Default 4 MB. */
  readonly bytes?: number | undefined
  /** Age of the oldest page. Default `'1s'`. A crawl with a durable store also writes before each of its commits. */
  readonly age?: Duration | undefined
}

/** How a failed write is repeated. */
export interface SinkRetryOptions {
  /** Attempts for a batch, including the first. Default 8: about a minute with the pauses below. */
  readonly attempts?: number | undefined
  /** Pause after the first failure; it doubles with each. Default `'500ms'`. */
  readonly first?: Duration | undefined
  /** Longest pause. Default `'30s'`. */
  readonly most?: Duration | undefined
}

/** What becomes of pages that could not be written. */
export interface DeadLetterOptions<Item = PageRecord> {
  /**
   * Pages that are kept in the crawl's store and written again when the next run begins. Beyond that a page that cannot be
   * written counts as failed. Default 10,000.
   */
  readonly most?: number | undefined
  /** Called for each. */
  readonly report?: ((letter: DeadLetter<Item>) => void) | undefined
}

/** A page that could not be written. */
export interface DeadLetter<Item = PageRecord> extends SinkItem<Item> {
  /** Why, for people. */
  readonly reason: string
}

/** What sinks keep of a page unless they are told otherwise. */
export interface PageRecord {
  /** `page.id`: the same URL has the same one in every run. */
  readonly id: string
  readonly url: string
  readonly status: number
  readonly change: Change
  /** ISO 8601, in UTC. */
  readonly fetchedAt: string
  readonly mediaType: string
  readonly title: string
  readonly depth: number
  readonly parent: string | null
  /** `page.data`. */
  readonly data: object
}

/** A hook that writes pages to a sink. */
export interface SinkStats {
  /** Pages that were written. A page that was written twice counts twice. */
  readonly written: number
  /** Batches that were written. */
  readonly batches: number
  /** Writes that failed and were repeated. */
  readonly retries: number
  /** Dead letters in the crawl's store. */
  readonly dead: number
  /** Pages that were left out, because they had been written before a crash. */
  readonly repeated: number
  /** Pages that wait. */
  readonly waiting: number
}
