/**
 * The figure of system E: missed rounds against sockets for five policies, on servers generated from the statistics of
 * the paper's node. All servers are due at the start, as after a restart. This is what separates the policies when
 * sockets suffice: a policy that lets a server with a period of ten seconds wait behind 80,000 that are due once a week
 * misses its rounds until the initial queue is empty.
 *
 * How much servers differ in their mean download time was not published, so every claim is checked for several spreads.
 */

import { type Chart, svgOf } from '../../bench/svg.js'
import type { ResolvedPolicy } from '../../src/refresh/policies.js'
import { type Claim, printTable, writeChart } from '../table.js'
import { type Served, simulateServers } from './serve.js'
import {
  DAY_MS,
  drawWorld,
  feasibleOf,
  PUBLISHED,
  statisticsOf,
  type World,
  type WorldStatistics,
} from './world.js'

const POLICIES: readonly ResolvedPolicy[] = ['edf', 'freq', 'fcfs', 'rm', 'sjf']
const SEED = 1
/** Standard deviations of the logarithms of the servers' mean download times. */
const SPREADS = [0, 0.3, 0.6, 0.9, 1.2] as const
/**
 * With this spread, the feasible bound and the downloads per day, which were not fitted, are closest to the published
 * ones.
 */
const DRAWN_SPREAD = 0.9
/** Sockets, as multiples of the bound of eq. 4. */
const TIMES_BOUND = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 5, 10, 30]
/** The multiples that claims are about, for the other spreads. */
const TIMES_CLAIMED = [0.5, 1, 1.25, 1.5, 3, 30]
/** All servers, until long after the initial queue has been processed. */
const DAYS = 0.25
/** The paper's duration, for one server in ten. */
const LONG_DAYS = 300
const LONG_SAMPLE = 10
/** Enough that no server waits for a socket. */
const AMPLE_SOCKETS = 5000

interface Drawn {
  readonly spread: number
  readonly all: World
  readonly feasible: World
  /** Of the feasible servers, not rounded. */
  readonly bound: number
}

/** The result of each policy at each multiple of the bound. */
type Outcome = ReadonlyMap<ResolvedPolicy, ReadonlyMap<number, Served>>

export function missesAgainstSockets(): readonly Claim[] {
  const worlds = SPREADS.map((spread) => draw(spread))
  printStatistics(worlds)
  const outcomes = worlds.map((world) => {
    const times = world.spread === DRAWN_SPREAD ? TIMES_BOUND : TIMES_CLAIMED
    const outcome = outcomeOf(world, times, DAYS)
    console.log(
      `Spread ${world.spread}: misses of the ${world.feasible.servers} feasible servers, bound ` +
        `${world.bound.toFixed(1)} sockets, ${DAYS} days\n`,
    )
    printOutcome(outcome, world.bound, times)
    return outcome
  })
  const drawn = worlds.findIndex(({ spread }) => spread === DRAWN_SPREAD)
  writeChart(
    'refresh-sockets.svg',
    svgOf('Missed rounds against sockets, by policy', [
      chartOf(`Feasible servers only, spread ${DRAWN_SPREAD}`, outcomes[drawn]!),
    ]),
  )
  const sampled = printSamples()
  return [
    ...statisticsClaims(worlds),
    ...outcomes.flatMap((outcome, i) => policyClaims(worlds[i]!.spread, outcome)),
    ...startClaims(worlds[drawn]!),
    sampled,
    infeasibleClaim(worlds[drawn]!),
  ]
}

