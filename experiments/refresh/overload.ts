/**
 * A sudden overload: three times as much work as can be done. A schedule that keeps the wanted intervals falls further
 * and further behind, on some servers more than on others. System E stretches the intervals instead: how soon, and is
 * the burden shared evenly?
 *
 * Lateness has two meanings. Relative to the wanted time: all pages are visited later than wanted, by design, and
 * should be late by the same factor. Relative to the schedule: what is left to chance after the stretch, because of
 * queues.
 */

import { refreshOptions } from '../../src/options/check-refresh.js'
import type { RefreshPolicy } from '../../src/refresh/contract.js'
import type { RefreshForecast, SimulatedServer } from '../../src/sim/refresh/contract.js'
import { describeWorld } from '../../src/sim/refresh/described.js'
import { RefreshRun } from '../../src/sim/refresh/run.js'
import { seededRandom } from '../../src/time.js'
import { type Claim, printTable } from '../table.js'

const POLICIES: readonly RefreshPolicy[] = ['auto', 'edf', 'freq', 'fcfs', 'rm', 'sjf']
const MINUTE_MS = 60_000
const SOCKETS = 20
const SERVERS = 250
/** Pages per server before the overload: few enough that no server is too slow for three times as many. */
const PAGES = { least: 2, most: 6 }
const OVERLOAD = 3
/** Time before the overload, the first part of which is spent on finding all pages. */
const CALM_MINUTES = 30
/** How long the overload is observed, and then scored. */
const WATCHED_MINUTES = 30
const SCORED_MINUTES = 90
const SAMPLE_MS = 10_000

/** What causes the overload. */
type Cause = 'pages' | 'downloads'

interface Overload {
  readonly forecast: RefreshForecast
  /** Load before it, relative to the sockets. */
  readonly before: number
  /** Minutes until the schedule fits the sockets for good, by the true duration of downloads. */
  readonly fitsAfter: number
  /** Minutes until the backlog of known pages is largest, and its size then. */
  readonly growsFor: number
  readonly largest: number
  /** Minutes until all pages have been found. */
  readonly foundAfter: number
}

export function overload(): readonly Claim[] {
  const world = drawServers()
  const pages = POLICIES.map((policy) => overloaded(world, policy, 'pages'))
  const downloads = POLICIES.map((policy) => overloaded(world, policy, 'downloads'))
  print(`Suddenly there are ${OVERLOAD} times as many pages`, pages)
  print(`Suddenly downloads take ${OVERLOAD} times as long`, downloads)
  const [morePages] = pages as [Overload]
  const [slower] = downloads as [Overload]
  return [...claims('pages', morePages), ...claims('downloads', slower)]
}

function claims(
  what: string,
  { forecast: { behindTarget: behindWanted, lateness }, fitsAfter, growsFor }: Overload,
): readonly Claim[] {
  return [
    {
      what: `${what}: the schedule fits the sockets after ${fitsAfter.toFixed(1)} minutes (at most 10)`,
      holds: fitsAfter <= 10,
    },
    {
      what: `${what}: the backlog no longer grows after ${growsFor.toFixed(1)} minutes (at most 10)`,
      holds: growsFor <= 10,
    },
    {
      what: `${what}: relative to the wanted times, the latest server is ${behindWanted.worstToMean.toFixed(2)} times as late as the mean (at most 2)`,
      holds: behindWanted.worstToMean <= 2,
    },
    {
      what:
        `${what}: relative to the schedule, lateness is ${(lateness.worstMs / 1000).toFixed(2)} s for the latest server, ` +
        `${(lateness.meanMs / 1000).toFixed(2)} s on average (at most 5 % of the interval, 3 s)`,
      holds: lateness.worstMs <= 0.05 * MINUTE_MS,
    },
    { what: `${what}: ${lateness.starved} servers starve (none)`, holds: lateness.starved === 0 },
  ]
}

