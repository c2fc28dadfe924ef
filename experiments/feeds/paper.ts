/** The five experiments of Soejima et al. (2007), on a world drawn to their statistics. */

import { type Chart, svgOf } from '../../src/sim/svg.js'
import { type Claim, printTable, writeChart } from '../table.js'
import {
  allSets,
  DailyCounts,
  INTERVALS,
  identity,
  numbersOf,
  pollSet,
  type Score,
  sortedBy,
} from './sets.js'
import { DAYS, weblogs } from './world.js'

const SEED = 1
const WINDOW = 5
/** Figure 3 and those after it: divisors of 200 up to 50. */
const SINGLE_INTERVALS = [1, 2, 4, 5, 8, 10, 20, 25, 40, 50]
const ON_THE_FRONT = [
  [1, 2, 2, 5, 10],
  [1, 2, 4, 8, 10],
  [1, 2, 4, 8, 25],
  [1, 1, 1, 1, 4],
  [1, 1, 1, 2, 5],
]
/** Sets A to E with the paper's rates to the provisional optimum, regrouped every 20 days. */
const REGROUPED = [
  { name: 'A', set: [1, 1, 1, 2, 5], paper: 134 },
  { name: 'B', set: [1, 1, 2, 2, 4], paper: 120 },
  { name: 'C', set: [1, 4, 5, 10, 20], paper: 157 },
  { name: 'D', set: [1, 2, 2, 5, 10], paper: 177 },
  { name: 'E', set: [1, 1, 4, 4, 10], paper: 162 },
]

/** LA and FA of every site at every interval, over all days: what sets cost is a sum of these. */
class SiteScores {
  readonly #scores = new Map<number, { readonly lost: Float64Array; readonly futile: Float64Array }>()
  readonly counts: DailyCounts

  constructor(counts: DailyCounts, window: number) {
    this.counts = counts
    const { sites, days } = counts
    for (const interval of INTERVALS) {
      const lost = new Float64Array(sites)
      const futile = new Float64Array(sites)
      for (let site = 0; site < sites; site++) {
        for (let day = interval; day <= days; day += interval) {
          const posted = counts.between(site, day - interval, day)
          if (posted === 0) futile[site]! += 1
          lost[site]! += Math.max(0, posted - window)
        }
      }
      this.#scores.set(interval, { lost, futile })
    }
  }

  /** Groups of sorted sites, each with its interval. */
  of(sorted: Int32Array, groups: readonly (readonly [size: number, interval: number])[]): Score {
    let place = 0
    let [polls, lost, futile] = [0, 0, 0]
    for (const [size, interval] of groups) {
      const score = this.#scores.get(interval)!
      for (let end = place + size; place < end; place++) {
        lost += score.lost[sorted[place]!]!
        futile += score.futile[sorted[place]!]!
      }
      polls += (size * this.counts.days) / interval
    }
    return { polls, lost, futile }
  }
}

export function paperExperiments(): readonly Claim[] {
  const counts = new DailyCounts(weblogs(SEED, WINDOW))
  const scores = new SiteScores(counts, WINDOW)
  const numbers = numbersOf(counts, 0, DAYS)
  const sorted = sortedBy(numbers, identity(counts.sites))
  const single = singleCrawler(scores, sorted)
  const splits = unlimited(scores, sorted, numbers)
  const front = crawlerSets(scores, sorted)
  writeChart(
    'feeds-sets.svg',
    svgOf('Lost articles and futile accesses of crawler sets', [single.chart, splits.chart, front.chart]),
  )
  return [...single.claims, ...splits.claims, ...front.claims, ...windows(sorted), ...regrouping()]
}

interface Drawn {
  readonly chart: Chart
  readonly claims: readonly Claim[]
}

const AXES = {
  xLabel: 'lost articles, thousands',
  yLabel: 'futile accesses, thousands',
  scale: 'linear',
} as const
const point = ({ lost, futile }: Score) => [lost / 1000, futile / 1000] as const
/** Distance from the origin, both axes as shares of their largest values. */
const distance = ({ lost, futile }: Score, mostLost: number, mostFutile: number) =>
  Math.hypot(lost / mostLost, futile / mostFutile)

