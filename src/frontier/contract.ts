import type { CrawlRequest, HostTrouble, MaybePromise } from '../types.js'

/**
 * Pending requests by host, handed out when their host may be visited.
 *
 * Invariants:
 * - A request that was added is pending or leased until it is settled without `again`. No request is lost, and none is
 *   handed out twice at the same time.
 * - A lease *acquires* a host, and the settlement of that lease *releases* it. While all connections that the host is
 *   allowed are acquired, no lease returns a request of it: overlap is impossible, not merely checked for.
 * - After a visit that ended at `visitedAt`, its connection is not handed out again before `visitedAt` + delay.
 * - A request that is added with `notBefore`, also as `found`, is not handed out before that time, and other requests of
 *   its host do not wait for it. `notBefore` ends with the first lease: after that, `again.at` alone decides.
 * - Within a host: larger `priority` first, then in order of arrival. Of the same priority, requests that waited for a
 *   time (`again`, or `notBefore`) go ahead of the others once it has come. If the times of many have come and most of
 *   them are on disk, a frontier may read and order them a portion at a time.
 * - `extras` come back unchanged with every lease of the request.
 * - Hosts take turns, no matter how many requests a host has or how many its visits discover.
 *
 * Every method may answer synchronously or with a promise. Calls come from one engine and do not overlap, except that
 * `add` and `settle` may be called while a `lease` is still pending.
 */
export interface Frontier {
  /** Adds requests; they are pending when this returns. Does not check whether a URL is new: see `SeenStore`. */
  add(requests: readonly CrawlRequest[]): MaybePromise<void>

  /**
   * Hands out at most `max` requests whose hosts may be visited at `now`. If the result is empty, nothing is due, and
   * `nextDue()` tells when something will be.
   */
  lease(max: number, now: number): MaybePromise<readonly CrawlRequest[]>

  /** Ends leases. Settling a request that is not leased has no effect. */
  settle(settlements: readonly Settlement[]): MaybePromise<void>

  /**
   * The earliest time at which `lease` may have something to hand out, given the current state; it may be in the past.
   * `Infinity`: not until something is added or settled. Too early costs a wasted call; too late is a bug.
   */
  nextDue(): number

  /**
   * Sets the callback for when something may be due earlier than `nextDue()` last said although nothing was added or
   * settled, for example because a disk read finished or another process handed requests over. A frontier where this
   * cannot happen does not implement it.
   */
  watch?(wake: () => void): void

  /** Requests that wait, without leased ones. */
  readonly pending: number
  /** Requests that are handed out and not settled yet. */
  readonly leased: number
  /** Hosts with something pending or leased. */
  readonly hosts: number
  /** True: `settle` understands `held`. Absent: it does not, and the engine never sets it. */
  readonly canHold?: boolean | undefined

  /** Releases memory, files and connections. Closing twice is allowed. */
  close(): MaybePromise<void>
}

/** How a lease ended, and what happens to its request and its host. */
export interface Settlement {
  /** The object that `lease` returned. */
  readonly request: CrawlRequest
  /** When the contact with the host ended. Undefined: the host was never contacted, so no pause is needed. */
  readonly visitedAt: number | undefined
  /**
   * True: only the visit has ended. The host is released and everything else here is applied, but the request stays
   * leased, because something still works on its page; after a crash it is pending again. A second settlement, without
   * `held`, ends the lease: its `again` and `found` count, and what it says about the host is ignored. Never with
   * `again`.
   */
  readonly held?: true | undefined
  /**
   * Present: the request becomes pending again, ahead of others of its priority, and is not handed out before `at`.
   * Absent: it is done.
   */
  readonly again?: Again | undefined
  /**
   * Requests that this visit discovered. They are added as by `add`, atomically with the rest of the settlement: a
   * durable frontier keeps both or neither.
   */
  readonly found?: readonly CrawlRequest[] | undefined
  /**
   * The page as hooks of other processes shall have it, from now on or from a moment before. Only in a frontier of a store
   * with `Membership.work`.
   */
  readonly documents?: readonly SharedDocument[] | undefined
  /** Present: no request of this host is handed out before this time (backoff, Retry-After). */
  readonly hostNotBefore?: number | undefined
  /** Present: from now on the pause after a visit to this host is at least this long (Crawl-delay). */
  readonly hostDelayMs?: number | undefined
  /**
   * Present: the current state of the host. Leased requests of this host carry it from now on, until `incidents` is 0.
   */
  readonly hostTrouble?: HostTrouble | undefined
}

/** A page that a hook of this process leaves to the same hook of another one. */
export interface SharedDocument {
  /** The name of the hook. */
  readonly hook: string
  /** The page, packed. */
  readonly page: Uint8Array
}

/** When to hand out a request again. */
export interface Again {
  readonly at: number
  readonly attempt: number
  /** The page is known from now on, so the request is marked as a revisit when it is handed out. */
  readonly revisit?: boolean | undefined
}

/** The politeness rules that a frontier must follow; passed to a store when it opens. */
export interface Politeness {
  /** Pause between the end of a visit and the start of the next one on the same connection. */
  readonly delayMs: number
  /** Maximum number of connections to one host. */
  readonly connections: number
  /**
   * One more connection for each `growAt` waiting requests (Udagawa et al. 2002). Only requests that are pending and due count,
   * including the one about to be handed out; a request that is handed out later (`again.at`, `notBefore`) does not. Connections
   * that are in use or resting count towards the number allowed.
   */
  readonly growAt: number
  /** When both revisits and new pages are waiting, the share of visits that go to revisits. Absent: all of them. */
  readonly revisitShare?: number | undefined
  /** Hosts with rules of their own. Absent: there are none. */
  readonly hosts?: HostPoliteness | undefined
}

/** Rules of single hosts. */
export interface HostPoliteness {
  /** What differs for a host; undefined if nothing does. The same host always gets the same answer. */
  of(
    host: string,
  ): { readonly delayMs?: number | undefined; readonly connections?: number | undefined } | undefined
  /** The longest pause and the largest number of connections of any host, and of the crawl. */
  readonly maxDelayMs: number
  readonly maxConnections: number
}

/** A host as the selection policy sees it when the host becomes ready. */
export interface ReadyHost {
  readonly host: string
  /** Since when it could have been visited. */
  readonly readyAt: number
  /** Requests waiting for this host. */
  readonly pending: number
  /** Whether the next request of this host is a revisit. */
  readonly revisits: boolean
}

/** Orders hosts that are ready: the smallest value goes first, equal values in order of arrival. */
export type SelectionPolicy = (host: ReadyHost) => number
