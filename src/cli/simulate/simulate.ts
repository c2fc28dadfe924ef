/** `kumo simulate`: forecasts a revisit schedule, or with `feeds` polls of feeds, without sending a request. */

import { writeFile } from 'node:fs/promises'
import { type RefreshForecast, simulateRefresh } from '../../sim/index.js'
import { type ForecastRow, forecastChart } from '../../sim/refresh/chart.js'
import { bytes, count, counted, duration } from '../format.js'
import { UsageError } from '../usage-error.js'
import { readSimulateCommandLine } from './command-line.js'

const DAY_MS = 86_400_000

/** Resolves with the exit code. */
export async function simulateCommand(args: readonly string[]): Promise<number> {
  if (args[0] === 'feeds') return (await import('./simulate-feeds.js')).simulateFeedsCommand(args.slice(1))
  const { sockets: numbers, days, learningDays, svg, isJson, ...commandLine } = readSimulateCommandLine(args)
  // Fail before the simulation, which may take minutes, if the chart cannot be written.
  if (svg !== undefined) await writeChart(svg, '')
  const world = await commandLine.world()
  const rows: ForecastRow[] = []
  if (!isJson) process.stdout.write(`${line(COLUMNS.map(({ title }) => title))}\n`)
  for (const sockets of numbers) {
    const forecast = simulateRefresh(world, {
      sockets,
      delayMs: commandLine.delayMs,
      refresh: commandLine.refresh,
      learningMs: learningDays * DAY_MS,
      durationMs: days * DAY_MS,
      seed: commandLine.seed,
    })
    const row = { sockets, days, forecast }
    rows.push(row)
    const text = isJson ? JSON.stringify(figures(row)) : line(COLUMNS.map(({ cell }) => cell(row)))
    process.stdout.write(`${text}\n`)
  }
  if (!isJson) process.stdout.write(remarks(rows.at(-1)!.forecast))
  if (svg !== undefined) await writeChart(svg, forecastChart(rows))
  return 0
}

interface Column {
  readonly title: string
  cell(row: ForecastRow): string
}

const COLUMNS: readonly Column[] = [
  { title: 'sockets', cell: ({ sockets }) => count(sockets) },
  { title: 'needed', cell: ({ forecast }) => count(forecast.feasibility.socketsNeeded) },
  { title: 'stretch', cell: ({ forecast }) => forecast.feasibility.stretch.toFixed(2) },
  { title: 'visits/day', cell: ({ forecast, days }) => count(forecast.visits / days) },
  { title: 'caught', cell: ({ forecast }) => percent(forecast.caughtShare) },
  { title: 'fresh', cell: ({ forecast }) => percent(forecast.freshness) },
  { title: 'age', cell: ({ forecast }) => duration(forecast.meanAgeMs) },
  { title: 'late', cell: ({ forecast }) => duration(forecast.lateness.meanMs) },
  { title: 'bytes/day', cell: ({ forecast, days }) => bytes(forecast.bytes / days) },
]

/** Rows are printed as they arrive, so the widths are fixed, for typical figures; together they fit in 80 columns. */
const WIDTHS = [7, 6, 7, 10, 6, 5, 11, 11, 9]

function line(cells: readonly string[]): string {
  return cells.map((cell, i) => cell.padStart(WIDTHS[i]!)).join(' ')
}

function percent(share: number): string {
  const text = (100 * share).toFixed(1)
  return `${text === '100.0' ? '100' : text}%`
}

/** A note below the table if no number of sockets is enough. */
function remarks({ feasibility }: RefreshForecast): string {
  const { infeasibleServers, worst } = feasibility
  if (infeasibleServers === 0) return ''
  const [first] = worst
  const example = first === undefined ? '' : `; ${first.host}: ${first.why}`
  return `\n${counted(infeasibleServers, 'server')} cannot be visited as often as planned with any number of sockets${example}\n`
}

/** The fields of `--json`; every key is always present. */
function figures({ sockets, days, forecast }: ForecastRow): Record<string, unknown> {
  const { feasibility, lateness, socketsUsed } = forecast
  return {
    sockets,
    socketsNeeded: feasibility.socketsNeeded,
    socketsUsed: socketsUsed.mean,
    feasible: feasibility.feasible,
    tight: feasibility.tight,
    stretch: feasibility.stretch,
    policy: feasibility.policy,
    servers: feasibility.servers,
    pages: feasibility.pages,
    infeasibleServers: feasibility.infeasibleServers,
    visitsPerDay: forecast.visits / days,
    missedPerDay: forecast.missed / days,
    wantedPerDay: (feasibility.wantedPerSecond * DAY_MS) / 1000,
    changesPerDay: forecast.changes / days,
    caughtShare: forecast.caughtShare,
    freshness: forecast.freshness,
    meanAgeMs: forecast.meanAgeMs,
    latenessMs: lateness.meanMs,
    worstLatenessMs: lateness.worstMs,
    starvedServers: lateness.starved,
    bytesPerDay: forecast.bytes / days,
  }
}

async function writeChart(path: string, svg: string): Promise<void> {
  try {
    await writeFile(path, svg)
  } catch (error) {
    throw new UsageError(`--svg: cannot write '${path}': ${(error as Error).message}`)
  }
}
