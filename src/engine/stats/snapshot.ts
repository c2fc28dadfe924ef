import type { EngineParts, EngineRules } from '../parts.js'
import { bottleneckOf, type Meters } from './meters.js'
import type { Stats } from './stats.js'
import type { Tally } from './tally.js'

const NONE = Object.freeze([])

/** The statistics of a shard at this moment. */
export function snapshot(
  { clock, frontier, seen, storeState: memory }: EngineParts,
  rules: EngineRules,
  tally: Tally,
  meters: Meters,
  { inFlight, earlierRuns, feasibility }: Pick<Stats, 'inFlight' | 'earlierRuns' | 'feasibility'>,
): Stats {
  const elapsedMs = meters.elapsedMs
  const threadBusy = meters.threadBusy
  const stages = meters.stages(threadBusy)
  const idle = meters.idle
  return {
    elapsedMs,
    earlierRuns,
    pages: tally.pages,
    pagesPerSecond: ((tally.pages - tally.pagesBefore) * 1000) / Math.max(elapsedMs, 1),
    recentPagesPerSecond: tally.recentPagesPerSecond(clock.now()),
    requests: tally.requests,
    bytes: tally.bytes,
    redirects: tally.redirects,
    robots: tally.robots,
    sitemaps: tally.sitemaps,
    retries: tally.retries,
    failures: { ...tally.failures },
    failed: tally.failed,
    skips: { ...tally.skips },
    skipped: tally.skipped,
    statuses: { ...tally.statuses },
    changes: { ...tally.changes },
    feasibility,
    known: seen.size,
    pending: frontier.pending,
    inFlight,
    hosts: frontier.hosts,
    hostsVisited: tally.hostsVisited,
    shortestGapMs: rules.connectionsPerHost === 1 ? tally.shortestGapMs : undefined,
    stages,
    idle,
    threadBusy,
    bottleneck: bottleneckOf(stages, idle, threadBusy),
    store: memory.condition(),
    lost: 0,
    workers: NONE,
  }
}
