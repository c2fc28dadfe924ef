import type { HostTrouble } from '../../types.js'

/** How a host that fails is left alone. */
export interface HealthRules {
  /** Wait after the first incident; doubles with each. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** The longest Retry-After that is honoured; a longer one counts as this. */
  readonly maxRetryAfterMs: number
  /** After so many incidents in a row the host is set aside. */
  readonly cooldownAfter: number
  /** For how long; doubles each time it fails again. */
  readonly cooldownMs: number
  /** How often it is set aside before its URLs are given up. */
  readonly cooldowns: number
}

/** A host is set aside for no longer than this, unless the first time was to be longer already. */
const MAX_COOLDOWN_MS = 24 * 3_600_000

export interface Backoff {
  readonly trouble: HostTrouble
  /** Nothing of the host is visited before this. */
  readonly hostNotBefore: number
  /** When the URL that failed has its next turn. Others of its host come first, to see whose fault it is. */
  readonly retryAt: number
}

/**
 * What a transient failure means for its host. A visit that began before the last incident was noticed is part of it:
 * ten connections that break at once are one incident and not ten.
 *
 * `chance` is a number in [0, 1) that spreads waits, so that hosts which failed together do not return together.
 */
export function backOff(
  trouble: HostTrouble | undefined,
  visit: { readonly startedAt: number; readonly endedAt: number; readonly retryAfterMs?: number | undefined },
  rules: HealthRules,
  chance: number,
): Backoff {
  const { startedAt, endedAt } = visit
  const isSame = trouble !== undefined && startedAt < trouble.since
  const incidents = (trouble?.incidents ?? 0) + (isSame ? 0 : 1)
  const asked = Math.min(visit.retryAfterMs ?? 0, rules.maxRetryAfterMs)
  const wait = Math.max(waitMs(incidents, rules) * (0.5 + chance / 2), asked)
  const after = { incidents, since: isSame ? trouble.since : endedAt }
  // Given up: nobody has to wait to hear it.
  if (isDown(after, rules)) return { trouble: after, hostNotBefore: endedAt, retryAt: endedAt }
  const hostNotBefore = endedAt + wait
  return { trouble: after, hostNotBefore, retryAt: hostNotBefore + Math.min(wait, rules.maxBackoffMs) }
}

/** Whether a host has failed so often that nobody waits for it any longer. */
export function isDown(trouble: HostTrouble | undefined, rules: HealthRules): boolean {
  return trouble !== undefined && trouble.incidents >= rules.cooldownAfter + rules.cooldowns
}

/** When a host that is down is looked at again, for the sake of pages that are known. */
export function nextProbeAt({ since }: HostTrouble, rules: HealthRules): number {
  return (
    since + Math.min(rules.cooldownMs * 2 ** rules.cooldowns, Math.max(MAX_COOLDOWN_MS, rules.cooldownMs))
  )
}

function waitMs(incidents: number, rules: HealthRules): number {
  const aside = incidents - rules.cooldownAfter
  if (aside >= 0) return Math.min(rules.cooldownMs * 2 ** aside, Math.max(MAX_COOLDOWN_MS, rules.cooldownMs))
  return Math.min(rules.backoffMs * 2 ** (incidents - 1), rules.maxBackoffMs)
}
