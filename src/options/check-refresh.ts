/** What `.refresh({ … })` is told, checked. */

import { invalidOption } from '../errors.js'
import type { Page } from '../extract/contract.js'
import { isModule, type Module, type ModuleRef, moduleOf } from '../modules/module.js'
import type { RefreshAim, RefreshPolicy, RefreshRules } from '../refresh/contract.js'
import type { Duration } from '../time.js'
import { boolean, count, duration, integer, record } from './check.js'

/** How known pages are visited again, as it is written: see docs/refresh.md. */
export interface RefreshOptions {
  /** The shortest interval between two visits to a page. Default `'15m'`. */
  min?: Duration
  /** The longest. Default `'30d'`. */
  max?: Duration
  /** The interval after the first visit, while nothing is known of the page. Default `'1d'`. */
  first?: Duration
  /** Share of a page's changes that visits are to catch, above 0 and below 1. Default 0.6. */
  target?: number
  /** `'archive'` (default): catch each change. `'fresh'`: the largest mean freshness that as many visits can buy. */
  aim?: RefreshAim
  /** Which server goes first: `'auto'` (default), `'edf'`, `'freq'`, `'fcfs'`, `'rm'`, `'sjf'`. */
  policy?: RefreshPolicy
  /** Share of sockets, and of each server's visits, that known pages may take; the rest is for new ones. Default 0.9. */
  share?: number
  /** So many passes over all that is known, instead of a schedule. */
  rounds?: number
  /** When the run ends: after so long, or at a date. Default: not by itself. */
  until?: Duration | Date
  /** Whether pages that have not changed are delivered too. Default false. */
  unchanged?: boolean
  /**
   * What tells one content of a page from another; the default leaves out what changes by itself. With workers it must
   * be a module that exports the function.
   */
  digest?: ((page: Page) => string) | Module
}

const KEYS = [
  'min',
  'max',
  'first',
  'target',
  'aim',
  'policy',
  'share',
  'rounds',
  'until',
  'unchanged',
  'digest',
] as const

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

export interface CheckedRefresh {
  readonly refresh: RefreshRules
  readonly digest: ((page: Page) => string) | ModuleRef | undefined
}

export function refreshOptions(value: unknown): CheckedRefresh {
  const given = record('refresh', value, KEYS)
  const minMs = given.min === undefined ? undefined : duration('refresh.min', given.min, 1)
  const maxMs = given.max === undefined ? undefined : duration('refresh.max', given.max, 1)
  const longest = maxMs ?? Math.max(DEFAULT_MAX_MS, minMs ?? 0)
  const shortest = minMs ?? Math.min(DEFAULT_MIN_MS, longest)
  if (shortest > longest) throw invalidOption('refresh.min', given.min, 'at most refresh.max')
  const firstMs = given.first === undefined ? DAY_MS : duration('refresh.first', given.first, 1)
  const until = untilOf(given.until)
  return {
    refresh: {
      minMs: shortest,
      maxMs: longest,
      firstMs: Math.min(Math.max(firstMs, shortest), longest),
      target: given.target === undefined ? DEFAULT_TARGET : share('refresh.target', given.target, false),
      aim: given.aim === undefined ? 'archive' : oneOf('refresh.aim', given.aim, AIMS),
      policy: given.policy === undefined ? 'auto' : oneOf('refresh.policy', given.policy, POLICIES),
      share: given.share === undefined ? DEFAULT_SHARE : share('refresh.share', given.share, true),
      rounds: given.rounds === undefined ? Number.POSITIVE_INFINITY : roundsOf(given.rounds),
      ...until,
      unchanged: given.unchanged === undefined ? false : boolean('refresh.unchanged', given.unchanged),
    },
    digest: digestOf(given.digest),
  }
}

function roundsOf(value: unknown): number {
  const rounds = count('refresh.rounds', value, 1)
  return rounds === Number.POSITIVE_INFINITY ? rounds : integer('refresh.rounds', rounds, 1, MOST_ROUNDS)
}

function untilOf(value: unknown): Pick<RefreshRules, 'untilMs' | 'untilAt'> {
  const never = { untilMs: Number.POSITIVE_INFINITY, untilAt: Number.POSITIVE_INFINITY }
  if (value === undefined) return never
  if (!(value instanceof Date)) return { ...never, untilMs: duration('refresh.until', value, 1) }
  if (Number.isNaN(value.getTime())) throw invalidOption('refresh.until', value, 'a duration or a valid date')
  return { ...never, untilAt: value.getTime() }
}

function share(option: string, value: unknown, mayBeOne: boolean): number {
  if (typeof value === 'number' && value > 0 && (value < 1 || (mayBeOne && value === 1))) return value
  throw invalidOption(
    option,
    value,
    mayBeOne ? 'a number above 0, at most 1' : 'a number above 0 and below 1',
  )
}

function oneOf<T extends string>(option: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T
  throw invalidOption(option, value, `one of ${allowed.map((each) => `'${each}'`).join(', ')}`)
}

function digestOf(value: unknown): CheckedRefresh['digest'] {
  if (value === undefined) return undefined
  if (isModule(value)) return moduleOf('refresh.digest', value)
  if (typeof value === 'function') return value as (page: Page) => string
  throw invalidOption('refresh.digest', value, 'a function that takes a page, or a module that exports one')
}
