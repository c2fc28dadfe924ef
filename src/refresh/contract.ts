import type { Validators } from '../fetch/contract.js'
import type { Change, RequestExtras, SitemapHint } from '../types.js'

/**
 * When known pages are visited again (Tamura & Kitsuregawa 2009). The steps for a page: what visits observed
 * (`history`) → how often it changes (estimator) → how often it should be visited (aim) → what its server and the
 * sockets allow (`Servers`, eq. 2–5) → the time of its next visit.
 *
 * Nothing here knows a clock, a socket or a store: times are passed in, records are passed in and out. So the simulator
 * runs the same objects. All times are in ms, rates in changes or visits per ms.
 */

/** `archive`: catch every change. `fresh`: the highest mean freshness that the same number of visits can buy. */
export type RefreshAim = 'archive' | 'fresh'

/** Which of the waiting servers gets a socket next. `auto`: EDF while sockets suffice, SJF while they do not. */
export type RefreshPolicy = 'auto' | 'edf' | 'freq' | 'fcfs' | 'rm' | 'sjf'

/** What a user can configure about refreshing, validated and in its final unit. */
export interface RefreshRules {
  /** The shortest and the longest wanted interval between two visits to a page, before any stretch. */
  readonly minMs: number
  readonly maxMs: number
  /** The interval of a page about which nothing is known. */
  readonly firstMs: number
  /** Share of a page's changes that visits should catch (0…1). With `fresh`, it determines the budget of visits. */
  readonly target: number
  readonly aim: RefreshAim
  readonly policy: RefreshPolicy
  /** Share of sockets, and of each server's visits, that refreshing may use; the rest is for new pages. */
  readonly share: number
  /** Infinity: for ever. Otherwise the number of rounds over all known pages, as fast as politeness allows. */
  readonly rounds: number
  /** The run ends after this duration, or at this time. Infinity: it does not end on its own. */
  readonly untilMs: number
  readonly untilAt: number
  /** Whether pages that have not changed are delivered too. */
  readonly unchanged: boolean
  /** In rounds: whether every known page is fetched anew and delivered, whether or not it has changed. */
  readonly complete: boolean
}

/** One visit, as the estimator sees it. */
export interface Observation {
  /** Time since the previous visit. */
  readonly elapsedMs: number
  /** Whether the content differed from that of the previous visit. */
  readonly changed: boolean
  /** Age of the content at this visit, if the server reported it (Last-Modified). */
  readonly ageMs?: number | undefined
}

/** What is assumed about a page's changes before any visit has shown whether it changes. */
export interface Prior {
  /** The assumed interval between changes. */
  readonly intervalMs: number
  /** How many observations the assumption is worth. */
  readonly weight: number
}

/** What is stored about a page, as JSON. */
export interface PageRecord {
  /** When it was last visited. */
  readonly at: number
  /** The wanted interval between visits, before any stretch: the page adds 1 / `every` to its server's load. */
  readonly every: number
  /** The estimated interval between its changes. */
  readonly change: number
  /** Links followed from a seed. */
  readonly depth: number
  /** What visits observed, encoded by the estimator; a few dozen characters at most. */
  readonly history: string
  /** Digest of its canonical content when it was last read. */
  readonly digest?: string | undefined
  readonly etag?: string | undefined
  readonly modified?: string | undefined
  /** How reliable the server's validators are: below 0 they have proved wrong and are not used. */
  readonly trust?: number | undefined
  /** Accumulated weight of consecutive visits that found no page. */
  readonly misses?: number | undefined
  /** Visits since it was found to be gone; absent while the page exists. */
  readonly gone?: number | undefined
  /** It was requested but never fetched, so it counts as gone from the start. */
  readonly unseen?: true | undefined
  /** The round that it was last queued for: see `RefreshRules.rounds`. */
  readonly round?: number | undefined
  /** What its request has besides the URL. Only for rounds: otherwise the frontier has the request. */
  readonly priority?: number | undefined
  readonly extras?: RequestExtras | undefined
}

/** What is stored about a server (server i of Tamura & Kitsuregawa), as JSON. */
export interface ServerRecord {
  /** Pages that are revisited. */
  readonly pages: number
  /** L_i: the sum of 1 / `every` over its pages. */
  readonly load: number
  /** Mean duration of a download. 0: not known yet. */
  readonly download: number
  /** Mean time that a visit holds its slot after the download, for extractors and hooks. e_i is the sum of both. */
  readonly held?: number | undefined
  /** The delay that the server requested; absent if the crawl's own is at least as long. */
  readonly delay?: number | undefined
  /** Mean of the logarithms of its pages' change intervals, and the number of values in the mean. */
  readonly habit?: readonly [meanLog: number, count: number] | undefined
}

