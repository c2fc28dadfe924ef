import type { Politeness } from './contract.js'

/** Decides how much load a host may get. Pure functions; the workbench acts on them. */

/**
 * The number of connections that a host may have with this many requests waiting: one, plus one for each `growAt`
 * waiting requests, up to the maximum (Udagawa et al. 2002: throughput of one server stops growing at 16 parallel downloads).
 */
export function allowance(waiting: number, politeness: Politeness): number {
  if (politeness.connections === 1) return 1
  return Math.min(politeness.connections, 1 + Math.floor(waiting / politeness.growAt))
}

/** When the connection that made a visit may be used again. */
export function restUntil(visitedAt: number, hostDelayMs: number, politeness: Politeness): number {
  return visitedAt + Math.max(politeness.delayMs, hostDelayMs)
}
