/**
 * What a feed says about itself. It is often wrong (WordPress says `hourly` of every site), so it may delay a poll that the index
 * wants, but never by more than a factor, and it never makes one earlier.
 */

import type { PollObservation, PollRecord } from './contract.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A hint delays a poll to at most this multiple of the interval that the index wants. */
const MOST_DELAY = 2
const DAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const ALL_HOURS = 2 ** 24 - 1
const ALL_DAYS = 2 ** 7 - 1

type StoredHints = Pick<PollRecord, 'hintMs' | 'skipHours' | 'skipDays'>

/** Hints as they are stored: a few numbers, and nothing that says "never". */
export function storedHints(hints: PollObservation['hints']): StoredHints {
  if (hints === undefined) return {}
  const { intervalMs } = hints
  let hours = 0
  for (const hour of hints.skipHours) if (Number.isInteger(hour) && hour >= 0 && hour < 24) hours |= 1 << hour
  let days = 0
  for (const name of hints.skipDays) {
    const day = DAY_NAMES.indexOf(String(name).toLowerCase())
    if (day >= 0) days |= 1 << day
  }
  return {
    ...(intervalMs !== undefined && intervalMs > 0 && Number.isFinite(intervalMs) && { hintMs: intervalMs }),
    ...(hours !== 0 && hours !== ALL_HOURS && { skipHours: hours }),
    ...(days !== 0 && days !== ALL_DAYS && { skipDays: days }),
  }
}

/** When to poll instead of at `due`, as the hints say; `due` itself if they do not mind. */
export function delayedByHints(from: number, due: number, hints: StoredHints): number {
  const latest = from + (due - from) * MOST_DELAY
  let at = Math.max(due, Math.min(latest, from + (hints.hintMs ?? 0)))
  const { skipHours = 0, skipDays = 0 } = hints
  if (skipHours === 0 && skipDays === 0) return at
  while (at < latest) {
    const date = new Date(at)
    if ((skipDays >> date.getUTCDay()) & 1) at = (Math.floor(at / DAY_MS) + 1) * DAY_MS
    else if ((skipHours >> date.getUTCHours()) & 1) at = (Math.floor(at / HOUR_MS) + 1) * HOUR_MS
    else break
  }
  return Math.min(at, latest)
}