/** The paper's 300 days, for a sample of the servers. Takes about half an hour. */
export function longMisses(): readonly Claim[] {
  const world = draw(DRAWN_SPREAD, Math.round(PUBLISHED.servers / LONG_SAMPLE))
  const misses = (policy: ResolvedPolicy, times: number) => {
    const sockets = Math.round(times * world.bound)
    const served = simulateServers(world.feasible, { sockets, policy, days: LONG_DAYS, seed: SEED })
    const mbps = ((served.bytes * 8 * LONG_SAMPLE) / ((LONG_DAYS * DAY_MS) / 1000) / 1e6).toFixed(1)
    console.log(
      `${policy.toUpperCase()}, ${times} × the bound (${sockets} sockets): ${served.misses} of ${served.rounds} rounds ` +
        `missed; ${Math.round(served.downloadsPerDay * LONG_SAMPLE)} downloads per day and ${mbps} Mbps for all servers`,
    )
    return served.misses
  }
  const enough = [1.25, 1.5, 2, 3].find((times) => misses('edf', times) + misses('freq', times) === 0)
  const others = (['fcfs', 'rm', 'sjf'] as const).map((policy) => [policy, misses(policy, 3)] as const)
  const still = (['fcfs', 'sjf'] as const).map((policy) => [policy, misses(policy, 30)] as const)
  const listed = (pairs: readonly (readonly [string, number])[]) =>
    pairs.map(([policy, missed]) => `${policy} ${missed}`).join(', ')
  console.log()
  return [
    {
      what: `${LONG_DAYS} days: EDF and FREQ miss nothing with ${enough ?? 'no'} × the bound (the paper: about 3)`,
      holds: enough !== undefined,
    },
    {
      what: `${LONG_DAYS} days, 3 × the bound: FCFS and SJF still miss (${listed(others)})`,
      holds: others.every(([policy, missed]) => policy === 'rm' || missed > 0),
    },
    {
      what: `${LONG_DAYS} days, 30 × the bound: FCFS still misses (${listed(still)}; the paper: FCFS and SJF)`,
      holds: still[0]![1] > 0,
    },
  ]
}

function draw(spread: number, servers = PUBLISHED.servers): Drawn {
  const all = drawWorld({ servers, seed: SEED, serverSpread: spread })
  const feasible = feasibleOf(all)
  return { spread, all, feasible, bound: statisticsOf(feasible).bound }
}

function outcomeOf({ feasible, bound }: Drawn, multiples: readonly number[], days: number): Outcome {
  return new Map(
    POLICIES.map((policy) => [
      policy,
      new Map(
        multiples.map((times) => [
          times,
          simulateServers(feasible, { sockets: Math.ceil(times * bound), policy, days, seed: SEED }),
        ]),
      ),
    ]),
  )
}

/** Statistics that were not fitted must be close to the published ones, for every spread. */
function statisticsClaims(worlds: readonly Drawn[]): readonly Claim[] {
  const drawn = worlds.map(({ all }) => statisticsOf(all))
  const range = (of: (statistics: WorldStatistics) => number) => {
    const values = drawn.map(of)
    return [Math.min(...values), Math.max(...values)] as const
  }
  const [leastBound, mostBound] = range(({ feasibleBound }) => feasibleBound)
  const [leastDaily, mostDaily] = range(({ feasiblePerDay }) => feasiblePerDay / 1e6)
  const [, meanTooLong] = range((statistics) => statistics.meanTooLong)
  return [
    {
      what: `not fitted: feasible bound ${leastBound.toFixed(1)} to ${mostBound.toFixed(1)} by spread (the paper: 28)`,
      holds: leastBound <= 28 && mostBound >= 28,
    },
    {
      what: `not fitted: ${leastDaily.toFixed(2)} to ${mostDaily.toFixed(2)} M downloads per day (the paper: 4.33)`,
      holds: leastDaily <= 4.33 && mostDaily >= 4.33,
    },
    {
      what: `not fitted: at most ${meanTooLong} servers have a mean e/I above 1 (the paper: fewer than 10)`,
      holds: meanTooLong < 10,
    },
  ]
}

function policyClaims(spread: number, outcome: Outcome): readonly Claim[] {
  const misses = (policy: ResolvedPolicy, times: number) => outcome.get(policy)!.get(times)!.misses
  const listed = (times: number) =>
    POLICIES.map((policy) => `${policy} ${misses(policy, times).toLocaleString('en')}`).join(', ')
  const scarce = [...POLICIES].sort((a, b) => misses(a, 0.5) - misses(b, 0.5))
  return [
    {
      what: `spread ${spread}: EDF and FREQ miss nothing at 1.25 × the bound, FCFS and SJF do at 3 × (${listed(3)})`,
      holds:
        misses('edf', 1.25) + misses('freq', 1.25) === 0 && misses('fcfs', 3) > 0 && misses('sjf', 3) > 0,
    },
    {
      what: `spread ${spread}: at 30 × the bound FCFS still misses (${listed(30)})`,
      holds: misses('fcfs', 30) > 0,
    },
    {
      // If all servers take equally long, SJF cannot distinguish them.
      what: `spread ${spread}: with half the bound SJF misses least (${scarce.join(' < ')})`,
      holds: scarce[0] === 'sjf' || spread === 0,
    },
  ]
}

