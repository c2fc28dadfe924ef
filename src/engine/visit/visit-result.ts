/** How a visit ends: its settlement, and the few forms of it that recur. */

import type { Settlement } from '../../frontier/contract.js'
import type { PageRecord } from '../../refresh/contract.js'
import type { CrawlRequest } from '../../types.js'
import type { FeedSettlement } from '../feeds/feed-settlement.js'

/** A settlement, with what the engine itself must know about the visit. */
export type VisitResult = Settlement & {
  /** The visit produced a page: see `ProcessedPage`. */
  readonly delivered?: boolean
  /** The page counts against its host's and its site's limit. */
  readonly countsAgainstQuota?: boolean
  /** What to store about the page for its next visit. */
  readonly record?: PageRecord | undefined
  /** What to store about the feed. Present if the visit was a poll, and decided about the feed. */
  readonly feed?: FeedSettlement | undefined
}

/** The host was not visited, and the request is finished. */
export function notVisited(request: CrawlRequest): Settlement {
  return { request, visitedAt: undefined }
}

/** The host was not visited, and the request stays pending until `at`. */
export function postponed(request: CrawlRequest, at: number): Settlement {
  return { request, visitedAt: undefined, again: { at, attempt: request.attempt } }
}

/** The host was visited, but the visit proves nothing: the request stays pending and loses no attempt. */
export function repeated(request: CrawlRequest, endedAt: number): Settlement {
  return { request, visitedAt: endedAt, again: { at: endedAt, attempt: request.attempt } }
}

/** The answer came from an archive: the host was not contacted and need not rest. */
export function unvisited<T extends Settlement>(settlement: T): T {
  return { ...settlement, visitedAt: undefined }
}
