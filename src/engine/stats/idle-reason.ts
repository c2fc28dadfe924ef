import type { EngineParts, EngineRules } from '../parts.js'
import type { IdleReason } from './stats.js'

/** Why slots are free. `isHeld`: pages wait in the queues of hooks. */
export function idleReason(
  parts: EngineParts,
  { delayMs }: EngineRules,
  { isPaused, isHeld }: { readonly isPaused: boolean; readonly isHeld: boolean },
): IdleReason {
  if (isPaused) return 'paused'
  if (parts.storeState.condition().state !== 'ok') return 'store'
  const { frontier, clock, refresh, feeds } = parts
  if (frontier.pending === 0) return isHeld ? 'queue' : 'discovery'
  if (refresh === undefined && feeds === undefined) return 'politeness'
  return frontier.nextDue() > clock.now() + delayMs ? 'schedule' : 'politeness'
}
