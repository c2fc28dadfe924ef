import type { Feasibility } from '../refresh/contract.js'
import { type Clock, everySecond, type Timer } from '../time.js'
import type { Outlet } from './delivery.js'
import type { EngineRules, Parts } from './parts.js'
import type { Stats } from './stats/stats.js'

/** The correction that a schedule needs is told again when it has moved by this much. */
const NEWS = 1.1

/** Tells those who listen, once a second, how the crawl fares; and whether its schedule can be kept, when that changes. */
export function startTelling(outlet: Outlet, clock: Clock, stats: () => Stats | undefined): Timer[] {
  const hearsProgress = outlet.hears('progress')
  const hearsFeasibility = outlet.hears('feasibility')
  if (!hearsProgress && !hearsFeasibility) return []
  let told: Feasibility | undefined
  const tell = () => {
    const now = stats()
    if (now === undefined) return
    if (hearsProgress) void outlet.tell('progress', now)
    const { feasibility } = now
    if (!hearsFeasibility || feasibility === undefined || !isNews(told, feasibility)) return
    told = feasibility
    void outlet.tell('feasibility', feasibility)
  }
  return [everySecond(clock, tell)]
}

function isNews(before: Feasibility | undefined, now: Feasibility): boolean {
  // That everything is well is no news at first.
  if (before === undefined) return !now.feasible || now.tight
  if (before.tight !== now.tight || before.bottleneck !== now.bottleneck) return true
  if (before.infeasibleServers !== now.infeasibleServers) return true
  return Math.max(before.stretch, now.stretch) > NEWS * Math.min(before.stretch, now.stretch)
}

/** When a run ends by the clock. */
export interface Ends {
  readonly timeMs?: number
  readonly untilMs?: number
  readonly untilAt?: number
}

/** Of several shards none ends by itself: whoever started them ends all. */
export function endsOf({ refresh, budget }: Parts, { limit }: EngineRules): Ends {
  if (budget !== undefined) return {}
  const { untilMs, untilAt } = refresh?.schedule.rules ?? {}
  return { timeMs: limit.timeMs, ...(untilMs && { untilMs }), ...(untilAt && { untilAt }) }
}

export function startTimers(clock: Clock, ends: Ends, end: (abort: boolean) => void): Timer[] {
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
