import type { Page } from '../extract/contract.js'
import type { StateSpace } from '../stores/contract.js'
import type { Failure, MaybePromise } from '../types.js'

/**
 * Receives what comes out of a crawl: indexing, feed-diffing, archiving, exports.
 *
 * What must stay true:
 * - `open` has finished before the first `page`; every `page` and `failure` has finished before `close`.
 * - A page occupies one of the crawl's slots until every hook is done with it: a slow hook slows the crawl
 *   instead of filling the memory.
 * - After a crash, pages that were delivered shortly before it are delivered again, with the same `id` and `attempt`.
 * - A hook that throws, or does not return in time, makes that page a failure; other hooks still get the page.
 */
export interface Hook<Data extends object = object> {
  /** For messages and statistics. */
  readonly name: string
  open?(context: HookContext): MaybePromise<void>
  /** A property and not a method, so that the compiler refuses a hook that wants data nobody extracts. */
  page?: (page: Page<Data>) => MaybePromise<void>
  failure?(failure: Failure): MaybePromise<void>
  /** After the last page; also if the crawl was aborted. Calling it twice does nothing. */
  close?(): MaybePromise<void>
}

/** What a hook is given before the first page. */
export interface HookContext {
  /** Its own small memory, kept by the crawl's store under the hook's name: as long as the store keeps anything. */
  readonly state: StateSpace
}