/** With enough sockets, misses come only from the common start. */
function startClaims({ feasible, bound }: Drawn): readonly Claim[] {
  const sockets = Math.ceil(3 * bound)
  const misses = POLICIES.map(
    (policy) => simulateServers(feasible, { sockets, policy, days: DAYS, seed: SEED, start: 'apart' }).misses,
  )
  return [
    {
      what: `without a common start, 3 × the bound: no policy misses anything (${misses.join(', ')})`,
      holds: misses.every((missed) => missed === 0),
    },
  ]
}

/**
 * With fewer servers and proportionally fewer sockets, the policies rank the same, and with enough sockets the shares
 * are the same.
 */
function printSamples(): Claim {
  const socketsForAll = [10, 40]
  const policies = ['edf', 'sjf', 'fcfs'] as const
  const samples = [1, LONG_SAMPLE / 2, LONG_SAMPLE].map((part) => {
    const { feasible } = draw(DRAWN_SPREAD, Math.round(PUBLISHED.servers / part))
    const rates = socketsForAll.map((all) =>
      policies.map((policy) => {
        const sockets = all / part
        return simulateServers(feasible, { sockets, policy, days: DAYS, seed: SEED }).missRate
      }),
    )
    return { part, rates }
  })
  console.log(`Missed of 1,000 rounds, by how many of the servers are simulated; spread ${DRAWN_SPREAD}\n`)
  printTable(
    [
      'servers',
      ...socketsForAll.flatMap((all) => policies.map((policy) => `${policy.toUpperCase()} ${all}`)),
    ],
    samples.map(({ part, rates }) => [
      part === 1 ? 'all' : `1 in ${part}`,
      ...rates.flat().map((rate) => 1000 * rate),
    ]),
  )
  const ranked = (rates: readonly number[]) =>
    policies
      .map((_, i) => i)
      .sort((a, b) => rates[a]! - rates[b]!)
      .join()
  const [all] = samples
  return {
    what: 'a sample of one server in ten ranks the policies as all servers do',
    holds: samples.every(({ rates }) => rates.every((each, i) => ranked(each) === ranked(all!.rates[i]!))),
  }
}

/** With all servers, some rounds are missed no matter how many sockets there are. */
function infeasibleClaim({ all }: Drawn): Claim {
  const { misses } = simulateServers(all, { sockets: AMPLE_SOCKETS, policy: 'edf', days: 1, seed: SEED })
  const millions = (misses * LONG_DAYS) / 1e6
  return {
    what: `not fitted: all servers, ample sockets: ${millions.toFixed(0)} M misses in 300 days (the paper: 160 M)`,
    holds: millions > 80 && millions < 320,
  }
}

function printStatistics(worlds: readonly Drawn[]): void {
  const rows: [string, (statistics: WorldStatistics) => number][] = [
    ['servers', ({ servers }) => servers],
    ['mean access interval, days', ({ meanIntervalMs }) => meanIntervalMs / DAY_MS],
    ['due more than once a minute, %', ({ underMinute }) => 100 * underMinute],
    ['mean download time, s', ({ meanDownloadMs }) => meanDownloadMs / 1000],
    ['mean of longest downloads, s', ({ meanLongestMs }) => meanLongestMs / 1000],
    ['servers with a longest download beyond their interval', ({ longestTooLong }) => longestTooLong],
    ['bound of eq. 4, sockets', ({ bound }) => bound],
    ['not fitted: bound without those servers', ({ feasibleBound }) => feasibleBound],
    ['not fitted: downloads per day without them', ({ feasiblePerDay }) => feasiblePerDay],
    ['not fitted: servers with a mean e/I above 1', ({ meanTooLong }) => meanTooLong],
  ]
  const drawn = worlds.map(({ all }) => statisticsOf(all))
  printTable(
    ['', 'published', ...worlds.map(({ spread }) => `spread ${spread}`)],
    rows.map(([what, of]) => [what, of(PUBLISHED), ...drawn.map(of)]),
  )
}

function printOutcome(outcome: Outcome, bound: number, multiples: readonly number[]): void {
  printTable(
    ['times the bound', 'sockets', ...POLICIES.map((policy) => policy.toUpperCase()), 'of rounds'],
    multiples.map((times) => [
      String(times),
      Math.ceil(times * bound),
      ...POLICIES.map((policy) => outcome.get(policy)!.get(times)!.misses),
      outcome.get('edf')!.get(times)!.rounds,
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
      points: [...outcome.get(policy)!].map(([times, { missRate }]) => [times, 1e5 * missRate] as const),
    })),
  }
}
