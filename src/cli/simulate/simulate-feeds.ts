/** `kumo simulate feeds`: forecasts lost articles and futile polls without sending a request. */

import { readFile, writeFile } from 'node:fs/promises'
import { KumoError } from '../../errors.js'
import type { PollOptions, PollRules } from '../../feeds/schedule/contract.js'
import { pollRules } from '../../feeds/schedule/rules.js'
import { feedsChart } from '../../sim/feeds/chart.js'
import {
  describeFeeds,
  type FeedForecast,
  type FeedWorld,
  feedHistory,
  simulateFeeds,
} from '../../sim/index.js'
import { readArguments } from '../arguments.js'
import { count, duration } from '../format.js'
import { UsageError } from '../usage-error.js'
import { FEED_DEFAULTS, SIMULATE_FEEDS_OPTIONS } from './feeds-options.js'

type Options = ReadonlyMap<string, readonly string[]>

const MOST_FEEDS = 1_000_000
const MOST_DAYS = 3650
const WORLDS = ['feeds', 'from', 'history']
const NO_WORLD =
  'nothing to simulate; pass a number of feeds, as in: kumo simulate feeds --feeds 1000, the folder of a crawl: ' +
  '--from ./crawl, or a history: --history posts.csv'

/** Resolves with the exit code. */
export async function simulateFeedsCommand(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(args, SIMULATE_FEEDS_OPTIONS)
  if (operands[0] !== undefined)
    throw new UsageError(`unexpected '${operands[0]}'; for a history write --history ${operands[0]}`)
  const last = (name: string) => options.get(name)?.at(-1)
  const rules = rulesOf(options)
  const svg = last('svg')
  // Fail before the simulation, which may take minutes, if the chart cannot be written.
  if (svg !== undefined) await write(svg, '')
  const world = await worldOf(options)
  const learn = last('learn')
  const learnDays = learn === undefined ? world.days / 3 : number('learn', learn, 0, world.days * 0.99)
  const rows: FeedForecast[] = []
  if (!options.has('json')) process.stdout.write(`${line(COLUMNS.map(({ title }) => title))}\n`)
  for (const each of rules) {
    const forecast = simulateFeeds(world, { rules: each, learnDays })
    rows.push(forecast)
    const text = options.has('json')
      ? JSON.stringify(figures(forecast))
      : line(COLUMNS.map(({ cell }) => cell(forecast)))
    process.stdout.write(`${text}\n`)
  }
  if (!options.has('json')) process.stdout.write(remarks(rows.at(-1)!))
  if (svg !== undefined) await write(svg, feedsChart(rows))
  return 0
}

async function worldOf(options: Options): Promise<FeedWorld> {
  const last = (name: string) => options.get(name)?.at(-1)
  const given = WORLDS.filter((name) => options.has(name))
  if (given.length === 0) throw new UsageError(NO_WORLD)
  if (given.length > 1)
    throw new UsageError(`--${given[0]} already says which feeds; leave out --${given[1]}`)
  const window = number('window', last('window') ?? FEED_DEFAULTS.window, 1, 100_000)
  const days = number('days', last('days') ?? FEED_DEFAULTS.days, 1, MOST_DAYS)
  const seed = number('seed', last('seed') ?? '1', 0, Number.MAX_SAFE_INTEGER)
  const [history, from] = [last('history'), last('from')]
  if (history !== undefined) return feedHistory(await read(history), { window })
  // Loaded on demand: it opens the database.
  if (from !== undefined)
    return (await import('../../sim/feeds/crawled.js')).crawledFeeds(from, { days, seed })
  return describeFeeds({
    feeds: Math.floor(number('feeds', last('feeds')!, 1, MOST_FEEDS)),
    perDay: number('per-day', last('per-day') ?? FEED_DEFAULTS.perDay, 0, 10_000),
    spread: number('spread', last('spread') ?? FEED_DEFAULTS.spread, 0, 5),
    silent: number('silent', last('silent') ?? FEED_DEFAULTS.silent, 0, 1),
    window,
    days,
    seed,
  })
}

