/** Checks of what users give: each returns the value in its final unit, or throws an error that names the option. */

import type { HealthRules } from '../engine/visit/host-health.js'
import { KumoError, messageOf } from '../errors.js'
import { LINE_TEXT, requestHeaders } from '../fetch/http/headers.js'
import type { Frontier } from '../frontier/contract.js'
import { parseDuration } from '../time.js'
import { parameterFilter } from '../url/tracking.js'
import { traps as findTraps, type TrapOptions } from '../url/traps/traps.js'

/** Characters of a value that an error message shows: enough to recognise it, not enough to fill a screen. */
const MOST_SHOWN = 80

/** A value as an error message shows it: short, and recognisable to the one who wrote it. */
export function show(value: unknown): string {
  if (typeof value === 'string')
    return `'${value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)}…` : value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const made = classOf(value)
  if (made !== undefined) return `${/^[AEIOU]/i.test(made) ? 'an' : 'a'} ${made}`
  try {
    const text = JSON.stringify(value) ?? String(value)
    return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/** The name of the class of an object whose JSON says little or nothing about it, such as a Set. */
function classOf(value: object): string | undefined {
  if (Array.isArray(value) || isPlain(value) || 'toJSON' in value) return undefined
  return value.constructor?.name || undefined
}

/** Made by `{ … }`, here or in another realm, or without a prototype. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** An option was given what it does not take. */
export function invalidOption(option: string, given: unknown, allowed: string): KumoError {
  return new KumoError('KUMO_INVALID_OPTION', `${option}: got ${show(given)}; allowed: ${allowed}`)
}

export function integer(
  option: string,
  value: unknown,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number
  const upTo = most === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${most}`
  throw invalidOption(option, value, `a whole number, ${least} ${upTo}`)
}

/** A count that may also be Infinity, which means no bound. */
export function count(option: string, value: unknown, least: number): number {
  if (value === Number.POSITIVE_INFINITY) return value
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  throw invalidOption(option, value, `a whole number, ${least} or more, or Infinity`)
}

export function boolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw invalidOption(option, value, 'true or false')
}

export function positive(option: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw invalidOption(option, value, 'a number above 0')
}

export function duration(option: string, value: unknown, least = 0): number {
  const ms = parseDuration(value)
  if (ms !== undefined && ms >= least) return ms
  throw invalidOption(option, value, durations(least))
}

/** A duration that may also be Infinity, which lifts the limit. */
export function timeLimit(option: string, value: unknown): number {
  if (value === Number.POSITIVE_INFINITY) return value
  const ms = parseDuration(value)
  if (ms !== undefined && ms >= 1) return ms
  throw invalidOption(option, value, `${durations(1)}, or Infinity`)
}

/** A number of threads. */
export function workers(option: string, value: unknown, most: number): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number
  throw invalidOption(option, value, `a whole number, 0 to ${most}, or 'auto'`)
}

/** How long a thread may be blocked; false is for ever. */
export function watchdog(option: string, value: unknown): number {
  if (value === false) return Number.POSITIVE_INFINITY
  const ms = parseDuration(value)
  if (ms !== undefined && ms >= 1) return ms
  throw invalidOption(option, value, `${durations(1)}, or false`)
}

function durations(least: number): string {
  return `milliseconds${least > 0 ? ` (at least ${least})` : ''}, or a text such as '250ms', '5s', '2m', '1h'`
}

export function text(option: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  throw invalidOption(option, value, 'a text that is not empty')
}

/** An object whose keys are all among the allowed ones: a typo must not pass for an option that was left out. */
export function record<K extends string>(
  option: string,
  value: unknown,
  keys: readonly K[],
): Partial<Record<K, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  // A signal or a Map in place of `{ … }` has no keys that could be wrong, and would pass for no options at all.
  if (!isObject || (!isPlain(value) && !keys.some((key) => key in value))) {
    throw invalidOption(option, value, `{ ${keys.join(', ')} }`)
  }
  for (const key of Object.keys(value)) {
    if (!keys.includes(key as K)) throw invalidOption(option, `${key}`, `the keys ${keys.join(', ')}`)
  }
  return value as Partial<Record<K, unknown>>
}

/** A part that has the methods of its contract. */
export function part<T>(option: string, value: unknown, methods: readonly string[], what: string): T {
  const found = value as Record<string, unknown> | undefined
  const missing = methods.find((method) => typeof found?.[method] !== 'function')
  if (missing === undefined) return value as T
  throw invalidOption(option, value, `${what} (with ${methods.map((m) => `${m}()`).join(', ')})`)
}

export function frontierPart(option: string, value: unknown): Frontier {
  return part(option, value, ['add', 'lease', 'settle', 'nextDue', 'close'], 'a Frontier')
}

/** A text that can be sent as the value of a header. */
export function headerLine(option: string, value: unknown): string {
  const line = text(option, value)
  if (!LINE_TEXT.test(line))
    throw invalidOption(option, value, 'one line of Latin-1 text: it is sent as a header')
  return line
}

/** Headers that can be sent, and that are not the fetcher's own business. */
export function headers(option: string, value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Symbol.iterator in value) {
    throw invalidOption(option, value, "an object of names and values, such as { 'accept-language': 'ja' }")
  }
  for (const [name, line] of Object.entries(value)) {
    if (typeof line !== 'string' || !LINE_TEXT.test(line)) {
      throw invalidOption(`${option}.${name}`, line, 'one line of Latin-1 text')
    }
  }
  naming(option, () => requestHeaders('any', value as Record<string, string>))
  return { ...value }
}

/** What a room says about a value, with the name of the option that brought it there. */
export function naming<T>(option: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new KumoError('KUMO_INVALID_OPTION', `${option}: ${messageOf(error)}`, { cause: error })
  }
}

/** An abort signal, if one is given. */
export function signal(option: string, value: unknown): AbortSignal | undefined {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>
  if (value === undefined || (typeof aborted === 'boolean' && typeof addEventListener === 'function')) {
    return value as AbortSignal | undefined
  }
  throw invalidOption(option, value, 'an AbortSignal, such as controller.signal or AbortSignal.timeout(5000)')
}

/** How failures are answered: a number of tries, or every figure. */
export function retries(before: Retries, value: unknown): Retries {
  if (typeof value !== 'object' || value === null) return { ...before, times: integer('retries', value, 0) }
  const keys = [
    'times',
    'backoff',
    'maxBackoff',
    'maxRetryAfter',
    'cooldownAfter',
    'cooldown',
    'cooldowns',
  ] as const
  const given = record('retries', value, keys)
  const orElse = <T>(
    key: (typeof keys)[number],
    check: (option: string, value: unknown) => T,
    otherwise: T,
  ): T => (given[key] === undefined ? otherwise : check(`retries.${key}`, given[key]))
  const time = (option: string, ms: unknown) => duration(option, ms, 1)
  const counted = (option: string, times: unknown) => integer(option, times, 1, 1000)
  return {
    times: orElse('times', (option, times) => integer(option, times, 0), before.times),
    backoffMs: orElse('backoff', time, before.backoffMs),
    maxBackoffMs: orElse('maxBackoff', time, before.maxBackoffMs),
    maxRetryAfterMs: orElse('maxRetryAfter', (option, ms) => duration(option, ms), before.maxRetryAfterMs),
    cooldownAfter: orElse('cooldownAfter', counted, before.cooldownAfter),
    cooldownMs: orElse('cooldown', time, before.cooldownMs),
    cooldowns: orElse('cooldowns', (option, times) => integer(option, times, 0, 1000), before.cooldowns),
  }
}

/** Names of parameters. */
export function parameters(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalidOption(option, value, "a list of names such as ['utm_*', 'sid']")
  return naming(option, () => {
    parameterFilter(value)
    return [...value]
  })
}

/** Bounds of traps. */
export function traps(value: unknown): Traps {
  const keys = [
    'urlLength',
    'pathDepth',
    'pathRepeats',
    'queriesPerPath',
    'identifiers',
    'linksPerPage',
    'sameContent',
  ]
  const given = record('traps', value, keys) as Traps
  for (const key of ['linksPerPage', 'sameContent'] as const) {
    if (given[key] !== undefined) count(`traps.${key}`, given[key], 1)
  }
  return naming('traps', () => {
    findTraps(given)
    return { ...given }
  })
}

type Retries = HealthRules & { readonly times: number }
type Traps = TrapOptions & { readonly [limit in 'linksPerPage' | 'sameContent']?: number | undefined }