function overloaded(world: readonly SimulatedServer[], policy: RefreshPolicy, cause: Cause): Overload {
  // All pages want the same fixed interval: only the load changes.
  const { refresh } = refreshOptions({ min: MINUTE_MS, max: MINUTE_MS, first: MINUTE_MS, policy })
  const run = new RefreshRun({ sockets: SOCKETS, delayMs: 1000, refresh, durationMs: 0 })
  for (const server of world) run.add(server)
  run.goTo(run.start + CALM_MINUTES * MINUTE_MS)
  const before = scheduledLoad(run, world) / SOCKETS
  const begin = run.now
  if (cause === 'downloads') run.slowness = OVERLOAD
  else for (const server of world) run.add({ ...server, pages: repeated(server.pages, OVERLOAD - 1) })

  let fitsAfter = 0
  let foundAfter = 0
  let growsFor = 0
  let largest = 0
  while (run.now < begin + WATCHED_MINUTES * MINUTE_MS) {
    run.goTo(run.now + SAMPLE_MS)
    const minutes = (run.now - begin) / MINUTE_MS
    const { overdue, unseen } = run.backlog()
    if (scheduledLoad(run, world) > SOCKETS) fitsAfter = minutes
    if (unseen > 0) foundAfter = minutes
    if (overdue > largest) {
      largest = overdue
      growsFor = minutes
    }
  }
  run.score()
  run.goTo(run.now + SCORED_MINUTES * MINUTE_MS)
  return { forecast: run.forecast(), before, fitsAfter, growsFor, largest, foundAfter }
}

/**
 * The sockets that the schedule needs (eq. 4) by the true duration of downloads, which the crawl itself has yet to
 * learn.
 */
function scheduledLoad(run: RefreshRun, world: readonly SimulatedServer[]): number {
  const { servers } = run.schedule
  let sum = 0
  for (const { host, downloadMs } of world) {
    const load = servers.get(host)?.load ?? 0
    sum += (downloadMs * run.slowness * load) / servers.stretchOf(host)
  }
  return sum
}

function drawServers(): readonly SimulatedServer[] {
  const random = seededRandom(2)
  const world = describeWorld({
    servers: SERVERS,
    pagesPerServer: PAGES.most,
    changeMs: { mean: MINUTE_MS },
    downloadMs: { min: 300, max: 2200 },
  })
  return world.servers.map((server) => {
    const pages = PAGES.least + Math.floor(random.next() * (PAGES.most - PAGES.least + 1))
    return { ...server, pages: server.pages.slice(0, pages) }
  })
}

function repeated<T>(values: readonly T[], times: number): readonly T[] {
  return Array.from({ length: times }, () => values).flat()
}

function print(what: string, outcomes: readonly Overload[]): void {
  const [{ before, forecast }] = outcomes as [Overload]
  const { stretch, socketsNeeded, socketsAvailable } = forecast.feasibility
  console.log(
    `${what}: ${SERVERS} servers, ${SOCKETS} sockets, ${Math.round(100 * before)} % of them in use before it; ` +
      `needed ${socketsNeeded}, for known pages ${socketsAvailable}, stretch ${stretch.toFixed(2)}\n`,
  )
  printTable(
    [
      'policy',
      'fits after, min',
      'backlog grows, min',
      'to pages',
      'all found, min',
      'behind wanted, s',
      'worst ÷ mean',
      'late, s',
      'worst ÷ mean',
      'starved',
    ],
    outcomes.map(({ forecast: { lateness, behindTarget: behindWanted }, ...outcome }, i) => [
      POLICIES[i]!.toUpperCase(),
      outcome.fitsAfter,
      outcome.growsFor,
      outcome.largest,
      outcome.foundAfter,
      behindWanted.meanMs / 1000,
      behindWanted.worstToMean,
      lateness.meanMs / 1000,
      lateness.worstToMean,
      lateness.starved,
    ]),
  )
}
