import type { Feasibility } from '../refresh/contract.js'
import { type Clock, everySecond, type Timer } from '../time.js'
import type { Delivery } from './delivery.js'
import type { EngineParts, EngineRules } from './parts.js'
import type { Stats } from './stats/stats.js'

/** The correction that a schedule needs is reported again when it has changed by this factor. */
const CHANGE_FACTOR = 1.1

/** Emits `progress` once a second, and `feasibility` when it changes, if there are listeners. */
export function startProgressTimer(delivery: Delivery, clock: Clock, stats: () => Stats | undefined): Timer {
  let last: Feasibility | undefined
  const report = () => {
    // Asked each time: listeners may be added while the crawl runs.
    const emitsProgress = delivery.hasListeners('progress')
    const emitsFeasibility = delivery.hasListeners('feasibility')
    const now = emitsProgress || emitsFeasibility ? stats() : undefined
    if (now === undefined) return
    if (emitsProgress) void delivery.emit('progress', now)
    const { feasibility } = now
    if (!emitsFeasibility || feasibility === undefined || !hasChanged(last, feasibility)) return
    last = feasibility
    void delivery.emit('feasibility', feasibility)
  }
  return everySecond(clock, report)
}

function hasChanged(before: Feasibility | undefined, now: Feasibility): boolean {
  // The first report is of interest only if there is a problem.
  if (before === undefined) return !now.feasible || now.tight
  if (before.tight !== now.tight || before.bottleneck !== now.bottleneck) return true
  if (before.infeasibleServers !== now.infeasibleServers) return true
  return Math.max(before.stretch, now.stretch) > CHANGE_FACTOR * Math.min(before.stretch, now.stretch)
}

/** The times at which a run ends. */
export interface EndConditions {
  readonly timeMs?: number
  readonly untilMs?: number
  readonly untilAt?: number
}

/** With several shards, the main thread ends all of them. Among several processes, each ends itself. */
export function endConditions(
  { refresh, budget, membership }: EngineParts,
  { limit }: EngineRules,
): EndConditions {
  if (budget !== undefined && membership === undefined) return {}
  const { untilMs, untilAt } = refresh?.schedule.rules ?? {}
  return { timeMs: limit.timeMs, ...(untilMs && { untilMs }), ...(untilAt && { untilAt }) }
}

export function startTimers(clock: Clock, ends: EndConditions, end: (abort: boolean) => void): Timer[] {
  const { timeMs = NEVER, untilMs = NEVER, untilAt = NEVER } = ends
  const begin = clock.now()
  const timers: Timer[] = []
  const endAt = (instant: number, abort: boolean) => {
    if (instant < NEVER) timers.push(clock.wakeAt(instant, () => end(abort)))
  }
  endAt(begin + timeMs, true)
  endAt(Math.min(begin + untilMs, untilAt), false)
  return timers
}

const NEVER = Number.POSITIVE_INFINITY
