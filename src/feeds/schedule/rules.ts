import { invalidOption } from '../../errors.js'
import { parseDuration } from '../../time.js'
import type { PollAim, PollOptions, PollRules } from './contract.js'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const DEFAULT_MIN_MS = 15 * MINUTE_MS
const DEFAULT_MAX_MS = 30 * DAY_MS
/** Losing none costs without end; one article in a hundred is what the paper proposes. */
const DEFAULT_LOST = 0.01
/** A feed with an interval of 0 would be polled without end. */
const LEAST_MIN_MS = 1000

const UNITS: Readonly<Record<string, number>> = {
  s: DAY_MS / 1000,
  second: DAY_MS / 1000,
  m: 1440,
  min: 1440,
  minute: 1440,
  h: 24,
  hour: 24,
  d: 1,
  day: 1,
  week: 1 / 7,
}

/** What a lost article, a futile poll and a day of delay of one article cost. */
export interface Weights {
  readonly futile: number
  /** Per article and day. */
  readonly delay: number
}

/**
 * A lost article costs 1. `complete` keeps a little weight on delay, so that a budget that is larger than needed makes
 * articles arrive sooner. With `gentle`, a poll that brings nothing costs as much as an article.
 */
export const WEIGHTS: Readonly<Record<PollAim, Weights>> = {
  complete: { futile: 0, delay: 0.002 },
  fresh: { futile: 0, delay: 1 },
  gentle: { futile: 1, delay: 0.002 },
}

/**
 * Validates what a user says about polling.
 *
 * ```ts
 * pollRules({ budget: '2000/day' })
 * pollRules({ lost: '0.5%', aim: 'fresh' })
 * ```
 *
 * @throws KumoError (`KUMO_INVALID_OPTION`) that names the option.
 */
export function pollRules(options: PollOptions = {}): PollRules {
  const { budget, lost, aim = 'complete' } = options
  if (budget !== undefined && lost !== undefined)
    throw invalidOption('feeds.lost', lost, 'nothing if feeds.budget is given: give one of both')
  if (!Object.hasOwn(WEIGHTS, aim)) throw invalidOption('feeds.aim', aim, "'complete', 'fresh' or 'gentle'")
  const maxMs = interval('max', options.max) ?? Math.max(DEFAULT_MAX_MS, interval('min', options.min) ?? 0)
  const minMs = interval('min', options.min) ?? Math.min(DEFAULT_MIN_MS, maxMs)
  if (minMs > maxMs) throw invalidOption('feeds.min', options.min, 'at most feeds.max')
  return {
    budgetPerDay: budget === undefined ? undefined : perDay(budget),
    lost: budget === undefined ? share(lost ?? DEFAULT_LOST) : undefined,
    minMs,
    maxMs,
    aim,
  }
}

function interval(name: 'min' | 'max', value: unknown): number | undefined {
  if (value === undefined) return undefined
  const ms = parseDuration(value)
  if (ms !== undefined && ms >= LEAST_MIN_MS) return ms
  throw invalidOption(`feeds.${name}`, value, "a duration of a second or more, such as '15m' or '7d'")
}

/** `'2000/day'`: polls per day. */
function perDay(value: unknown): number {
  const match = typeof value === 'string' && /^(\d+(?:\.\d+)?)\s*\/\s*([a-z]+)$/i.exec(value.trim())
  const unit = match ? UNITS[match[2]!.toLowerCase()] : undefined
  const polls = match && unit !== undefined ? Number(match[1]) * unit : 0
  if (polls > 0 && polls < Number.MAX_SAFE_INTEGER) return polls
  throw invalidOption(
    'feeds.budget',
    value,
    "a number of polls with a time, such as '2000/day' or '5/minute'",
  )
}

/** `'1%'` or 0.01. */
function share(value: unknown): number {
  const match = typeof value === 'string' && /^(\d+(?:\.\d+)?)\s*%$/.exec(value.trim())
  const number = match ? Number(match[1]) / 100 : value
  if (typeof number === 'number' && number > 0 && number < 1) return number
  throw invalidOption(
    'feeds.lost',
    value,
    "a share of articles above 0 % and below 100 %, such as '1%' or 0.01",
  )
}
