/**
 * Kumo's schedule against crawler sets that are regrouped every 20 days. Both start with 40 days of daily polls, see only what
 * their own polls show (counts of new entries; no dates), poll a site at most once a day, and make the same number of accesses.
 */

import { pollRules } from '../../src/feeds/schedule/rules.js'
import type { FeedForecast, FeedWorld } from '../../src/sim/feeds/contract.js'
import { simulateFeeds } from '../../src/sim/feeds/run.js'
import { svgOf } from '../../src/sim/svg.js'
import { type Claim, printTable, writeChart } from '../table.js'
import { allSets, DailyCounts, INTERVALS, pollSet, type Score } from './sets.js'
import { DAYS, SITES, weblogs } from './world.js'

const SEEDS = [1, 2, 3, 4, 5]
const WINDOWS = [5, 10, 15]
/** Sums of the intervals of a set: five crawlers make 5 / Σd accesses a site and day. */
const SUMS = [20, 25, 40]
const LEARN_DAYS = 40
const DAY_MS = 86_400_000
/** Accesses with which no more articles may be lost than by the best set. */
const FEWER = 0.85

interface Result {
  readonly window: number
  readonly seed: number
  readonly sum: number
  readonly set: readonly number[]
  readonly best: Score
  /** LA with every site polled daily: no one can lose fewer. */
  readonly least: number
  readonly ours: FeedForecast
  readonly fewer: FeedForecast
  /** Of all sets with this sum: in how many ours loses fewer. */
  readonly beaten: number
  readonly sets: number
}

function poll(world: FeedWorld, accesses: number, dated = false): FeedForecast {
  const budget = `${Math.round(accesses / (DAYS - LEARN_DAYS))}/day`
  const rules = pollRules({ budget, min: '1d', max: '30d' })
  return simulateFeeds(world, { rules, learnDays: LEARN_DAYS, watch: true, stepMs: DAY_MS, dated })
}

function compare(window: number, seed: number): Result[] {
  const world = weblogs(seed, window)
  const counts = new DailyCounts(world)
  const regroup = { first: LEARN_DAYS, every: 20, knows: 'polls' } as const
  const least = pollSet(counts, [1, 1, 1, 1, 1], window, regroup).lost
  return SUMS.map((sum) => {
    const sets = allSets(INTERVALS)
      .filter((set) => set.reduce((total, each) => total + each, 0) === sum)
      .map((set) => ({ set, ...pollSet(counts, set, window, regroup) }))
      .toSorted((a, b) => a.lost - b.lost)
    const best = sets[0]!
    const ours = poll(world, best.polls)
    const fewer = poll(world, best.polls * FEWER)
    const beaten = sets.filter(({ lost }) => ours.lost < lost).length
    return { window, seed, sum, set: best.set, best, least, ours, fewer, beaten, sets: sets.length }
  })
}

const excess = ({ ours, best, least }: Result) => (ours.lost - least) / (best.lost - least)

export function allocation(): readonly Claim[] {
  console.log(
    'Allocation: Kumo against the best set of the same number of accesses, regrouped every 20 days\n',
  )
  const results = WINDOWS.flatMap((window) => SEEDS.flatMap((seed) => compare(window, seed)))
  printTable(
    [
      'window',
      'seed',
      'accesses a site and day',
      'best set',
      'LA of the set',
      'LA daily',
      'our LA',
      'accesses ÷',
      'FA ÷',
      'excess LA ÷',
      'sets beaten',
      'LA estimated ÷ true',
      'LA at 0.85',
      'FA at 0.85 ÷',
    ],
    results.map((each) => [
      String(each.window),
      each.seed,
      5 / each.sum,
      `(${each.set.join(',')})`,
      each.best.lost,
      each.least,
      each.ours.lost,
      (each.ours.polls / each.best.polls).toFixed(3),
      (each.ours.futile / each.best.futile).toFixed(3),
      excess(each).toFixed(3),
      `${each.beaten}/${each.sets}`,
      (each.ours.lostEstimate / each.ours.lost).toFixed(2),
      each.fewer.lost,
      (each.fewer.futile / each.best.futile).toFixed(3),
    ]),
  )
  chart(results)
  return [...bars(results), ...estimates(results)]
}

