import type { Feasibility } from '../refresh/contract.js'
import { type Clock, everySecond, type Timer } from '../time.js'
import type { Delivery } from './delivery.js'
import type { EngineParts, EngineRules } from './parts.js'
import type { Stats } from './stats/stats.js'

/** The correction that a schedule needs is told again when it has moved by this much. */
const CHANGE_FACTOR = 1.1

/** Tells those who listen, once a second, how the crawl fares; and whether its schedule can be kept, when that changes. */
export function startProgressTimer(
  delivery: Delivery,
  clock: Clock,
  stats: () => Stats | undefined,
): Timer[] {
  const hearsProgress = delivery.hasListeners('progress')
  const hearsFeasibility = delivery.hasListeners('feasibility')
  if (!hearsProgress && !hearsFeasibility) return []
  let told: Feasibility | undefined
  const tell = () => {
    const now = stats()
    if (now === undefined) return
    if (hearsProgress) void delivery.emit('progress', now)
    const { feasibility } = now
    if (!hearsFeasibility || feasibility === undefined || !hasChanged(told, feasibility)) return
    told = feasibility
    void delivery.emit('feasibility', feasibility)
  }
  return [everySecond(clock, tell)]
}

function hasChanged(before: Feasibility | undefined, now: Feasibility): boolean {
  // That everything is well is no news at first.
  if (before === undefined) return !now.feasible || now.tight
  if (before.tight !== now.tight || before.bottleneck !== now.bottleneck) return true
  if (before.infeasibleServers !== now.infeasibleServers) return true
  return Math.max(before.stretch, now.stretch) > CHANGE_FACTOR * Math.min(before.stretch, now.stretch)
}

/** When a run ends by the clock. */
export interface EndConditions {
  readonly timeMs?: number
  readonly untilMs?: number
  readonly untilAt?: number
}

/** Of several shards none ends by itself: whoever started them ends all. */
export function endConditions({ refresh, budget }: EngineParts, { limit }: EngineRules): EndConditions {
  if (budget !== undefined) return {}
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
