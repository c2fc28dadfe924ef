/** The validation kit: each check returns a value in its final unit, or throws an error that names the option. */

import { invalidOption, isPlainObject, KumoError, messageOf, optionError } from '../errors.js'
import { LINE_TEXT, requestHeaders } from '../fetch/http/headers.js'
import type { Frontier } from '../frontier/contract.js'
import { parseDuration } from '../time.js'
import { parameterFilter } from '../url/tracking.js'
import { type TrapOptions, traps as trapsOf } from '../url/traps/traps.js'

/** `option` is the full name in messages, e.g. `limit.pages`. */
export type Check<T> = (option: string, value: unknown) => T

/** `most` is inclusive. */
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

/** A count; `Infinity` means no bound. */
export function count(option: string, value: unknown, least: number): number {
  if (value === Number.POSITIVE_INFINITY) return value
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  throw invalidOption(option, value, `a whole number, ${least} or more, or Infinity`)
}

const BANDWIDTH = /^(\d+(?:\.\d+)?) ?([kMG]?)(bps|bit\/s|B\/s)$/
const PREFIXES: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 }
const BITS_PER_BYTE = 8

/** Bytes a second. `Infinity` means no bound. */
export function bandwidth(option: string, value: unknown): number {
  if (value === Number.POSITIVE_INFINITY) return value
  const [, number, prefix, unit] = typeof value === 'string' ? (BANDWIDTH.exec(value) ?? []) : []
  const bytes = (Number(number) * PREFIXES[prefix ?? '']!) / (unit === 'B/s' ? 1 : BITS_PER_BYTE)
  if (bytes >= 1) return bytes
  throw invalidOption(option, value, "a text such as '50Mbps' or '6MB/s', or Infinity")
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
  const ms = milliseconds(option, value)
  if (ms !== undefined && ms >= least) return ms
  throw invalidOption(option, value, durations(least))
}

/** A duration that most programs give in seconds, so that even `30` is more likely a mistake than milliseconds. */
export function timeout(option: string, value: unknown): number {
  const ms = milliseconds(option, value, 100)
  if (ms !== undefined && ms >= 1) return ms
  throw invalidOption(option, value, durations(1))
}

/** A duration; `Infinity` means no bound. */
export function timeLimit(option: string, value: unknown): number {
  if (value === Number.POSITIVE_INFINITY) return value
  const ms = milliseconds(option, value)
  if (ms !== undefined && ms >= 1) return ms
  throw invalidOption(option, value, `${durations(1)}, or Infinity`)
}

/** A number of threads. */
export function workers(option: string, value: unknown, most: number): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return value as number
  throw invalidOption(option, value, `a whole number, 0 to ${most}, or 'auto'`)
}

/** How long a thread may be blocked; `false` means forever. */
export function watchdog(option: string, value: unknown): number {
  if (value === false) return Number.POSITIVE_INFINITY
  const ms = milliseconds(option, value)
  if (ms !== undefined && ms >= 1) return ms
  throw invalidOption(option, value, `${durations(1)}, or false`)
}

/** Like `parseDuration`, but refuses a bare number that is more likely meant in seconds. */
function milliseconds(option: string, value: unknown, leastBare = 10): number | undefined {
  const ms = parseDuration(value)
  if (typeof value !== 'number' || ms === undefined || ms === 0 || ms >= leastBare) return ms
  const forMs = ms >= 1 ? ` For milliseconds, write '${ms}ms'.` : ''
  const allowed = `milliseconds, ${leastBare} or more, or a text with a unit; did you mean '${ms}s'?${forMs}`
  throw optionError(option, `${ms}, which means ${ms} milliseconds`, allowed)
}

function durations(least: number): string {
  return `milliseconds${least > 0 ? ` (at least ${least})` : ''}, or a text such as '250ms', '5s', '2m', '1h'`
}

export function text(option: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  throw invalidOption(option, value, 'a text that is not empty')
}

export function oneOf<T extends string>(option: string, value: unknown, allowed: readonly T[]): T {
  if (allowed.includes(value as T)) return value as T
  throw invalidOption(option, value, `one of ${allowed.map((each) => `'${each}'`).join(', ')}`)
}