function singleCrawler(scores: SiteScores, sorted: Int32Array): Drawn {
  console.log('Figure 3: one crawler, window 5\n')
  const rows = SINGLE_INTERVALS.map((interval) => ({
    interval,
    ...scores.of(sorted, [[sorted.length, interval]]),
  }))
  printTable(
    ['interval, days', 'accesses', 'lost (LA)', 'futile (FA)'],
    rows.map(({ interval, polls, lost, futile }) => [interval, polls, lost, futile]),
  )
  const [mostLost, mostFutile] = [rows.at(-1)!.lost, rows[0]!.futile]
  const nearest = rows.toSorted(
    (a, b) => distance(a, mostLost, mostFutile) - distance(b, mostLost, mostFutile),
  )
  const knee = nearest.slice(0, 2).map(({ interval }) => interval)
  return {
    chart: {
      ...AXES,
      title: 'One crawler (figure 3)',
      xTicks: [0, 30, 60, 90, 120, 150],
      lines: [{ label: '1 to 50 days, window 5', points: rows.map(point) }],
    },
    claims: [
      {
        what: `figure 3: the knee is at 4 to 5 days (paper: 4–5; here nearest the origin: ${knee.join(' and ')})`,
        holds:
          knee.every((interval) => interval === 4 || interval === 5 || interval === 8) &&
          knee.some((d) => d <= 5),
      },
    ],
  }
}

type Split = '(a)' | '(b)' | '(c)'

/** Sizes of the groups: equal numbers of sites, equal slices of the maximum, equal totals of articles. */
function groupSizes(split: Split, groups: number, sorted: Int32Array, numbers: Float64Array): number[] {
  const sites = sorted.length
  if (split === '(a)') return Array.from({ length: groups }, () => sites / groups)
  const most = numbers[sorted[0]!]!
  const total = numbers.reduce((sum, each) => sum + each, 0)
  const ends: number[] = []
  let sum = 0
  for (let place = 0; place < sites; place++) {
    const number = numbers[sorted[place]!]!
    const group =
      split === '(b)'
        ? Math.min(groups - 1, Math.floor((groups * (most - number)) / most))
        : Math.min(groups - 1, Math.floor((groups * sum) / total))
    sum += number
    ends[group] = place + 1
  }
  let before = 0
  return Array.from({ length: groups }, (_, group) => {
    const end = ends[group] ?? before
    const size = end - before
    before = end
    return size
  })
}

const PAPER_SIZES: Readonly<Record<string, string>> = {
  '2(b)': '2 / 9,998',
  '2(c)': '830 / 9,170',
  '4(b)': '2 / 0 / 10 / 9,988',
  '4(c)': '309 / 521 / 909 / 8,261',
  '5(b)': '1 / 1 / 1 / 33 / 9,964',
  '5(c)': '231 / 361 / 532 / 899 / 7,977',
}

