/** Reads the command line of `kumo simulate`. */

import { KumoError } from '../../errors.js'
import { refreshOptions } from '../../options/check-refresh.js'
import type { RefreshRules } from '../../refresh/contract.js'
import { type Distribution, describeWorld, type RefreshWorld } from '../../sim/index.js'
import { parseDuration } from '../../time.js'
import { readArguments } from '../arguments.js'
import { UsageError } from '../usage-error.js'
import { DEFAULTS, SIMULATE_OPTIONS } from './options.js'

/** What to simulate and how to print it. */
export interface SimulateCommandLine {
  readonly world: () => Promise<RefreshWorld>
  readonly sockets: readonly number[]
  readonly delayMs: number
  readonly refresh: RefreshRules
  readonly days: number
  readonly learningDays: number
  readonly seed: number
  readonly svg: string | undefined
  readonly isJson: boolean
}

type Options = ReadonlyMap<string, readonly string[]>

/** Options that `--from` replaces. */
const WORLD_OPTIONS = ['servers', 'pages', 'change', 'download']
const MOST_SOCKETS = 1_000_000
/** More would not fit in memory. */
const MOST_PAGES = 5_000_000
const MOST_DAYS = 3650
const NO_WORLD =
  'nothing to simulate; pass a number of servers, as in: kumo simulate --servers 1000, or the folder of a crawl: ' +
  'kumo simulate --from ./crawl'

/** @throws UsageError if the command line is invalid. */
export function readSimulateCommandLine(args: readonly string[]): SimulateCommandLine {
  const { options, operands } = readArguments(args, SIMULATE_OPTIONS)
  const [stray] = operands
  if (stray !== undefined)
    throw new UsageError(`unexpected '${stray}'; for the folder of a crawl write --from ${stray}`)
  const last = (name: string) => options.get(name)?.at(-1)
  const days = number('days', last('days') ?? DEFAULTS.days, 0, MOST_DAYS)
  if (days === 0) throw new UsageError("--days: got '0'; allowed: a number above 0")
  const learn = last('learn')
  const seed = integer('seed', last('seed') ?? '1', 0)
  return {
    world: worldFactory(options, seed),
    sockets: (last('sockets') ?? DEFAULTS.sockets)
      .split(',')
      .map((each) => integer('sockets', each.trim(), 1, MOST_SOCKETS)),
    delayMs: duration('delay', last('delay') ?? DEFAULTS.delay),
    refresh: rules(options),
    days,
    learningDays: learn === undefined ? days / 3 : number('learn', learn, 0, MOST_DAYS),
    seed,
    svg: last('svg'),
    isJson: options.has('json'),
  }
}

function worldFactory(options: Options, seed: number): () => Promise<RefreshWorld> {
  const last = (name: string) => options.get(name)?.at(-1)
  const from = last('from')
  if (from !== undefined) {
    const other = WORLD_OPTIONS.find((name) => options.has(name))
    if (other !== undefined)
      throw new UsageError(`--from already describes the web; leave out --${other} or --from`)
    // Loaded on demand: it opens the database.
    return async () => (await import('../../sim/refresh/crawled.js')).crawledWorld(from)
  }
  const given = last('servers')
  if (given === undefined) throw new UsageError(NO_WORLD)
  const servers = integer('servers', given, 1, MOST_PAGES)
  const pagesPerServer = integer('pages', last('pages') ?? DEFAULTS.pages, 1, MOST_PAGES)
  if (servers * pagesPerServer > MOST_PAGES) {
    const pages = (servers * pagesPerServer).toLocaleString('en')
    throw new UsageError(`--pages: ${pages} pages in all; allowed: ${MOST_PAGES.toLocaleString('en')}`)
  }
  const changeMs = distribution('change', last('change') ?? DEFAULTS.change)
  const downloadMs = distribution('download', last('download') ?? DEFAULTS.download)
  return async () => describeWorld({ servers, pagesPerServer, changeMs, downloadMs, seed })
}

/** The rules that `.refresh({ … })` would use; it validates the values. */
function rules(options: Options): RefreshRules {
  const given: Record<string, unknown> = {}
  for (const name of ['min', 'max', 'first', 'target', 'aim', 'policy', 'share']) {
    const text = options.get(name)?.at(-1)
    if (text === undefined) continue
    if (name === 'aim' || name === 'policy') given[name] = text
    else given[name] = name === 'target' || name === 'share' ? Number(text) : duration(name, text)
  }
  try {
    return refreshOptions(given).refresh
  } catch (error) {
    if (!(error instanceof KumoError)) throw error
    throw new UsageError(error.message.replaceAll('refresh.', '--'))
  }
}

const TIMES = 'a time, such as 6h; a range, such as 1h..30d; or a median and a spread, such as 1d~1.5'

/** `1d`: constant. `1h..30d`: log-uniform. `1d~1.5`: log-normal around the median. */
function distribution(name: string, text: string): Distribution {
  const [first = '', second, third] = text.split(/\.\.|~/)
  const one = parseDuration(first)
  if (one !== undefined && one > 0 && third === undefined) {
    if (second === undefined) return { mean: one }
    if (text.includes('~')) {
      const spread = Number(second)
      if (second.trim() !== '' && spread >= 0 && spread <= 10) return { median: one, spread }
    } else {
      const other = parseDuration(second)
      if (other !== undefined && other >= one) return { min: one, max: other }
    }
  }
  throw new UsageError(`--${name}: got '${text}'; allowed: ${TIMES}`)
}

function duration(name: string, text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text)
  if (ms !== undefined) return ms
  throw new UsageError(
    `--${name}: got '${text}'; allowed: a number with a unit, such as 500ms, 5s, 2m, 1h, 1d`,
  )
}

function integer(name: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text)
  if (text !== '' && Number.isSafeInteger(value) && value >= least && value <= most) return value
  const upTo = most === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${most.toLocaleString('en')}`
  throw new UsageError(`--${name}: got '${text}'; allowed: a whole number, ${least} ${upTo}`)
}

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new UsageError(
    `--${name}: got '${text}'; allowed: a number from ${least} to ${most.toLocaleString('en')}`,
  )
}
