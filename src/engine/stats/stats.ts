import type { FeedStats } from '../../feeds/follow/contract.js'
import type { Feasibility } from '../../refresh/contract.js'
import type { StoreCondition } from '../../stores/contract.js'
import type { Change, FailureCode, SkipReason } from '../../types.js'

/** The stages a page passes, as statistics name them. */
export type StageName = 'frontier' | 'fetch' | 'extract' | 'hooks' | 'admit'

/**
 * Why slots are idle. `politeness`: hosts wait for their delay. `schedule`: known pages wait for their next visit.
 * `discovery`: there is nothing left to fetch. `queue`: the same, and hooks still work on pages in their queues.
 * `paused`: `pause()` was called. `store`: the store is slower than the crawl, or cannot write.
 */
export type IdleReason = 'politeness' | 'schedule' | 'discovery' | 'queue' | 'paused' | 'store'

/**
 * What limits the speed of the crawl: a stage, a hook with a queue (`hook search`, with its slowest stage if it tells them:
 * `hook search-index: segment`), the limit on bandwidth, or the reason why slots are idle.
 */
export type Bottleneck = StageName | `hook ${string}` | 'bandwidth' | Exclude<IdleReason, 'queue'>

export interface StageStats {
  /** Pages (for `admit`: links) that have passed this stage. */
  readonly done: number
  readonly perSecond: number
  /** In this stage now. */
  readonly queue: number
  /** Share of all slot time (concurrency × elapsed) that pages spent here. */
  readonly slotShare: number
  /** Share of the thread's time that this stage used. For `fetch`: what no other stage accounts for. */
  readonly busyShare: number
}

/** Statistics of the queue of a hook. */
export interface QueueStats {
  /** Pages that the hook is done with. */
  readonly done: number
  /** Pages that were left to other processes: see `HookQueue.offload`. */
  readonly offloaded: number
  readonly perSecond: number
  /** Pages in the queue now, including those being processed, and bytes of their bodies. */
  readonly queue: number
  readonly bytes: number
  /** Share of the hook's parallelism that was in use. Near 1: the hook is working at its limit. */
  readonly usedShare: number
  /** Share of all slot time (concurrency × elapsed) that pages spent waiting for room in the queue. */
  readonly slotShare: number
  /** Share of the thread's time that the hook used. */
  readonly busyShare: number
  /** The stages of its work, if the hook tells them. */
  readonly stages: Readonly<Record<string, HookStageStats>>
}

/** Statistics of a stage of a hook's work. */
export interface HookStageStats {
  /** What has passed it: pages, or parts of an index that were written. */
  readonly done: number
  readonly perSecond: number
  /** Share of the thread's time that it used. */
  readonly busyShare: number
}

/** Statistics of a crawl. Counts continue from earlier runs on the same store; rates and shares are of this run. */
export interface Stats {
  /** Duration of this run. */
  readonly elapsedMs: number
  /** Earlier runs on the same store: 0 for a new crawl. */
  readonly earlierRuns: number
  /** Pages delivered. */
  readonly pages: number
  readonly pagesPerSecond: number
  /** The same over the last few seconds. */
  readonly recentPagesPerSecond: number
  /** Requests sent, for pages, robots.txt and sitemaps, with or without a response. */
  readonly requests: number
  /** Bytes of response bodies, as received. */
  readonly bytes: number
  readonly bytesPerSecond: number
  /** The same over the last few seconds. */
  readonly recentBytesPerSecond: number
  /** The limit of `limit({ bandwidth })` in bytes a second; undefined if there is none. */
  readonly bandwidth: number | undefined
  readonly redirects: number
  /** Requests for robots.txt. */
  readonly robots: number
  /** Sitemaps read. */
  readonly sitemaps: number
  /** Failed attempts that are retried. */
  readonly retries: number
  /** URLs given up, by code. */
  readonly failures: Readonly<Partial<Record<FailureCode, number>>>
  readonly failed: number
  /** URLs not fetched, or responses not used, by reason. A link found twice counts twice. */
  readonly skips: Readonly<Partial<Record<SkipReason, number>>>
  readonly skipped: number
  /** Responses by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** With `refresh()`: how pages changed in this run. */
  readonly changes: Readonly<Partial<Record<Change, number>>>
  /** With `refresh()`: whether the schedule can be kept. */
  readonly feasibility: Feasibility | undefined
  /** With `feeds()`: polls, new and lost articles. */
  readonly feeds: FeedStats | undefined
  /** URLs known. */
  readonly known: number
  readonly pending: number
  /** Visits that occupy a slot. Pages in the queues of hooks do not. */
  readonly inFlight: number
  /** Hosts with something pending or in flight. */
  readonly hosts: number
  /** Hosts visited in this run. Exact up to 100,000. */
  readonly hostsVisited: number
  /**
   * The shortest time between the end of a visit and the start of the next one to the same host. Undefined before the
   * second visit, and if several connections per host are allowed. 0 if a request was resent at once because its
   * keep-alive connection had been closed.
   */
  readonly shortestGapMs: number | undefined
  readonly stages: Readonly<Record<StageName, StageStats>>
  /** The queues of hooks that have one, by the names of the hooks. */
  readonly queues: Readonly<Record<string, QueueStats>>
  /** Share of slot time that was idle, by reason. */
  readonly idle: Readonly<Record<IdleReason, number>>
  /** Share of the time in which the thread was busy; undefined in virtual time. */
  readonly threadBusy: number | undefined
  readonly bottleneck: Bottleneck
  /** Health of the store. */
  readonly store: StoreCondition
  /** URLs that were lost with worker threads that died; with a durable store, none. */
  readonly lost: number
  /** Each worker thread by itself; empty if everything runs in one thread. */
  readonly workers: readonly WorkerStats[]
  /** Why the run ended; undefined while it goes on. */
  readonly reason?: EndReason | undefined
}

/** Statistics of one worker thread. */
export interface WorkerStats {
  /** Pages delivered. */
  readonly pages: number
  readonly recentPagesPerSecond: number
  readonly pending: number
  readonly inFlight: number
  /** Hosts with something pending or in flight. */
  readonly hosts: number
  /** Partitions that it owns. */
  readonly partitions: number
  /** Share of the time in which the thread was busy. */
  readonly busy: number
  /** How often it was replaced because it crashed or hung. */
  readonly replaced: number
}

/**
 * Why a crawl ended. `done`: nothing is left to fetch. `already-done`: the store contained a finished crawl and no seed
 * was new, so nothing was fetched. `limit`: one of the limits of `limit()` was reached. `stopped`: by `stop()`.
 * `aborted`: by the signal, or by leaving a `for await` loop.
 */
export type EndReason = 'done' | 'already-done' | 'limit' | 'stopped' | 'aborted'

export interface Summary extends Stats {
  readonly reason: EndReason
  /**
   * Rules of `scope`, `include`, `exclude` and `block` that never matched, each with its option: `exclude: glob /login`.
   * In a combination each part is a rule of its own.
   */
  readonly unusedRules: readonly string[]
}
