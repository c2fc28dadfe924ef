import type { Politeness } from './contract.js'

/** The decisions about how hard a host may be pressed. Pure: the workbench acts on them. */

/**
 * How many connections a host may have with so many requests waiting: one, and one more for each `growAt`
 * waiting, up to the maximum (system B: throughput on one server stops growing at 16 parallel downloads).
 */
export function allowance(waiting: number, politeness: Politeness): number {
  if (politeness.connections === 1) return 1
  return Math.min(politeness.connections, 1 + Math.floor(waiting / politeness.growAt))
}

/** Until when the connection that made a visit rests. */
export function restUntil(visitedAt: number, hostDelayMs: number, politeness: Politeness): number {
  return visitedAt + Math.max(politeness.delayMs, hostDelayMs)
}
