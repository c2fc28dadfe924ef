/**
 * The figure of system E: rounds that are missed against sockets, for five ways to choose among the servers that wait, on
 * servers drawn to the statistics of the paper's node. At the beginning all servers are due, as after a start. That is what
 * parts the policies when sockets suffice: whoever lets a server that is due every ten seconds wait behind 80,000 that are
 * due once a week misses its rounds until the queue is through. That RM misses too at three times the bound hangs on how much
 * download times differ between servers, which is not published (`SERVER_SPREAD` in world.ts); the rest does not.
 */

import { type Chart, svgOf } from '../bench/svg.js'
import type { PlainPolicy } from '../src/refresh/policies.js'
import { type Served, simulateServers } from '../src/sim/refresh/serve.js'
import {
  DAY_MS,
  drawWorld,
  feasibleOf,
  PUBLISHED,
  statisticsOf,
  type World,
  type WorldStatistics,
} from '../src/sim/refresh/world.js'
import { type Claim, printTable, writeChart } from './table.js'

const POLICIES: readonly PlainPolicy[] = ['edf', 'freq', 'fcfs', 'rm', 'sjf']
/** Sockets, by the bound of eq. 4. */
const TIMES_BOUND = [0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 5, 10, 30]
const SEED = 1
/** All servers, and as long as fits into a minute or two: the queue of the beginning is through after an hour at most. */
const SERVERS = PUBLISHED.servers
const DAYS = 0.25
/** For so long the least number of sockets is tried again. */
const LONG_DAYS = 7

/** What each policy came to at each multiple of the bound. */
type Outcome = ReadonlyMap<PlainPolicy, readonly Served[]>

export function missesAgainstSockets(): readonly Claim[] {
  const all = drawWorld({ servers: SERVERS, seed: SEED })
  const feasible = feasibleOf(all)
  printStatistics(statisticsOf(all))

  const bound = Math.ceil(statisticsOf(feasible).bound)
  const allBound = Math.ceil(statisticsOf(all).bound)
  console.log(
    `Misses of the ${feasible.servers} feasible servers alone, bound ${bound} sockets, ${DAYS} days\n`,
  )
  const alone = outcomeOf(feasible, bound)
  printOutcome(alone, bound, ({ misses }) => misses)
  console.log(`Misses of all servers, bound ${allBound} sockets, ${DAYS} days\n`)
  const together = outcomeOf(all, allBound)
  printOutcome(together, allBound, ({ misses }) => misses)
  console.log('Of these, misses of feasible servers\n')
  printOutcome(together, allBound, ({ feasibleMisses }) => feasibleMisses)

  writeChart(
    'refresh-sockets.svg',
    svgOf('Missed rounds against sockets, by policy', [
      chartOf('Feasible servers only', alone),
      chartOf('All servers', together),
    ]),
  )
  return claimsOf(feasible, bound, alone)
}

