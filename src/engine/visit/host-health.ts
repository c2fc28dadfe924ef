import type { HostTrouble } from '../../types.js'

/** How the crawl backs off from a host that fails. */
export interface HealthRules {
  /** Backoff after the first incident; doubles with each further one. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** Longest Retry-After to honour; a longer one counts as this. */
  readonly maxRetryAfterMs: number
  /** After this many incidents in a row the host gets a cooldown. */
  readonly cooldownAfter: number
  /** Length of the first cooldown; doubles with each further incident. */
  readonly cooldownMs: number
  /** Number of cooldowns before the URLs of the host are given up. */
  readonly cooldowns: number
}

/** Cooldowns do not grow beyond this, unless the first one is already longer. */
const MAX_COOLDOWN_MS = 24 * 3_600_000

export interface Backoff {
  readonly trouble: HostTrouble
  /** The host is not visited before this. */
  readonly hostNotBefore: number
  /** When the failed URL is retried. Other URLs of the host come first: they show whether the host or the URL fails. */
  readonly retryAt: number
}

/**
 * What a transient failure means for its host. A visit that started before the last incident was noticed is part of that
 * incident: ten connections that break at once are one incident, not ten.
 *
 * `chance` is a number in [0, 1) that spreads the waits, so that hosts which failed together do not retry together.
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
  // The host is given up, so there is nothing to wait for.
  if (isDown(after, rules)) return { trouble: after, hostNotBefore: endedAt, retryAt: endedAt }
  const hostNotBefore = endedAt + wait
  return { trouble: after, hostNotBefore, retryAt: hostNotBefore + Math.min(wait, rules.maxBackoffMs) }
}

/** Whether a host has failed so often that it is given up. */
export function isDown(trouble: HostTrouble | undefined, rules: HealthRules): boolean {
  return trouble !== undefined && trouble.incidents >= rules.cooldownAfter + rules.cooldowns
}

/** When a host that is down is tried again, to revisit its known pages. */
export function nextProbeAt({ since }: HostTrouble, rules: HealthRules): number {
  return (
    since + Math.min(rules.cooldownMs * 2 ** rules.cooldowns, Math.max(MAX_COOLDOWN_MS, rules.cooldownMs))
  )
}

/** How long a URL waits for its next attempt if its host is well. */
export function retryWaitMs(attempt: number, retryAfterMs: number | undefined, rules: HealthRules): number {
  const asked = Math.min(retryAfterMs ?? 0, rules.maxRetryAfterMs)
  return Math.max(Math.min(rules.backoffMs * 2 ** attempt, rules.maxBackoffMs), asked)
}

function waitMs(incidents: number, rules: HealthRules): number {
  const cooldowns = incidents - rules.cooldownAfter
  if (cooldowns >= 0)
    return Math.min(rules.cooldownMs * 2 ** cooldowns, Math.max(MAX_COOLDOWN_MS, rules.cooldownMs))
  return Math.min(rules.backoffMs * 2 ** (incidents - 1), rules.maxBackoffMs)
}
