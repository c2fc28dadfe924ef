import type { Page } from '../extract/contract.js'
import type { FeedEvent } from '../feeds/follow/contract.js'
import type { HttpExchange } from '../fetch/contract.js'
import type { StateSpace } from '../stores/contract.js'
import type { Failure, MaybePromise, Redirect, Skip } from '../types.js'

/**
 * Receives the results of a crawl, for example to index, archive or export them.
 *
 * Invariants:
 * - `open` has finished before the first other call; every call has finished before the last `flush`, and that before
 *   `close`. (After an abort, calls that take longer than the grace period are abandoned.)
 * - Without `queue`, a page occupies one of the crawl's slots and its host until every hook is done with it. With
 *   `queue`, it leaves both when its fetch and extraction end, and waits for the hook in a bounded queue; if the queue is
 *   full, the page keeps its slot until there is room. Either way a slow hook slows the crawl down instead of filling the
 *   memory.
 * - With or without `queue`, a page is settled only after every hook is done with it, and the store commits that only
 *   after `flush`. So nothing that a hook was given is lost in a crash: what was not settled durably is fetched and
 *   delivered again, with the same `id` and `attempt`. A hook must therefore accept a page twice, and let the second
 *   replace the first.
 * - If `page` throws or times out, the page counts as failed; other hooks still receive it. If any other method but
 *   `flush` throws, the crawl warns and continues. If `flush` throws, the crawl ends with `KUMO_FLUSH_FAILED`, and what
 *   was not flushed is delivered again in the next run.
 */
export interface Hook<Data extends object = object> {
  /** Used in messages and statistics. */
  readonly name: string
  open?: ((context: HookContext) => MaybePromise<void>) | undefined
  /** A property and not a method, so that the compiler rejects a hook whose data no extractor produces. */
  page?: ((page: Page<Data>) => MaybePromise<void>) | undefined
  failure?: ((failure: Failure) => MaybePromise<void>) | undefined
  /**
   * With `feeds()`: what changed in a feed. After a crash the same entries may come again, with the same keys. If a hook
   * throws or times out, they come again with a later poll, as often as a URL is retried.
   */
  feed?: ((event: FeedEvent) => MaybePromise<void>) | undefined
  /** A URL redirected. Its target is a request of its own. An index drops the page that `redirect.url` used to be. */
  redirect?: ((redirect: Redirect) => MaybePromise<void>) | undefined
  /**
   * A URL was not fetched, or its response not used. Called very often: for every link out of scope. The visit does not
   * wait for it, but `flush` and `close` do.
   */
  skip?: ((skip: Skip) => MaybePromise<void>) | undefined
  /**
   * A request was sent and answered, for pages, redirects, error statuses, robots.txt and sitemaps: the bytes, for an
   * archive. Called before the `page`, `redirect` or `failure` that it led to; the visit waits for it. Exchanges are
   * recorded only if some hook has this method.
   */
  exchange?: ((exchange: HttpExchange) => MaybePromise<void>) | undefined
  /**
   * Makes everything that the hook was given so far durable. With a durable store it is awaited before each commit of
   * settlements that the hook saw, so the hook may be ahead of the crawl after a crash, and never behind it; pages go on
   * arriving while it runs, and those may but need not be included. With any other store it is called once, before
   * `close`. Calls do not overlap. With workers, each thread flushes the hooks that it runs.
   */
  flush?: (() => MaybePromise<void>) | undefined
  /**
   * Present: `page` has a queue of its own, for a hook that takes long. Absent: the page waits in its slot. Only `page` is
   * queued; links of the page are followed at once, before the hook has seen it.
   */
  readonly queue?: HookQueue | undefined
  /** The stages of its work so far, for `stats().queues`. Only of a hook with a queue, in the thread that runs it. */
  stages?: (() => Readonly<Record<string, HookStage>>) | undefined
  /** Present in a hook that `session()` made. */
  readonly session?: object | undefined
  /** Called after the last page, also if the crawl was aborted. Must allow a second call. */
  close?: (() => MaybePromise<void>) | undefined
}

/**
 * The queue of a hook, for each worker if there are several. A page waits in it, or is being processed, until the hook is
 * done. `stop()` empties queues; an abort drops what waits in them, and those pages stay pending. The time limit of hooks
 * begins when the hook gets the page.
 */
export interface HookQueue {
  /** Pages that the hook processes at once. Default: 1. */
  readonly parallelism?: number | undefined
  /** Pages in the queue at most, including those being processed. Default: 1000. */
  readonly pages?: number | undefined
  /** Bytes of their bodies at most; a single larger page is still accepted. Default: 64 MB. */
  readonly bytes?: number | undefined
  /**
   * Whether a process with much to do leaves pages to the same hook of other processes that share the crawl (`redis()`), by
   * what pages have cost so far. There the page is a copy: `follow()` throws, and records of its host cannot be written.
   * After a crash it may be given to hooks of two processes. Default: false.
   */
  readonly offload?: boolean | undefined
}

/** A stage of a hook's work. */
export interface HookStage {
  /** What has passed it. */
  readonly done: number
  /** How long the thread has worked on it. */
  readonly busyMs: number
}

/** What a hook receives before the first page. */
export interface HookContext {
  /**
   * The hook's own small storage, kept by the crawl's store under the hook's name for as long as the store keeps
   * anything.
   */
  readonly state: StateSpace
  /** The number of the worker that runs the hook, from 0; 0 also without workers. Default: 0. */
  readonly worker?: number | undefined
  /** With workers: how the copies of the hook, one in each, work together. Absent in the program's thread. */
  readonly peers?: HookPeers | undefined
}

/** The same hook in the other workers. */
export interface HookPeers {
  /** The number of workers, this one included. */
  readonly count: number
  /** Whether this worker replaces one that died. */
  readonly replaces: boolean
  /** Sets what receives messages. */
  receive(receiver: PeerReceiver): void
  /**
   * Sends a message, which is cloned as `postMessage` does it. Messages between two workers keep their order. The crawl
   * does not end while one is on its way. What a worker that dies was sent is lost.
   */
  post(worker: number, message: unknown, transfer?: readonly ArrayBuffer[]): void
  /** The content of a page as data to post, without what extractors linked and followed. */
  pack(page: Page): PackedPage
  /** The page again, in another worker. It follows nothing. */
  unpack(packed: unknown): Page
}

export interface PackedPage {
  readonly content: unknown
  readonly transfer: readonly ArrayBuffer[]
}

/** What a hook does with messages of its peers. */
export interface PeerReceiver {
  /** Returns at once: other messages, and links, wait for it. */
  message(from: number, message: unknown): void
  /** A worker died. What is posted to it from now on reaches its replacement. */
  left(worker: number): void
}
