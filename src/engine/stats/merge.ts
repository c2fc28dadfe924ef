/** Merges the statistics of several shards. */

import type { Feasibility } from '../../refresh/contract.js'
import type { StoreCondition } from '../../stores/contract.js'
import { mergeFeedStats } from './feed-stats.js'
import { bottleneckOf, lineShareOf } from './meters.js'
import type { HookStageStats, IdleReason, QueueStats, StageName, StageStats, Stats } from './stats.js'
import { addCounts } from './tally.js'

/** The statistics of a shard, and its number of slots. */
export interface ShardStats {
  readonly stats: Stats
  readonly slots: number
}

const STAGES: readonly StageName[] = ['frontier', 'fetch', 'extract', 'hooks', 'admit']
const REASONS: readonly IdleReason[] = ['politeness', 'schedule', 'discovery', 'queue', 'paused', 'store']

/** Counts are added; shares of slot time are weighted by slots, and shares of a thread's time are averaged. */
export function mergeStats(shards: readonly ShardStats[]): Stats {
  const all = shards.map(({ stats }) => stats)
  const total = (value: (stats: Stats) => number) => all.reduce((sum, stats) => sum + value(stats), 0)
  const bySlots = (value: (stats: Stats) => number) => {
    const slots = shards.reduce((sum, shard) => sum + shard.slots, 0) || 1
    return shards.reduce((sum, shard) => sum + value(shard.stats) * (shard.slots / slots), 0)
  }
  const elapsedMs = Math.max(0, ...all.map((stats) => stats.elapsedMs))
  const stages = record(STAGES, (name) => mergedStage(all, name, bySlots))
  const queues = mergedQueues(all, bySlots)
  const idle = idleOf(all, bySlots)
  const threads = all.length || 1
  const threadBusy = total((stats) => stats.threadBusy ?? 0) / threads
  const recentBytesPerSecond = total((stats) => stats.recentBytesPerSecond)
  const bandwidth = all[0]?.bandwidth
  const lineShare = lineShareOf(recentBytesPerSecond, bandwidth)
  const gaps = all.flatMap(({ shortestGapMs }) => (shortestGapMs === undefined ? [] : [shortestGapMs]))
  return {
    ...all.reduce<Pick<Stats, CountName>>(addCounts, NOTHING),
    elapsedMs,
    earlierRuns: Math.max(0, ...all.map(({ earlierRuns }) => earlierRuns)),
    // Workers start one after another.
    pagesPerSecond: total((stats) => stats.pagesPerSecond * stats.elapsedMs) / Math.max(elapsedMs, 1),
    recentPagesPerSecond: total((stats) => stats.recentPagesPerSecond),
    bytesPerSecond: total((stats) => stats.bytesPerSecond * stats.elapsedMs) / Math.max(elapsedMs, 1),
    recentBytesPerSecond,
    bandwidth,
    feasibility: mergedFeasibility(all),
    feeds: mergeFeedStats(all.flatMap(({ feeds }) => (feeds === undefined ? [] : [feeds]))),
    known: total((stats) => stats.known),
    pending: total((stats) => stats.pending),
    inFlight: total((stats) => stats.inFlight),
    hosts: total((stats) => stats.hosts),
    hostsVisited: total((stats) => stats.hostsVisited),
    shortestGapMs: gaps.length === 0 ? undefined : Math.min(...gaps),
    stages,
    queues,
    idle,
    threadBusy,
    bottleneck: bottleneckOf(stages, idle, threadBusy, queues, lineShare),
    store: worst(all.map(({ store }) => store)),
    lost: total(({ lost }) => lost),
    workers: [],
  }
}

type CountName = keyof ReturnType<typeof addCounts>

const NOTHING: Pick<Stats, CountName> = {
  pages: 0,
  requests: 0,
  bytes: 0,
  redirects: 0,
  robots: 0,
  sitemaps: 0,
  retries: 0,
  failed: 0,
  skipped: 0,
  failures: {},
  skips: {},
  statuses: {},
  changes: {},
}

function mergedStage(
  all: readonly Stats[],
  name: StageName,
  bySlots: (value: (stats: Stats) => number) => number,
): StageStats {
  const stages = all.map((stats) => stats.stages[name])
  const total = (value: (stage: StageStats) => number) => stages.reduce((sum, stage) => sum + value(stage), 0)
  return {
    done: total(({ done }) => done),
    perSecond: total(({ perSecond }) => perSecond),
    queue: total(({ queue }) => queue),
    slotShare: bySlots((stats) => stats.stages[name].slotShare),
    busyShare: total(({ busyShare }) => busyShare) / (all.length || 1),
  }
}