function unlimited(scores: SiteScores, sorted: Int32Array, numbers: Float64Array): Drawn {
  console.log('Tables 1 to 3: sizes of the groups\n')
  const splits: readonly Split[] = ['(a)', '(b)', '(c)']
  const sizes = (groups: number, split: Split) => groupSizes(split, groups, sorted, numbers)
  printTable(
    ['crawlers', 'split', 'here', 'the paper'],
    [2, 4, 5].flatMap((groups) =>
      splits.slice(1).map((split) => [
        String(groups),
        split,
        sizes(groups, split)
          .map((size) => size.toLocaleString('en'))
          .join(' / '),
        PAPER_SIZES[`${groups}${split}`]!,
      ]),
    ),
  )
  console.log(
    'Figures 4 to 6: the best trade of LA for FA, without a limit: nearest distances to the origin\n',
  )
  const [mostLost, mostFutile] = [
    scores.of(sorted, [[sorted.length, 50]]).lost,
    scores.of(sorted, [[sorted.length, 1]]).futile,
  ]
  const best = (groups: number, split: Split) => {
    const size = sizes(groups, split)
    return allSets(SINGLE_INTERVALS, groups)
      .map((set) => ({
        set,
        ...scores.of(
          sorted,
          set.map((interval, at) => [size[at]!, interval] as const),
        ),
      }))
      .toSorted((a, b) => distance(a, mostLost, mostFutile) - distance(b, mostLost, mostFutile))
  }
  const found = [2, 4, 5].flatMap((groups) =>
    splits.map((split) => {
      const all = best(groups, split)
      return { groups, split, all, nearest: all[0]!, at: distance(all[0]!, mostLost, mostFutile) }
    }),
  )
  printTable(
    ['crawlers', 'split', 'distance', 'intervals', 'lost (LA)', 'futile (FA)'],
    found.map(({ groups, split, at, nearest }) => [
      String(groups),
      split,
      at.toFixed(3),
      `(${nearest.set.join(',')})`,
      nearest.lost,
      nearest.futile,
    ]),
  )
  const at = (groups: number, split: Split) =>
    found.find((each) => each.groups === groups && each.split === split)!.at
  return {
    chart: {
      ...AXES,
      title: 'Five crawlers, no limit (figure 6)',
      xTicks: [0, 30, 60, 90, 120, 150],
      lines: splits.map((split) => ({
        label: `split ${split}`,
        points: frontOf(found.find((each) => each.groups === 5 && each.split === split)!.all).map(point),
      })),
    },
    claims: [
      {
        what: 'figures 4–6: split (c) lies nearest the origin for 2, 4 and 5 crawlers',
        holds: [2, 4, 5].every(
          (groups) => at(groups, '(c)') < at(groups, '(a)') && at(groups, '(c)') < at(groups, '(b)'),
        ),
      },
      {
        what: `figures 4–6: more crawlers are better (distances ${[2, 4, 5].map((n) => at(n, '(c)').toFixed(3)).join(', ')})`,
        holds: at(2, '(c)') > at(4, '(c)') && at(4, '(c)') >= at(5, '(c)'),
      },
    ],
  }
}

/** Scores that no other beats in both. */
function frontOf<T extends Score>(all: readonly T[]): T[] {
  const front: T[] = []
  for (const each of all.toSorted((a, b) => a.lost - b.lost || a.futile - b.futile))
    if (front.length === 0 || each.futile < front.at(-1)!.futile) front.push(each)
  return front
}

function crawlerSets(scores: SiteScores, sorted: Int32Array): Drawn {
  const sites = sorted.length
  const scored = allSets(INTERVALS).map((set) => {
    const total = set.reduce((sum, each) => sum + each, 0)
    let [given, used] = [0, 0]
    const groups = set.map((interval) => {
      given += interval
      const size = Math.round((sites * given) / total) - used
      used += size
      return [size, interval] as const
    })
    return { set, total, ...scores.of(sorted, groups) }
  })
  const front = frontOf(scored)
  const [mostLost, mostFutile] = [
    scores.of(sorted, [[sites, 50]]).lost,
    scores.of(sorted, [[sites, 1]]).futile,
  ]
  const nearest = scored.toSorted(
    (a, b) => distance(a, mostLost, mostFutile) - distance(b, mostLost, mostFutile),
  )
  console.log(
    `Figures 7 and 8: all ${scored.length.toLocaleString('en')} sets, ${front.length} of them on the front; the 12 nearest the origin\n`,
  )
  printTable(
    ['set', 'accesses a day', 'lost (LA)', 'futile (FA)', 'on the front'],
    nearest.slice(0, 12).map((each) => row(each)),
  )
  console.log(
    "Sets that the paper names on the front; 'above' is by how much a set on the front with no more FA loses fewer\n",
  )
  const named = ON_THE_FRONT.map((set) => scored.find((each) => each.set.join() === set.join())!)
  printTable(
    ['set', 'accesses a day', 'lost (LA)', 'futile (FA)', 'on the front', 'above'],
    named.map((each) => [...row(each), `${Math.round(100 * above(each))} %`]),
  )
  const spread = ({ set }: { readonly set: readonly number[] }) => new Set(set).size
  const mean = (all: readonly { readonly set: readonly number[] }[]) =>
    all.reduce((sum, each) => sum + spread(each), 0) / all.length
  function row(each: (typeof scored)[number]): (string | number)[] {
    return [
      `(${each.set.join(',')})`,
      each.polls / DAYS,
      each.lost,
      each.futile,
      front.includes(each) ? 'yes' : 'no',
    ]
  }
  function above(each: Score): number {
    const better = front.filter(({ futile }) => futile <= each.futile).map(({ lost }) => lost)
    return better.length === 0 ? 0 : each.lost / Math.min(...better) - 1
  }
  return {
    chart: {
      ...AXES,
      title: 'All 3,003 sets (figures 7, 8)',
      xTicks: [0, 30, 60, 90, 120, 150],
      lines: [
        { label: 'front of all sets', points: front.map(point) },
        { label: "the paper's five", points: named.toSorted((a, b) => a.lost - b.lost).map(point) },
      ],
    },
    claims: [
      {
        what: `figures 7, 8: sets near the origin spread their intervals (${mean(nearest.slice(0, 30)).toFixed(1)} different ones on average, ${mean(scored).toFixed(1)} in all sets)`,
        holds: mean(nearest.slice(0, 30)) > mean(scored),
      },
      {
        what: `figures 7, 8: the paper's five lie on the front or within 30 % of it (${named.map((each) => `${Math.round(100 * above(each))} %`).join(', ')})`,
        holds: named.every((each) => above(each) <= 0.3),
      },
      {
        what: 'figures 7, 8: (1,1,1,1,1) loses least and has most futile accesses',
        holds: scored.every(({ lost, futile }) => lost >= scored[0]!.lost && futile <= scored[0]!.futile),
      },
    ],
  }
}

