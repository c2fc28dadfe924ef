import { type RefreshOptions, refreshOptions } from '../../options/check-refresh.js'
import type { RefreshRules } from '../../refresh/contract.js'

/**
 * The rules for a simulation, from the options of `.refresh({ … })`.
 *
 * @example
 * simulateRefresh(world, { sockets: 20, delayMs: 1000, refresh: refreshRules({ aim: 'fresh' }), durationMs: 86_400_000 })
 */
export function refreshRules(options: RefreshOptions = {}): RefreshRules {
  return refreshOptions(options).refresh
}