function mergedQueues(
  all: readonly Stats[],
  bySlots: (value: (stats: Stats) => number) => number,
): Record<string, QueueStats> {
  const names = [...new Set(all.flatMap(({ queues }) => Object.keys(queues)))]
  return record(names, (name) => {
    const queues = all.flatMap((stats) => stats.queues[name] ?? [])
    const total = (value: (queue: QueueStats) => number) =>
      queues.reduce((sum, queue) => sum + value(queue), 0)
    return {
      done: total(({ done }) => done),
      perSecond: total(({ perSecond }) => perSecond),
      offloaded: total(({ offloaded }) => offloaded),
      queue: total(({ queue }) => queue),
      bytes: total(({ bytes }) => bytes),
      usedShare: total(({ usedShare }) => usedShare) / queues.length,
      slotShare: bySlots((stats) => stats.queues[name]?.slotShare ?? 0),
      busyShare: total(({ busyShare }) => busyShare) / (all.length || 1),
      stages: mergedHookStages(queues),
    }
  })
}

function mergedHookStages(queues: readonly QueueStats[]): QueueStats['stages'] {
  const names = [...new Set(queues.flatMap(({ stages }) => Object.keys(stages)))]
  return record(names, (name) => {
    const stages = queues.flatMap((queue) => queue.stages[name] ?? [])
    const total = (value: (stage: HookStageStats) => number) =>
      stages.reduce((sum, stage) => sum + value(stage), 0)
    return {
      done: total(({ done }) => done),
      perSecond: total(({ perSecond }) => perSecond),
      busyShare: total(({ busyShare }) => busyShare) / queues.length,
    }
  })
}

/**
 * A shard without pending requests is idle because of `discovery`; but while hosts of another shard wait for their delay,
 * the crawl as a whole waits for those.
 */
function idleOf(
  all: readonly Stats[],
  bySlots: (value: (stats: Stats) => number) => number,
): Record<IdleReason, number> {
  const restingOf = ({ politeness, schedule }: Record<IdleReason, number>) => politeness + schedule
  const resting = Math.max(
    0,
    ...all.map(({ idle }) => restingOf(idle) / (restingOf(idle) + idle.discovery || 1)),
  )
  const idle = record(REASONS, (reason) => bySlots((stats) => stats.idle[reason]))
  const waiting = idle.discovery * resting
  const scheduled = (waiting * idle.schedule) / (restingOf(idle) || 1)
  return {
    ...idle,
    discovery: idle.discovery - waiting,
    schedule: idle.schedule + scheduled,
    politeness: idle.politeness + waiting - scheduled,
  }
}

function worst(conditions: readonly StoreCondition[]): StoreCondition {
  return (
    conditions.find(({ state }) => state === 'paused') ??
    conditions.find(({ state }) => state === 'busy') ??
    conditions[0] ?? { state: 'ok' }
  )
}

function record<K extends string, V>(keys: readonly K[], value: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, V>
}

/** Each shard has its own servers and its own sockets. */
function mergedFeasibility(all: readonly Stats[]): Feasibility | undefined {
  const reports = all.flatMap(({ feasibility }) => (feasibility === undefined ? [] : [feasibility]))
  const [first] = reports
  if (first === undefined) return undefined
  const total = (value: (of: Feasibility) => number) => reports.reduce((sum, each) => sum + value(each), 0)
  const tightest = reports.reduce((most, each) => (tightnessOf(each) > tightnessOf(most) ? each : most))
  return {
    feasible: reports.every(({ feasible }) => feasible),
    tight: reports.every(({ feasible }) => feasible) && reports.some(({ tight }) => tight),
    socketsAvailable: total(({ socketsAvailable }) => socketsAvailable),
    socketsNeeded: total(({ socketsNeeded }) => socketsNeeded),
    socketsScheduled: total(({ socketsScheduled }) => socketsScheduled),
    stretch: Math.max(...reports.map(({ stretch }) => stretch)),
    servers: total(({ servers }) => servers),
    pages: total(({ pages }) => pages),
    wantedPerSecond: total(({ wantedPerSecond }) => wantedPerSecond),
    scheduledPerSecond: total(({ scheduledPerSecond }) => scheduledPerSecond),
    infeasibleServers: total(({ infeasibleServers }) => infeasibleServers),
    worst: reports
      .flatMap(({ worst }) => worst)
      .sort((a, b) => b.stretch - a.stretch)
      .slice(0, MAX_WORST),
    bottleneck: tightest?.bottleneck,
    why: tightest?.why,
    policy: reports.find(({ policy }) => policy === 'sjf')?.policy ?? first.policy,
  }
}

/** Compares shards that cannot keep their schedule. */
function tightnessOf({ bottleneck, stretch }: Feasibility): number {
  return bottleneck === undefined ? 0 : stretch
}

/** Servers to list. */
const MAX_WORST = 10