function claimsOf(world: World, bound: number, outcome: Outcome): readonly Claim[] {
  const misses = (policy: PlainPolicy, times: number) =>
    outcome.get(policy)![TIMES_BOUND.indexOf(times)]!.misses
  // A quarter of a day may be luck.
  let least: number | undefined
  let long: readonly Served[] = []
  for (const times of TIMES_BOUND.filter((each) => each >= 1 && each <= 3)) {
    if (misses('edf', times) + misses('freq', times) > 0) continue
    const sockets = Math.round(times * bound)
    long = (['edf', 'freq'] as const).map((policy) =>
      simulateServers(world, { sockets, policy, days: LONG_DAYS, seed: SEED }),
    )
    const [edf, freq] = long
    console.log(
      `${LONG_DAYS} days with ${sockets} sockets (${times} times the bound): EDF misses ${edf!.misses} and FREQ ` +
        `${freq!.misses} of ${edf!.rounds} rounds.`,
    )
    if (edf!.misses + freq!.misses > 0) continue
    least = times
    break
  }
  const scarce = [...POLICIES].sort((a, b) => misses(a, 0.5) - misses(b, 0.5))
  const still = (times: number) =>
    (['fcfs', 'rm', 'sjf'] as const).map((policy) => `${policy} ${misses(policy, times)}`).join(', ')
  const late = (times: number) =>
    (['fcfs', 'rm', 'sjf'] as const).every((policy) => misses(policy, times) > 0)

  const settled = (['fcfs', 'rm', 'sjf'] as const).map((policy) =>
    simulateServers(world, { sockets: 3 * bound, policy, days: DAYS, seed: SEED, start: 'apart' }),
  )
  const [edf] = long
  if (edf !== undefined) {
    const mbps = (edf.bytes * 8) / ((LONG_DAYS * DAY_MS) / 1000) / 1e6
    console.log(
      `EDF: ${Math.round(edf.downloadsPerDay)} downloads a day, ${mbps.toFixed(1)} Mbps (the paper: 4330000, 8.7 Mbps).`,
    )
  }
  console.log(
    `Without a common start, 3 times the bound: FCFS, RM and SJF miss ${settled.map((s) => s.misses).join(', ')}.\n`,
  )
  return [
    {
      what: `EDF and FREQ miss nothing in ${LONG_DAYS} days with ${least ?? 'no'} times the bound (the paper: about 3)`,
      holds: least !== undefined,
    },
    { what: `at that number others miss: ${still(least ?? 3)}`, holds: late(least ?? 3) },
    {
      what: `at 3 times the bound too: ${still(3)} (RM: only if download times differ as much as here)`,
      holds: late(3),
    },
    {
      what: `at 30 times the bound FCFS and SJF still miss: ${still(30)} (the paper: all three)`,
      holds: misses('fcfs', 30) > 0 && misses('sjf', 30) > 0,
    },
    { what: `below the bound SJF misses least: ${scarce.join(' < ')}`, holds: scarce[0] === 'sjf' },
  ]
}

function outcomeOf(world: World, bound: number): Outcome {
  return new Map(
    POLICIES.map((policy) => [
      policy,
      TIMES_BOUND.map((times) =>
        simulateServers(world, { sockets: Math.round(times * bound), policy, days: DAYS, seed: SEED }),
      ),
    ]),
  )
}

function printStatistics(drawn: WorldStatistics): void {
  const days = (ms: number) => ms / DAY_MS
  const rows: [string, (statistics: WorldStatistics) => number][] = [
    ['servers', ({ servers }) => servers],
    ['mean access interval, days', ({ meanIntervalMs }) => days(meanIntervalMs)],
    ['due more than once a minute, %', ({ underMinute }) => 100 * underMinute],
    ['mean download time, s', ({ meanDownloadMs }) => meanDownloadMs / 1000],
    ['mean of longest downloads, s', ({ meanLongestMs }) => meanLongestMs / 1000],
    ['servers with a longest download beyond their interval', ({ infeasible }) => infeasible],
    ['bound of eq. 4, sockets', ({ bound }) => bound],
    ['bound without those servers', ({ feasibleBound }) => feasibleBound],
    ['downloads a day', ({ downloadsPerDay }) => downloadsPerDay],
  ]
  printTable(
    ['', 'published', 'drawn'],
    rows.map(([what, of]) => [what, of(PUBLISHED), of(drawn)]),
  )
}

function printOutcome(outcome: Outcome, bound: number, figure: (served: Served) => number): void {
  printTable(
    ['times the bound', 'sockets', ...POLICIES.map((policy) => policy.toUpperCase()), 'of rounds'],
    TIMES_BOUND.map((times, i) => [
      String(times),
      Math.round(times * bound),
      ...POLICIES.map((policy) => figure(outcome.get(policy)![i]!)),
      outcome.get('edf')![i]!.rounds,
    ]),
  )
}

function chartOf(title: string, outcome: Outcome): Chart {
  return {
    title,
    xLabel: 'sockets, times the bound of eq. 4',
    yLabel: 'missed of 100,000 rounds (0.1: none)',
    scale: 'log',
    xTicks: [0.5, 1, 3, 10, 30],
    lines: POLICIES.map((policy) => ({
      label: policy.toUpperCase(),
      points: outcome.get(policy)!.map(({ missRate }, i) => [TIMES_BOUND[i]!, 1e5 * missRate] as const),
    })),
  }
}
