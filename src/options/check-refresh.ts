import { invalidOption } from '../errors.js'
import type { Page } from '../extract/contract.js'
import type { Module, ModuleRef } from '../modules/module.js'
import type { RefreshAim, RefreshPolicy, RefreshRules } from '../refresh/contract.js'
import type { Duration } from '../time.js'
import { boolean, type Check, count, duration, integer, keys, oneOf } from './check.js'
import { accept } from './user-code.js'

/** How known pages are revisited: see docs/refresh.md. */
export interface RefreshOptions {
  /** The shortest interval between two visits to a page. Default `'15m'`. */
  min?: Duration | undefined
  /** The longest interval. Default `'30d'`. */
  max?: Duration | undefined
  /** The interval after the first visit, before anything is known about the page. Default `'1d'`. */
  first?: Duration | undefined
  /** The share of a page's changes that visits should catch, above 0 and below 1. Default 0.6. */
  target?: number | undefined
  /** `'archive'` (default) catches every change; `'fresh'` maximizes mean freshness for the same number of visits. */
  aim?: RefreshAim | undefined
  /** Which server is visited first: `'auto'` (default), `'edf'`, `'freq'`, `'fcfs'`, `'rm'`, `'sjf'`. */
  policy?: RefreshPolicy | undefined
  /** The share of connections, and of each server's visits, that revisits may use; new pages get the rest. Default 0.9. */
  share?: number | undefined
  /** Revisits every known page this many times, instead of by schedule. */
  rounds?: number | undefined
  /** When the run ends: after a duration, or at a date. Default: never. */
  until?: Duration | Date | undefined
  /** Whether unchanged pages are delivered too. Default false. */
  unchanged?: boolean | undefined
  /**
   * With `rounds`: fetches every known page anew, without conditions, and delivers it as `changed` even if it is the same,
   * e.g. to build a lost index again. Default false: only what has changed is fetched in full and delivered.
   */
  complete?: boolean | undefined
  /**
   * Identifies the content of a page: a different result means that the page has changed. The default, `contentDigest`,
   * ignores parts that change with every request. With workers it must be a module that exports the function.
   */
  digest?: ((page: Page) => string) | Module | undefined
}

const AIMS: readonly RefreshAim[] = ['archive', 'fresh']
const POLICIES: readonly RefreshPolicy[] = ['auto', 'edf', 'freq', 'fcfs', 'rm', 'sjf']
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const DEFAULT_MIN_MS = 15 * MINUTE_MS
const DEFAULT_MAX_MS = 30 * DAY_MS
/** Where the estimator learns most from a visit. */
const DEFAULT_TARGET = 0.6
const DEFAULT_SHARE = 0.9
const MOST_ROUNDS = 1_000_000

interface CheckedRefresh {
  readonly refresh: RefreshRules
  readonly digest: ((page: Page) => string) | ModuleRef | undefined
}

const interval: Check<number> = (option, value) => duration(option, value, 1)

const CHECKS = {
  min: interval,
  max: interval,
  first: interval,
  target: share({ mayBeOne: false }),
  aim: (option: string, value: unknown) => oneOf(option, value, AIMS),
  policy: (option: string, value: unknown) => oneOf(option, value, POLICIES),
  share: share({ mayBeOne: true }),
  rounds: checkRounds,
  until: checkEnd,
  unchanged: boolean,
  complete: boolean,
  digest: (_: string, value: unknown) => accept('digest', value),
} satisfies { [Key in keyof RefreshOptions]-?: Check<unknown> }

export function refreshOptions(value: unknown): CheckedRefresh {
  const given = keys('refresh', value, CHECKS)
  const maxMs = given.max ?? Math.max(DEFAULT_MAX_MS, given.min ?? 0)
  const minMs = given.min ?? Math.min(DEFAULT_MIN_MS, maxMs)
  if (minMs > maxMs) {
    throw invalidOption('refresh.min', (value as RefreshOptions).min, 'at most refresh.max')
  }
  // A schedule fetches pages when they have probably changed; fetching all of them anew has no end.
  if (given.complete && (given.rounds ?? Number.POSITIVE_INFINITY) === Number.POSITIVE_INFINITY)
    throw invalidOption('refresh.complete', true, 'true only with rounds, e.g. { rounds: 1, complete: true }')
  return {
    refresh: {
      minMs,
      maxMs,
      firstMs: Math.min(Math.max(given.first ?? DAY_MS, minMs), maxMs),
      target: given.target ?? DEFAULT_TARGET,
      aim: given.aim ?? 'archive',
      policy: given.policy ?? 'auto',
      share: given.share ?? DEFAULT_SHARE,
      rounds: given.rounds ?? Number.POSITIVE_INFINITY,
      untilMs: Number.POSITIVE_INFINITY,
      untilAt: Number.POSITIVE_INFINITY,
      ...given.until,
      unchanged: given.unchanged ?? false,
      complete: given.complete ?? false,
    },
    digest: given.digest,
  }
}

function checkRounds(option: string, value: unknown): number {
  const rounds = count(option, value, 1)
  return rounds === Number.POSITIVE_INFINITY ? rounds : integer(option, rounds, 1, MOST_ROUNDS)
}

function checkEnd(option: string, value: unknown): Partial<Pick<RefreshRules, 'untilMs' | 'untilAt'>> {
  if (!(value instanceof Date)) return { untilMs: duration(option, value, 1) }
  if (Number.isNaN(value.getTime())) throw invalidOption(option, value, 'a duration or a valid date')
  return { untilAt: value.getTime() }
}

function share({ mayBeOne }: { mayBeOne: boolean }): Check<number> {
  const allowed = mayBeOne ? 'a number above 0, at most 1' : 'a number above 0 and below 1'
  return (option, value) => {
    if (typeof value === 'number' && value > 0 && (value < 1 || (mayBeOne && value === 1))) return value
    throw invalidOption(option, value, allowed)
  }
}
