import { ROUNDING } from '../../src/refresh/policies.js'

/**
 * Q_i: how long a server idles after a download that ended at `t` (Tamura eq. 6). It idles until its next period begins,
 * so that at most one download falls into each period, and never for less than its visit interval.
 *
 * Only these simulations of servers use it. In a crawl every page has its own due time, so a server is idle until the
 * first of its pages is due.
 */
export function idleAfter(intervalMs: number, minIntervalMs: number, t: number): number {
  if (intervalMs === Number.POSITIVE_INFINITY) return minIntervalMs
  const next = Math.ceil((t / intervalMs) * (1 - ROUNDING)) * intervalMs
  return Math.max(minIntervalMs, next - t)
}