/** One for each budget or target; `.feeds({ … })` would use the same. */
function rulesOf(options: Options): readonly PollRules[] {
  const last = (name: string) => options.get(name)?.at(-1)
  if (options.has('budget') && options.has('lost')) throw new UsageError('pass --budget or --lost, not both')
  const list = (name: 'budget' | 'lost') =>
    last(name)
      ?.split(',')
      .map((each) => ({ [name]: each.trim() }))
  const { min, max, aim } = { min: last('min'), max: last('max'), aim: last('aim') }
  try {
    return (list('budget') ?? list('lost') ?? [{}]).map((one) =>
      pollRules({ ...one, min, max, aim } as PollOptions),
    )
  } catch (error) {
    if (!(error instanceof KumoError)) throw error
    throw new UsageError(error.message.replaceAll('feeds.', '--'))
  }
}

interface Column {
  readonly title: string
  cell(forecast: FeedForecast): string
}

const COLUMNS: readonly Column[] = [
  { title: 'polls/day', cell: ({ polls, days }) => few(polls / days) },
  { title: 'articles/day', cell: ({ articles, days }) => few(articles / days) },
  { title: 'lost/day', cell: ({ lost, days }) => fine(lost / days) },
  { title: 'lost', cell: ({ lost, articles }) => percent(articles === 0 ? 0 : lost / articles) },
  {
    title: 'estimated',
    cell: ({ lostEstimate, articles }) => percent(articles === 0 ? 0 : lostEstimate / articles),
  },
  { title: 'futile', cell: ({ futile, polls }) => percent(polls === 0 ? 0 : futile / polls) },
  { title: 'delay', cell: ({ delayMs }) => duration(delayMs) },
]

/** Rows are printed as they arrive, so the widths are fixed, for typical figures; together they fit in 80 columns. */
const WIDTHS = [9, 12, 9, 7, 9, 7, 12]

function line(cells: readonly string[]): string {
  return cells.map((cell, i) => cell.padStart(WIDTHS[i]!)).join(' ')
}

/** A handful of feeds posts less than once a day. */
function few(value: number): string {
  return value >= 10 || value === 0 ? count(value) : String(Number(value.toPrecision(2)))
}

function fine(value: number): string {
  return value >= 10 ? count(value) : value.toFixed(2)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`
}

/** What other budgets would buy, below the table. */
function remarks({ feasibility }: FeedForecast): string {
  const { budgetForTarget, budgetForNone, why } = feasibility
  const polls = (value: number) =>
    value === Number.POSITIVE_INFINITY ? 'more than --min allows' : `${few(value)} polls/day`
  const lines = [
    `To lose 1 % (or what --lost says): ${polls(budgetForTarget)}; to lose almost none: ${polls(budgetForNone)}.`,
    ...(why === undefined ? [] : [`Not feasible: ${why}.`]),
  ]
  return `\n${lines.join('\n')}\n`
}

/** The fields of `--json`; every key is always present. */
function figures(forecast: FeedForecast): Record<string, unknown> {
  const { days, feeds, articles, polls, lost, lostEstimate, futile, delayMs, feasibility } = forecast
  return {
    feeds,
    days,
    pollsPerDay: polls / days,
    articlesPerDay: articles / days,
    lostPerDay: lost / days,
    lostEstimatePerDay: lostEstimate / days,
    futilePerDay: futile / days,
    delayMs,
    price: feasibility.price,
    feasible: feasibility.feasible,
    budgetForTarget: finite(feasibility.budgetForTarget),
    budgetForNone: finite(feasibility.budgetForNone),
    front: feasibility.front,
  }
}

/** JSON has no infinity. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= least && value <= most) return value
  throw new UsageError(
    `--${name}: got '${text}'; allowed: a number from ${least} to ${most.toLocaleString('en')}`,
  )
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--history: cannot read '${path}': ${(error as Error).message}`)
  }
}

async function write(path: string, svg: string): Promise<void> {
  try {
    await writeFile(path, svg)
  } catch (error) {
    throw new UsageError(`--svg: cannot write '${path}': ${(error as Error).message}`)
  }
}