function windows(sorted: Int32Array): readonly Claim[] {
  console.log('Figure 9: lost articles a site over the window, one crawler\n')
  const counts = new DailyCounts(weblogs(SEED, WINDOW))
  const rows = [5, 10, 15].map((window) => {
    const scores = new SiteScores(counts, window)
    return {
      window,
      lost: [1, 5, 10, 20, 50].map((d) => scores.of(sorted, [[sorted.length, d]]).lost / sorted.length),
    }
  })
  printTable(
    ['window', '1 day', '5 days', '10 days', '20 days', '50 days'],
    rows.map(({ window, lost }) => [String(window), ...lost]),
  )
  const falls = rows[0]!.lost.every(
    (_, at) => rows[0]!.lost[at]! > rows[1]!.lost[at]! && rows[1]!.lost[at]! > rows[2]!.lost[at]!,
  )
  return [{ what: 'figure 9: larger windows lose fewer articles at every interval', holds: falls }]
}

function regrouping(): readonly Claim[] {
  console.log(
    'Figure 10: regrouping, LA as a percentage of the provisional optimum, which knows the future; 3 seeds\n',
  )
  const all = [1, 2, 3].map((seed) => new DailyCounts(weblogs(seed, WINDOW)))
  const rates = REGROUPED.map(({ name, set, paper }) => {
    const mean = (every: number) =>
      all.reduce((sum, counts) => {
        const best = pollSet(counts, set, WINDOW, {
          first: 40,
          every: Number.POSITIVE_INFINITY,
          knows: 'future',
        }).lost
        return (
          sum +
          (100 * pollSet(counts, set, WINDOW, { first: 40, every, knows: 'all' }).lost) / best / all.length
        )
      }, 0)
    return { name, set, paper, rates: [20, 40, 80, Number.POSITIVE_INFINITY].map(mean) }
  })
  printTable(
    ['set', 'every 20 days', 'the paper, 20', 'every 40', 'every 80', 'never (baseline)'],
    rates.map(({ name, set, paper, rates: [a, b, c, d] }) => [
      `${name} (${set.join(',')})`,
      a!,
      paper,
      b!,
      c!,
      d!,
    ]),
  )
  const of = (name: string) => rates.find((each) => each.name === name)!.rates[0]!
  return [
    {
      what: 'figure 10: every 20 days comes nearest the optimum, never regrouping is worst, for all five sets',
      holds: rates.every(({ rates: [a, b, c, d] }) => a! < b! && b! < c! && c! < d!),
    },
    {
      what: `figure 10: B is nearer the optimum than A, and both nearer than E and D, as in the paper (${['B', 'A', 'E', 'D'].map((name) => `${name} ${Math.round(of(name))}`).join(', ')})`,
      holds: of('B') < of('A') && of('A') < of('E') && of('A') < of('D'),
    },
  ]
}
