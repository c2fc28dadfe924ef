/** The options that all sinks share, checked once. */

import { assertKeys, invalidOption } from '../../errors.js'
import { type Clock, parseDuration, systemClock } from '../../time.js'
import type { DeadLetter, SinkOptions } from './contract.js'

const PAGES = 500
const BYTES = 4 * 2 ** 20
const AGE_MS = 1000
const ATTEMPTS = 8
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
const DEAD_LETTERS = 10_000

export interface SinkSettings<Item> {
  readonly pages: number
  readonly bytes: number
  readonly ageMs: number
  readonly attempts: number
  readonly firstMs: number
  readonly mostMs: number
  readonly mostDead: number
  readonly report: ((letter: DeadLetter<Item>) => void) | undefined
  readonly clock: Clock
}

/** The keys of `SinkOptions`, for sinks that have more. */
export const SINK_KEYS = ['batch', 'retry', 'dead', 'clock'] as const

export function sinkSettings<Item>(sink: string, options: SinkOptions<Item>): SinkSettings<Item> {
  const { batch = {}, retry = {}, dead = {}, clock = systemClock() } = options
  assertKeys(`${sink}.batch`, batch, ['pages', 'bytes', 'age'])
  assertKeys(`${sink}.retry`, retry, ['attempts', 'first', 'most'])
  assertKeys(`${sink}.dead`, dead, ['most', 'report'])
  if (dead.report !== undefined && typeof dead.report !== 'function')
    throw invalidOption(`${sink}.dead.report`, dead.report, 'a function')
  return {
    pages: whole(`${sink}.batch.pages`, batch.pages ?? PAGES, 1),
    bytes: whole(`${sink}.batch.bytes`, batch.bytes ?? BYTES, 1),
    ageMs: duration(`${sink}.batch.age`, batch.age ?? AGE_MS),
    attempts: whole(`${sink}.retry.attempts`, retry.attempts ?? ATTEMPTS, 1),
    firstMs: duration(`${sink}.retry.first`, retry.first ?? FIRST_PAUSE_MS),
    mostMs: duration(`${sink}.retry.most`, retry.most ?? LONGEST_PAUSE_MS),
    mostDead: whole(`${sink}.dead.most`, dead.most ?? DEAD_LETTERS, 0),
    report: dead.report,
    clock,
  }
}

function whole(option: string, value: unknown, least: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  throw invalidOption(option, value, `a whole number, ${least} or more`)
}

function duration(option: string, value: unknown): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw invalidOption(option, value, "a duration such as '500ms' or '5s'")
  return ms
}

export function text(option: string, value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value
  throw invalidOption(option, value, what)
}

const UNITS: Readonly<Record<string, number>> = { kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 }

/** A number of bytes, or a text such as `'256MB'`. */
export type ByteSize = number | `${number}${'KB' | 'MB' | 'GB' | 'TB'}`

export function byteSize(option: string, value: unknown): number {
  const [, number, unit] =
    typeof value === 'string' ? (/^(\d+(?:\.\d+)?)\s*([kmgt]b)$/i.exec(value.trim()) ?? []) : []
  const bytes = unit === undefined ? value : Number(number) * UNITS[unit.toLowerCase()]!
  if (typeof bytes === 'number' && bytes >= 1 && bytes <= Number.MAX_SAFE_INTEGER) return Math.round(bytes)
  throw invalidOption(option, value, "a number of bytes, or a text such as '256MB'")
}