/** Whether the wanted visits can be made, and what was done about it if not. */
export interface Feasibility {
  /** Whether all wanted visits can be made without a stretch. */
  readonly feasible: boolean
  /**
   * Whether the schedule is feasible but has few sockets to spare, so that visits queue for a socket and are sometimes
   * late. The bound of eq. 4 is necessary, not sufficient; from 1.5 times the bound on, waiting is negligible.
   */
  readonly tight: boolean
  readonly socketsAvailable: number
  /** The bound of eq. 4 for the wanted visits: fewer sockets are certainly too few. */
  readonly socketsNeeded: number
  /** The same for the scheduled visits, after the stretch. */
  readonly socketsScheduled: number
  /** The factor by which intervals are lengthened on all servers; 1: not at all. */
  readonly stretch: number
  readonly servers: number
  readonly pages: number
  /** Visits per second: wanted, and scheduled. */
  readonly wantedPerSecond: number
  readonly scheduledPerSecond: number
  /** Servers with more pages than their visit interval allows: their number, and the worst of them. */
  readonly infeasibleServers: number
  readonly worst: readonly InfeasibleServer[]
  /**
   * What limits the schedule. `hooks`: sockets would suffice for downloads, but extractors, hooks and listeners hold
   * them. `sockets`: there are too few sockets for the downloads. `politeness`: only single servers, because of their
   * pauses.
   */
  readonly bottleneck: 'hooks' | 'sockets' | 'politeness' | undefined
  /** The same as a sentence, with what to do about it. */
  readonly why: string | undefined
  /** The policy that currently chooses among servers. */
  readonly policy: Exclude<RefreshPolicy, 'auto'>
}

/** A server whose pages cannot be visited as often as wanted, no matter how many sockets there are. */
export interface InfeasibleServer {
  readonly host: string
  readonly pages: number
  /** The wanted access interval: 1 / L_i. */
  readonly wantedMs: number
  /** The shortest possible access interval: a visit and the pause after it. */
  readonly possibleMs: number
  /** The factor by which the intervals of its pages are lengthened. */
  readonly stretch: number
  /** The reason as a sentence. */
  readonly why: string
}

/** What a visit to a page, known or new, observed. */
export interface PageObservation {
  /** 304: the server says that the page has not changed. */
  readonly status: number
  readonly at: number
  readonly downloadMs: number
  readonly depth: number
  /** Digest of its canonical content; undefined if it was not read. */
  readonly digest?: string | undefined
  readonly etag?: string | undefined
  readonly modified?: string | undefined
  /** Whether the request was conditional (validators were sent). */
  readonly conditional: boolean
  /** The delay that its host requests. */
  readonly delayMs?: number | undefined
  readonly hint?: SitemapHint | undefined
}

/**
 * Why a visit to a known page found none. `gone`: 410. `not-found`: 404, or it redirects elsewhere. `failed`: unknown.
 * `put-off`: the visit was not made, or says nothing about the page.
 */
export type Miss = 'gone' | 'not-found' | 'failed' | 'put-off'

/** The result of a visit. */
export interface NextVisit {
  /** Undefined: nothing to report. */
  readonly change: Change | undefined
  readonly record: PageRecord
  /** When to visit it again. */
  readonly at: number
}

/** What the engine needs to know about known pages. */
export interface RefreshScheduler {
  readonly rules: RefreshRules
  /** Number of known pages. */
  readonly pages: number
  /**
   * The validators to send, so that the server need not send a page that has not changed; undefined for an
   * unconditional request.
   */
  conditionOf(record: PageRecord, chance: number): Validators | undefined
  /** A page was fetched; `before` is its record, if it was known. */
  observed(host: string, before: PageRecord | undefined, sight: PageObservation): NextVisit
  /** A page was requested for the first time and not fetched. */
  failed(host: string, depth: number, miss: Miss, at: number): NextVisit
  /** A known page was not fetched. */
  missed(host: string, before: PageRecord, miss: Miss, at: number): NextVisit
  /** The visit held its slot for this long after the download. */
  held(host: string, ms: number): void
  /** The record of a server, for the store. */
  serverOf(host: string): ServerRecord | undefined
  /** Registers a page that was known before this run; needed only if the aim is `fresh`. */
  remember(record: PageRecord): void
  /** A page that another process continues with; needed only if the aim is `fresh`. */
  forget(record: PageRecord): void
  /** Continues with the record of a server from the store. */
  restore(host: string, record: ServerRecord): void
  /** Removes servers that another shard continues with, and returns their records. */
  release(isLeaving: (host: string) => boolean): [host: string, record: ServerRecord][]
  feasibility(): Feasibility
  /** Visits per second that known pages need and their servers allow, by part. Iterates over all servers. */
  demandBy(partOf: (host: string) => number): Map<number, number>
  /** Orders waiting hosts: the smallest value goes first. */
  policy(host: { readonly host: string; readonly readyAt: number }): number
}