function bars(results: readonly Result[]): readonly Claim[] {
  const worst = (of: readonly Result[]) => Math.max(...of.map(excess))
  const claims = WINDOWS.flatMap((window): Claim[] => {
    const own = results.filter((each) => each.window === window)
    const rich = own.filter(({ sum }) => sum <= 25)
    const poor = own.filter(({ sum }) => sum === 40)
    const bar = window === 5 ? 0.95 : 1.05
    return [
      {
        what: `window ${window}: excess LA ÷ best set at 0.2 accesses and more, worst of ${rich.length}: ${worst(rich).toFixed(2)} (bar 0.65)`,
        holds: worst(rich) <= 0.65,
      },
      {
        what: `window ${window}: the same at 0.125 accesses: ${worst(poor).toFixed(2)} (bar ${bar})`,
        holds: worst(poor) <= bar,
      },
    ]
  })
  const polls = results.map(({ ours, best }) => ours.polls / best.polls)
  const most = Math.max(...results.map(({ fewer, best }) => fewer.lost / best.lost))
  const accesses = Math.max(...results.map(({ fewer, best }) => fewer.polls / best.polls))
  const futile = results.map(({ fewer, best }) => fewer.futile / best.futile)
  return [
    ...claims,
    {
      what: `accesses are equal: ours ÷ those of the set ${Math.min(...polls).toFixed(3)} to ${Math.max(...polls).toFixed(3)}`,
      holds: Math.max(...polls) <= 1.01,
    },
    {
      what: `with ${accesses.toFixed(3)} × the accesses no more articles are lost: LA ÷ that of the best set at most ${most.toFixed(2)} (bar 1 at 0.85 × the accesses)`,
      holds: most <= 1 && accesses <= FEWER * 1.01,
    },
    {
      what: `with them FA ÷ that of the best set ${Math.min(...futile).toFixed(3)} to ${Math.max(...futile).toFixed(3)} (bar 0.85)`,
      holds: Math.max(...futile) <= 0.85,
    },
  ]
}

/** LA that the crawl believes, in total, without and with dates. */
function estimates(results: readonly Result[]): readonly Claim[] {
  const total = (of: (each: Result) => number) => results.reduce((sum, each) => sum + of(each), 0)
  const undated = total(({ ours }) => ours.lostEstimate) / total(({ ours }) => ours.lost)
  // With dates, as most feeds have them.
  const dated = WINDOWS.flatMap((window) =>
    SUMS.map((sum) => poll(weblogs(1, window), (SITES * 5 * (DAYS - LEARN_DAYS)) / sum, true)),
  )
  const withDates =
    dated.reduce((sum, each) => sum + each.lostEstimate, 0) / dated.reduce((sum, each) => sum + each.lost, 0)
  // The bar is for the crawler, which has dates of most feeds.
  console.log(`LA estimated ÷ true, in total, from counts alone: ${undated.toFixed(2)}\n`)
  return [
    {
      what: `LA estimated ÷ true, in total, with dates: ${withDates.toFixed(2)} (bar 0.9–1.1)`,
      holds: withDates >= 0.9 && withDates <= 1.1,
    },
  ]
}

function chart(results: readonly Result[]): void {
  const mean = (window: number, sum: number, of: (each: Result) => number) => {
    const own = results.filter((each) => each.window === window && each.sum === sum)
    return own.reduce((total, each) => total + of(each), 0) / own.length
  }
  const charts = WINDOWS.map((window) => {
    const line = (label: string, of: (each: Result) => number, isReference = false) => ({
      label,
      isReference,
      points: SUMS.toSorted((a, b) => b - a).map((sum) => [5 / sum, mean(window, sum, of)] as const),
    })
    return {
      title: `Window ${window}`,
      xLabel: 'accesses a site and day',
      yLabel: 'lost articles in 160 days',
      scale: 'linear' as const,
      xTicks: [0.1, 0.15, 0.2, 0.25],
      lines: [
        line('best set, regrouped every 20 days', ({ best }) => best.lost),
        line('Kumo, the same accesses', ({ ours }) => ours.lost),
        line('Kumo, 15 % fewer', ({ fewer }) => fewer.lost),
        line('every site daily', ({ least }) => least, true),
      ],
    }
  })
  writeChart('feeds-allocation.svg', svgOf('Lost articles over accesses', charts))
}