/** An object with no other keys than these: a typo must not pass for an option that was left out. `hint` ends the message. */
export function record<K extends string>(
  option: string,
  value: unknown,
  keys: readonly K[],
  hint = '',
): Partial<Record<K, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  // A signal or a Map in place of `{ … }` has no wrong keys, and would pass for an object without options.
  if (!isObject || (!isPlainObject(value) && !keys.some((key) => key in value))) {
    throw invalidOption(option, value, `{ ${keys.join(', ')} }${hint}`)
  }
  for (const key of Object.keys(value)) {
    if (!keys.includes(key as K)) throw invalidOption(option, key, `the keys ${keys.join(', ')}`)
  }
  return value as Partial<Record<K, unknown>>
}

/**
 * An object of options, each checked by its own check. A key that is `undefined` is absent from the result, so that it
 * can be spread over the defaults.
 *
 * @example
 * keys('timeout', { hook: '1m', fetch: undefined }, { fetch: duration, hook: duration }) // { hook: 60_000 }
 */
export function keys<Checks extends Readonly<Record<string, Check<unknown>>>>(
  option: string,
  value: unknown,
  checks: Checks,
  hint = '',
): { [K in keyof Checks]?: ReturnType<Checks[K]> } {
  const given = record(option, value, Object.keys(checks), hint)
  const checked: Record<string, unknown> = {}
  for (const [key, check] of Object.entries(checks)) {
    if (given[key] !== undefined) checked[key] = check(`${option}.${key}`, given[key])
  }
  return checked as { [K in keyof Checks]?: ReturnType<Checks[K]> }
}

/** A part that has the methods of its contract. `hint` ends the message. */
export function part<T>(
  option: string,
  value: unknown,
  methods: readonly string[],
  contract: string,
  hint = '',
): T {
  const found = value as Record<string, unknown> | undefined
  const missing = methods.find((method) => typeof found?.[method] !== 'function')
  if (missing === undefined) return value as T
  throw invalidOption(option, value, `${contract} (with ${methods.map((m) => `${m}()`).join(', ')})${hint}`)
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

/** Headers that can be sent, and that the fetcher does not set itself. */
export function headers(option: string, value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Symbol.iterator in value) {
    throw invalidOption(option, value, "an object of names and values, such as { 'accept-language': 'ja' }")
  }
  for (const [name, line] of Object.entries(value)) {
    if (typeof line !== 'string' || !LINE_TEXT.test(line)) {
      throw invalidOption(`${option}.${name}`, line, 'one line of Latin-1 text')
    }
  }
  requestHeaders('any', value as Record<string, string>)
  return { ...value }
}

/** Runs a function of another room and puts the name of the option before the message of what it throws. */
export function naming<T>(option: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new KumoError('KUMO_INVALID_OPTION', `${option}: ${messageOf(error)}`, { cause: error })
  }
}

export function signal(option: string, value: unknown): AbortSignal | undefined {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>
  if (value === undefined || (typeof aborted === 'boolean' && typeof addEventListener === 'function')) {
    return value as AbortSignal | undefined
  }
  throw invalidOption(option, value, 'an AbortSignal, such as controller.signal or AbortSignal.timeout(5000)')
}

/** Statuses of failures. */
export function statuses(option: string, value: unknown): readonly number[] {
  const isStatus = (each: unknown) =>
    Number.isInteger(each) && (each as number) >= 400 && (each as number) <= 599
  if (Array.isArray(value) && value.every(isStatus)) return [...value]
  throw invalidOption(option, value, 'a list of statuses from 400 to 599, such as [429, 503]')
}

/** Names of query parameters. */
export function parameters(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalidOption(option, value, "a list of names such as ['utm_*', 'sid']")
  parameterFilter(value)
  return [...value]
}

/** Bounds against traps. */
export function traps(value: unknown): TrapOptions & { linksPerPage?: number; sameContent?: number } {
  const atLeastOne = (option: string, bound: unknown) => count(option, bound, 1)
  const unchecked = (_: string, bound: unknown) => bound
  const given = keys('traps', value, {
    urlLength: unchecked,
    pathDepth: unchecked,
    pathRepeats: unchecked,
    queriesPerPath: unchecked,
    identifiers: unchecked,
    linksPerPage: atLeastOne,
    sameContent: atLeastOne,
  }) as TrapOptions
  // Checks the others.
  trapsOf(given)
  return given
}
