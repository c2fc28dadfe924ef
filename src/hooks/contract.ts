import type { Page } from '../extract/contract.js'
import type { StateSpace } from '../stores/contract.js'
import type { Failure, MaybePromise } from '../types.js'

/**
 * Receives the results of a crawl, for example to index, archive or export them.
 *
 * Invariants:
 * - `open` has finished before the first `page`; every `page` and `failure` has finished before `close`.
 * - A page occupies one of the crawl's slots until every hook is done with it, so a slow hook slows the crawl down
 *   instead of filling the memory.
 * - After a crash, pages that were delivered shortly before it are delivered again, with the same `id` and `attempt`.
 * - If a hook throws or times out, the page counts as failed; other hooks still receive it.
 */
export interface Hook<Data extends object = object> {
  /** Used in messages and statistics. */
  readonly name: string
  open?: ((context: HookContext) => MaybePromise<void>) | undefined
  /** A property and not a method, so that the compiler rejects a hook whose data no extractor produces. */
  page?: ((page: Page<Data>) => MaybePromise<void>) | undefined
  failure?: ((failure: Failure) => MaybePromise<void>) | undefined
  /** Present in a hook that `session()` made. */
  readonly session?: object | undefined
  /** Called after the last page, also if the crawl was aborted. Must allow a second call. */
  close?: (() => MaybePromise<void>) | undefined
}

/** What a hook receives before the first page. */
export interface HookContext {
  /**
   * The hook's own small storage, kept by the crawl's store under the hook's name for as long as the store keeps
   * anything.
   */
  readonly state: StateSpace
}
