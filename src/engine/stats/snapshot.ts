import type { EngineParts, EngineRules } from '../parts.js'
import { bottleneckOf, lineShareOf, type Meters } from './meters.js'
import type { Stats } from './stats.js'
import type { Tally } from './tally.js'

const NONE = Object.freeze([])

/** The statistics of a shard at this moment. */
export function snapshot(
  { clock, frontier, seen, storeState: memory, delivery }: EngineParts,
  rules: EngineRules,
  tally: Tally,
  meters: Meters,
  {
    inFlight,
    earlierRuns,
    feasibility,
    feeds,
  }: Pick<Stats, 'inFlight' | 'earlierRuns' | 'feasibility' | 'feeds'>,
): Stats {
  const elapsedMs = meters.elapsedMs
  const threadBusy = meters.threadBusy
  const queues = Object.fromEntries(
    delivery.queued.map(({ queue }) => [queue.name, queue.stats(rules.concurrency)]),
  )
  const queuesBusy = Object.values(queues).reduce((sum, { busyShare }) => sum + busyShare, 0)
  const stages = meters.stages(threadBusy, queuesBusy)
  const idle = meters.idle
  const recentBytesPerSecond = tally.recentBytesPerSecond(clock.now())
  const bandwidth = rules.limit.bandwidth < Number.POSITIVE_INFINITY ? rules.limit.bandwidth : undefined
  const lineShare = lineShareOf(recentBytesPerSecond, bandwidth)
  return {
    elapsedMs,
    earlierRuns,
    pages: tally.pages,
    pagesPerSecond: ((tally.pages - tally.pagesBefore) * 1000) / Math.max(elapsedMs, 1),
    recentPagesPerSecond: tally.recentPagesPerSecond(clock.now()),
    requests: tally.requests,
    bytes: tally.bytes,
    bytesPerSecond: ((tally.bytes - tally.bytesBefore) * 1000) / Math.max(elapsedMs, 1),
    recentBytesPerSecond,
    bandwidth,
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
    feeds,
    known: seen.size,
    pending: frontier.pending,
    inFlight,
    hosts: frontier.hosts,
    hostsVisited: tally.hostsVisited,
    shortestGapMs: rules.connectionsPerHost === 1 ? tally.shortestGapMs : undefined,
    stages,
    queues,
    idle,
    threadBusy,
    bottleneck: bottleneckOf(stages, idle, threadBusy, queues, lineShare),
    store: memory.condition(),
    lost: 0,
    workers: NONE,
  }
}
