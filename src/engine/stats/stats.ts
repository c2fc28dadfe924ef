import type { Feasibility } from '../../refresh/contract.js'
import type { StoreCondition } from '../../stores/contract.js'
import type { Change, FailureCode, SkipReason } from '../../types.js'

/** The stages a page passes, as statistics name them. */
export type StageName = 'frontier' | 'fetch' | 'extract' | 'hooks' | 'admit'

/**
 * Why slots stand empty. `politeness`: hosts are resting. `schedule`: known pages wait for their time. `discovery`: nothing more is known to fetch. `paused`: by the
 * user. `store`: it takes in more slowly than the crawl brings, or cannot write.
 */
export type IdleReason = 'politeness' | 'schedule' | 'discovery' | 'paused' | 'store'

/** What holds the crawl back: a stage, or the reason for slots to stand empty. */
export type Bottleneck = StageName | IdleReason

export interface StageStats {
  /** Pages (for `admit`: links) that have passed. */
  readonly done: number
  readonly perSecond: number
  /** Being worked on now. */
  readonly queue: number
  /** Share of all slot time (concurrency × elapsed) that pages spent here. */
  readonly slotShare: number
  /** Share of the thread's time that this stage kept busy. For `fetch`: what no other stage accounts for. */
  readonly busyShare: number
}

/** How a crawl stands. Counts go on where an earlier run of the same store left off; rates and shares are this run's. */
export interface Stats {
  /** Of this run. */
  readonly elapsedMs: number
  /** Runs before this one that the store remembers: 0 for a new crawl. */
  readonly earlierRuns: number
  /** Pages delivered. */
  readonly pages: number
  readonly pagesPerSecond: number
  /** The same over the last few seconds. */
  readonly recentPagesPerSecond: number
  /** Requests made, whether or not an answer came: for pages, robots.txt and sitemaps. */
  readonly requests: number
  /** Bytes of bodies read from the wire. */
  readonly bytes: number
  readonly redirects: number
  /** Requests for robots.txt. */
  readonly robots: number
  /** Sitemaps read. */
  readonly sitemaps: number
  /** Tries that failed and will be repeated. */
  readonly retries: number
  /** URLs given up, by code. */
  readonly failures: Readonly<Partial<Record<FailureCode, number>>>
  readonly failed: number
  /** URLs not fetched or not used, by reason. A link met twice counts twice. */
  readonly skips: Readonly<Partial<Record<SkipReason, number>>>
  readonly skipped: number
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** What became of pages in this run, where they are visited again: see `refresh()`. */
  readonly changes: Readonly<Partial<Record<Change, number>>>
  /** With `refresh()`: whether what is wished can be done. */
  readonly feasibility: Feasibility | undefined
  /** URLs known. */
  readonly known: number
  readonly pending: number
  readonly inFlight: number
  /** Hosts with something pending or in flight. */
  readonly hosts: number
  /** Hosts that were visited in this run. Exact up to 100,000. */
  readonly hostsVisited: number
  /**
   * The shortest pause between the end of a visit and the start of the next on the same host; undefined before
   * there was one, and when several connections to a host are allowed. 0 if a request was sent again at once because
   * its kept connection had been closed.
   */
  readonly shortestGapMs: number | undefined
  readonly stages: Readonly<Record<StageName, StageStats>>
  /** Share of slot time that stood empty, by reason. */
  readonly idle: Readonly<Record<IdleReason, number>>
  /** Share of the time that the thread was busy; undefined in virtual time. */
  readonly threadBusy: number | undefined
  readonly bottleneck: Bottleneck
  /** How the store fares. */
  readonly store: StoreCondition
  /** URLs that were lost with worker threads that died; with a durable store, none. */
  readonly lost: number
  /** Each worker thread by itself; empty if everything runs in one thread. */
  readonly workers: readonly WorkerStats[]
  /** Why the run ended; undefined while it goes on. */
  readonly reason?: EndReason | undefined
}

/** One worker thread. */
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
  /** Share of the time that the thread was busy. */
  readonly busy: number
  /** How often it was replaced because it died or hung. */
  readonly replaced: number
}

/**
 * Why a crawl ended. `done`: nothing was left. `already-done`: the store held a finished crawl and no seed was new, so
 * that nothing was fetched. `limit`: one of `limit()` was reached. `stopped`: by `stop()`. `aborted`: by the signal, or
 * by leaving a `for await`.
 */
export type EndReason = 'done' | 'already-done' | 'limit' | 'stopped' | 'aborted'

export interface Summary extends Stats {
  readonly reason: EndReason
}
