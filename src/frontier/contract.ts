import type { CrawlRequest, HostTrouble, MaybePromise } from '../types.js'

/**
 * Pending requests by host, handed out when their host may be visited.
 *
 * What must stay true:
 * - A request that was added is pending or leased until it is settled without `again`. None is lost, none is
 *   handed out twice at the same time.
 * - A host is *acquired* by a lease and *released* by the settlement of that lease. While all that its allowance
 *   permits are acquired, no lease returns a request of it: overlap is impossible, not merely checked.
 * - After a visit that ended at `visitedAt`, the connection it used is not handed out again before `visitedAt` + delay.
 * - Within a host, larger `priority` first, then first come.
 * - A host takes turns with the others, however many requests it has and however many its visits bring.
 *
 * All methods may answer at once or with a promise. Calls come from one engine and do not overlap, except that
 * `add` and `settle` may be called while a `lease` is still pending.
 */
export interface Frontier {
  /** Takes requests in. They are pending when this returns. Whether a URL is new is not asked here: see `SeenStore`. */
  add(requests: readonly CrawlRequest[]): MaybePromise<void>

  /**
   * Hands out at most `max` requests whose hosts may be visited at `now`. An empty answer means that nothing is
   * due, and `nextDue()` says when something will be.
   */
  lease(max: number, now: number): MaybePromise<readonly CrawlRequest[]>

  /** Ends leases. A settlement of a request that is not leased is ignored. */
  settle(settlements: readonly Settlement[]): MaybePromise<void>

  /**
   * The earliest instant at which `lease` may have something to hand out, as things stand; it may be in the past.
   * `Infinity`: not before something is added or settled. Too early costs a useless call; too late is a defect.
   */
  nextDue(): number

  /**
   * Whom to call when something may be due earlier than `nextDue()` last told although nothing was added or settled:
   * a disk has answered, another process has handed something over. A frontier that has no such moments leaves it out.
   */
  watch?(rouse: () => void): void

  /** Requests waiting (leased ones not counted). */
  readonly pending: number
  /** Requests handed out and not yet settled. */
  readonly leased: number
  /** Hosts that have something pending or leased. */
  readonly hosts: number

  /** Releases memory, files, connections. Calling it twice does nothing. */
  close(): MaybePromise<void>
}

/** How a lease ended, and what becomes of its request and its host. */
export interface Settlement {
  /** The object that `lease` returned. */
  readonly request: CrawlRequest
  /** When the contact with the host ended; undefined if it was never contacted, and the host owes no pause. */
  readonly visitedAt: number | undefined
  /** Present: the request is pending again, handed out not before `at`, ahead of its equals. Absent: it is done. */
  readonly again?: Again | undefined
  /**
   * Requests that this visit brought. They are taken in as by `add`, in one step with the rest of the settlement: a
   * frontier that outlives a crash keeps both or neither.
   */
  readonly found?: readonly CrawlRequest[] | undefined
  /** Present: nothing of this host is handed out before this instant (backoff, Retry-After). */
  readonly hostNotBefore?: number | undefined
  /** Present: from now on the pause after a visit to this host is at least this long (Crawl-delay). */
  readonly hostDelayMs?: number | undefined
  /** Present: how the host fares now. Leased requests of this host show it from now on, until `incidents` is 0. */
  readonly hostTrouble?: HostTrouble | undefined
}

/** When a request is handed out again. */
export interface Again {
  readonly at: number
  readonly attempt: number
  /** The page is known from now on: the request is marked so when it is handed out. */
  readonly revisit?: boolean | undefined
}

/** What a frontier must know about politeness; given to a store when it opens. */
export interface Politeness {
  /** Pause between the end of a visit and the start of the next on the same connection. */
  readonly delayMs: number
  /** Most connections to one host at a time. */
  readonly connections: number
  /**
   * One more connection for each so many waiting requests (system B). Those wait that are pending and due, the request
   * about to be handed out included; one that is to be handed out later (`again.at`) does not. A connection that is out
   * or rests is one of those allowed.
   */
  readonly growAt: number
  /** Of visits to known pages and visits to new ones that both wait, the share of the former. Absent: all. */
  readonly revisitShare?: number | undefined
}

/** A host as the selection policy sees it when it becomes ready. */
export interface ReadyHost {
  readonly host: string
  /** Since when it could have been visited. */
  readonly readyAt: number
  /** Requests waiting on it. */
  readonly pending: number
  /** What it would hand out now is a page that is known. */
  readonly revisits: boolean
}

/** Chooses among hosts that are ready: the smallest value goes first, equal values in order of arrival. */
export type SelectionPolicy = (host: ReadyHost) => number
