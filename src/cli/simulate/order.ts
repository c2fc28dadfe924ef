/** What a command line of `kumo simulate` orders. */

import { KumoError } from '../../errors.js'
import { refreshOptions } from '../../options/check-refresh.js'
import type { RefreshRules } from '../../refresh/contract.js'
import { type Distribution, describeWorld, type RefreshWorld } from '../../sim/index.js'
import { parseDuration } from '../../time.js'
import { readArguments } from '../arguments.js'
import { Misuse } from '../misuse.js'
import { SIMULATE_OPTIONS, USUAL } from './options.js'

/** What is to be simulated, and what is to be made of it. */
export interface SimulateOrder {
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

/** Of these a crawl's folder tells itself. */
const DESCRIBING = ['servers', 'pages', 'change', 'download']
const MOST_SOCKETS = 1_000_000
/** More do not fit into memory. */
const MOST_PAGES = 5_000_000
const MOST_DAYS = 3650
const NO_WORLD =
  'nothing to simulate; write how many servers there are, as in: kumo simulate --servers 1000, or name the folder ' +
  'of a crawl: kumo simulate --from ./crawl'

/** @throws Misuse for what cannot be had. */
export function readSimulateOrder(args: readonly string[]): SimulateOrder {
  const { options, operands } = readArguments(args, SIMULATE_OPTIONS)
  const [stray] = operands
  if (stray !== undefined) throw new Misuse(`got '${stray}'; for the folder of a crawl write --from ${stray}`)
  const last = (name: string) => options.get(name)?.at(-1)
  const days = number('days', last('days') ?? USUAL.days, 0, MOST_DAYS)
  if (days === 0) throw new Misuse("--days: got '0'; allowed: a number above 0")
  const learn = last('learn')
  const seed = whole('seed', last('seed') ?? '1', 0)
  return {
    world: worldOrder(options, seed),
    sockets: (last('sockets') ?? USUAL.sockets)
      .split(',')
      .map((each) => whole('sockets', each.trim(), 1, MOST_SOCKETS)),
    delayMs: duration('delay', last('delay') ?? USUAL.delay),
    refresh: rules(options),
    days,
    learningDays: learn === undefined ? days / 3 : number('learn', learn, 0, MOST_DAYS),
    seed,
    svg: last('svg'),
    isJson: options.has('json'),
  }
}

function worldOrder(options: Options, seed: number): () => Promise<RefreshWorld> {
  const last = (name: string) => options.get(name)?.at(-1)
  const from = last('from')
  if (from !== undefined) {
    const other = DESCRIBING.find((name) => options.has(name))
    if (other !== undefined) throw new Misuse(`--from tells what there is; leave out --${other}, or --from`)
    // What reads folders is loaded when there is one.
    return async () => (await import('../../sim/refresh/crawled.js')).crawledWorld(from)
  }
  const given = last('servers')
  if (given === undefined) throw new Misuse(NO_WORLD)
  const servers = whole('servers', given, 1, MOST_PAGES)
  const pagesPerServer = whole('pages', last('pages') ?? USUAL.pages, 1, MOST_PAGES)
  if (servers * pagesPerServer > MOST_PAGES) {
    const pages = (servers * pagesPerServer).toLocaleString('en')
    throw new Misuse(`--pages: ${pages} pages in all; allowed: ${MOST_PAGES.toLocaleString('en')}`)
  }
  const changeMs = distribution('change', last('change') ?? USUAL.change)
  const downloadMs = distribution('download', last('download') ?? USUAL.download)
  return async () => describeWorld({ servers, pagesPerServer, changeMs, downloadMs, seed })
}

/** What `.refresh({ … })` would make of it; it checks the rest. */
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
    throw new Misuse(error.message.replaceAll('refresh.', '--'))
  }
}

const TIMES = 'a time, such as 6h; two, such as 1h..30d; or one and a spread, such as 1d~1.5'

/** `1d`: all alike. `1h..30d`: in between. `1d~1.5`: log-normal around it. */
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
  throw new Misuse(`--${name}: got '${text}'; allowed: ${TIMES}`)
}

function duration(name: string, text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text)
  if (ms !== undefined) return ms
  throw new Misuse(`--${name}: got '${text}'; allowed: a number with its unit, such as 500ms, 5s, 2m, 1h, 1d`)
}

function whole(name: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text)
  if (text !== '' && Number.isSafeInteger(value) && value >= least && value <= most) return value
  const upTo = most === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${most.toLocaleString('en')}`
  throw new Misuse(`--${name}: got '${text}'; allowed: a whole number, ${least} ${upTo}`)
}

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new Misuse(
    `--${name}: got '${text}'; allowed: a number from ${least} to ${most.toLocaleString('en')}`,
  )
}
