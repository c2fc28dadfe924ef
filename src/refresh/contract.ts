import type { Validators } from '../fetch/contract.js'
import type { Change, SitemapHint } from '../types.js'

/**
 * When known pages are visited again (system E: Tamura & Kitsuregawa 2009). The way of a page: what visits have told of
 * it (`history`) → how often it changes (estimator) → how often it is wished to be visited (aim) → what its server and
 * the sockets allow (`Servers`, eq. 2–6) → the instant of its next visit.
 *
 * Nothing here knows a clock, a socket or a store: time is told, records are handed over. So the simulator runs the same
 * objects. All times are in ms, rates in changes or visits per ms.
 */

/** `archive`: catch each change. `fresh`: the largest mean freshness that the same number of visits can buy. */
export type RefreshAim = 'archive' | 'fresh'

/** Which of the servers that wait gets a socket. `auto`: EDF where sockets suffice, SJF where they are scarce. */
export type RefreshPolicy = 'auto' | 'edf' | 'freq' | 'fcfs' | 'rm' | 'sjf'

/** What a user can say about refreshing, checked and in its final unit. */
export interface RefreshRules {
  /** The shortest and the longest interval between two visits to a page that is wished, before any correction. */
  readonly minMs: number
  readonly maxMs: number
  /** The interval of a page of which nothing is known. */
  readonly firstMs: number
  /** Share of a page's changes that visits are to catch (0…1); for `fresh`, what the budget is reckoned by. */
  readonly target: number
  readonly aim: RefreshAim
  readonly policy: RefreshPolicy
  /** Share of sockets, and of each server's visits, that refreshing may take; the rest is for new pages. */
  readonly share: number
  /** Infinity: for ever. Otherwise so many passes over all that is known, as fast as politeness allows. */
  readonly rounds: number
  /** The run ends after so long, or at this instant. Infinity: not by itself. */
  readonly untilMs: number
  readonly untilAt: number
  /** Whether pages that have not changed are delivered as well. */
  readonly unchanged: boolean
}

/** One visit, as the estimator sees it. */
export interface Observation {
  /** Since the visit before. */
  readonly elapsedMs: number
  /** Whether it was another content than at the visit before. */
  readonly changed: boolean
  /** How old the content was at this visit, if the server told (Last-Modified). */
  readonly ageMs?: number | undefined
}

/** What is believed of a page's changes before it was seen to change, or not. */
export interface Prior {
  /** The interval between changes that is believed in. */
  readonly intervalMs: number
  /** How many observations that belief is worth. */
  readonly weight: number
}

/** What is remembered of a page, as JSON can hold it. */
export interface PageRecord {
  /** When it was last looked at. */
  readonly at: number
  /** How often it is wished to be visited, before any correction: its part of its server's load is 1 / `every`. */
  readonly every: number
  /** The estimated interval between its changes. */
  readonly change: number
  /** Links followed from a seed. */
  readonly depth: number
  /** What visits have told, encoded by the estimator; at most some dozen characters. */
  readonly history: string
  /** Of its canonical content when it was last read. */
  readonly digest?: string | undefined
  readonly etag?: string | undefined
  readonly modified?: string | undefined
  /** How the server's validators have proved: below 0 they lie, and are not used. */
  readonly trust?: number | undefined
  /** What visits in a row that found no page weigh together. */
  readonly misses?: number | undefined
  /** Tries since it is gone; absent while it is there. */
  readonly gone?: number | undefined
  /** It was asked for and never seen; then it counts as gone from the start. */
  readonly unseen?: true | undefined
  /** The pass that it was last queued for: see `RefreshRules.rounds`. */
  readonly round?: number | undefined
}

/** What is remembered of a server (system E's server i), as JSON can hold it. */
export interface ServerRecord {
  /** Pages that are visited again. */
  readonly pages: number
  /** L_i: the sum of 1 / `every` over them. */
  readonly load: number
  /** The mean time of a download. 0: not known yet. */
  readonly download: number
  /** The mean time for which a visit holds its slot after the download, for extractors and hooks. e_i is both together. */
  readonly held?: number | undefined
  /** The pause that it asked for itself; absent if the crawl's own is as long. */
  readonly delay?: number | undefined
  /** The mean of the logarithms of its pages' change intervals, and of how many it is the mean. */
  readonly habit?: readonly [meanLog: number, count: number] | undefined
}

