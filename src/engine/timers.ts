import type { Feasibility } from '../refresh/contract.js'
import { type Clock, everySecond, type Timer } from '../time.js'
import type { Outlet } from './outlet.js'
import type { EngineRules, Parts } from './parts.js'
import type { Stats } from './stats.js'

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
  if (before === undefined) return !now.feasible
  if (before.feasible !== now.feasible || before.infeasibleServers !== now.infeasibleServers) return true
  return Math.max(before.stretch, now.stretch) > NEWS * Math.min(before.stretch, now.stretch)
}

/** What ends a run by the clock. */
export function startTimers(
  { clock, refresh }: Parts,
  rules: EngineRules,
  end: (abort: boolean) => void,
): Timer[] {
  const begin = clock.now()
  const timers: Timer[] = []
  const endAt = (instant: number, abort: boolean) => {
    if (instant < Number.POSITIVE_INFINITY) timers.push(clock.wakeAt(instant, () => end(abort)))
  }
  endAt(begin + rules.limit.timeMs, true)
  if (refresh !== undefined) {
    const { untilMs, untilAt } = refresh.schedule.rules
    endAt(Math.min(begin + untilMs, untilAt), false)
  }
  return timers
}
