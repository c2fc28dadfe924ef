import type { Politeness } from './contract.js'

/** Decides how much load a host may get. Pure functions; the workbench acts on them. */

/** The rules of a host that has its own. Undefined: those of the crawl apply. */
export function ownPoliteness(host: string, politeness: Politeness): Politeness | undefined {
  const own = politeness.hosts?.of(host)
  if (own?.delayMs === undefined && own?.connections === undefined) return undefined
  const { delayMs = politeness.delayMs, connections = politeness.connections } = own
  return { ...politeness, delayMs, connections }
}

/** The longest pause of any host: how long to wait if it is not known which hosts were visited. */
export function longestDelayMs({ delayMs, hosts }: Politeness): number {
  return hosts === undefined ? delayMs : hosts.maxDelayMs
}

/** The largest number of connections of any host. */
export function mostConnections({ connections, hosts }: Politeness): number {
  return hosts === undefined ? connections : hosts.maxConnections
}

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