/** Whether what is wished can be done, and what was done about it if not. */
export interface Feasibility {
  /** Whether all wishes can be granted as they are. */
  readonly feasible: boolean
  /**
   * Whether it is feasible, but with few sockets to spare: visits queue for a socket and are late by chance. The bound of
   * eq. 4 is necessary, not sufficient; from 1.5 times the bound on, nothing waits noticeably.
   */
  readonly tight: boolean
  readonly socketsAvailable: number
  /** The bound of eq. 4 for what is wished: fewer sockets are too few for certain. */
  readonly socketsNeeded: number
  /** The same for what is scheduled, after the correction. */
  readonly socketsScheduled: number
  /** By how much intervals are lengthened on all servers; 1: not at all. */
  readonly stretch: number
  readonly servers: number
  readonly pages: number
  /** Visits a second that are wished, and that are scheduled. */
  readonly wantedPerSecond: number
  readonly scheduledPerSecond: number
  /** Servers with more pages than their visit interval allows: how many, and the worst of them. */
  readonly infeasibleServers: number
  readonly worst: readonly InfeasibleServer[]
  /**
   * What falls short. `hooks`: sockets would suffice for downloads, but extractors, hooks and listeners hold them.
   * `sockets`: they do not suffice for downloads. `politeness`: only single servers, for their pauses.
   */
  readonly bottleneck: 'hooks' | 'sockets' | 'politeness' | undefined
  /** The same in a sentence, and what can be done. */
  readonly why: string | undefined
  /** The policy that chooses among servers now. */
  readonly policy: Exclude<RefreshPolicy, 'auto'>
}

/** A server that cannot be refreshed as wished, however many sockets there are. */
export interface InfeasibleServer {
  readonly host: string
  readonly pages: number
  /** The access interval that its pages wish: 1 / L_i. */
  readonly wantedMs: number
  /** The shortest that is possible: a visit, and the pause after it. */
  readonly possibleMs: number
  /** By how much the intervals of its pages are lengthened. */
  readonly stretch: number
  /** In a sentence. */
  readonly why: string
}

/** What a visit to a page, known or new, has shown. */
export interface PageObservation {
  /** 304: the server says that it has not changed. */
  readonly status: number
  readonly at: number
  readonly downloadMs: number
  readonly depth: number
  /** Of its canonical content; undefined if it was not read. */
  readonly digest?: string | undefined
  readonly etag?: string | undefined
  readonly modified?: string | undefined
  /** Whether validators were sent. */
  readonly conditional: boolean
  /** The pause that its host asks for. */
  readonly delayMs?: number | undefined
  readonly hint?: SitemapHint | undefined
}

/**
 * Why a visit to a known page found none. `gone`: 410. `not-found`: 404, or it leads elsewhere. `failed`: nobody knows.
 * `put-off`: the visit was not made, or says nothing about the page.
 */
export type Miss = 'gone' | 'not-found' | 'failed' | 'put-off'

/** What follows from a visit. */
export interface NextVisit {
  /** Undefined: nothing that anybody must be told. */
  readonly change: Change | undefined
  readonly record: PageRecord
  /** When to visit it again. */
  readonly at: number
}

/** What the engine asks about known pages. */
export interface RefreshScheduler {
  readonly rules: RefreshRules
  /** Pages that are known. */
  readonly pages: number
  /** What to send along so that the server need not send a page that has not changed; undefined: it is to send it. */
  conditionOf(record: PageRecord, chance: number): Validators | undefined
  /** A page was seen; `before` is what was known of it, if anything. */
  observed(host: string, before: PageRecord | undefined, sight: PageObservation): NextVisit
  /** A page was asked for the first time, and not seen. */
  failed(host: string, depth: number, miss: Miss, at: number): NextVisit
  /** A known page was not seen. */
  missed(host: string, before: PageRecord, miss: Miss, at: number): NextVisit
  /** The visit held its slot for so long after the download. */
  held(host: string, ms: number): void
  /** What is to be remembered of a server. */
  serverOf(host: string): ServerRecord | undefined
  /** Takes up a page that was known before this run; needed only where the aim is `fresh`. */
  remember(record: PageRecord): void
  /** Goes on from what was remembered of a server. */
  restore(host: string, record: ServerRecord): void
  /** Another shard goes on with servers: what it must know. */
  leave(isLeaving: (host: string) => boolean): [host: string, record: ServerRecord][]
  feasibility(): Feasibility
  /** Visits a second that known pages ask for and their servers can take, by parts of the servers. Looks at every server. */
  demandBy(partOf: (host: string) => number): Map<number, number>
  /** Which of the hosts that wait goes first: the smallest. */
  policy(host: { readonly host: string; readonly readyAt: number }): number
}
