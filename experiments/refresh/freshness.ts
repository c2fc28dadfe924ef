/**
 * Freshness against budget: pages that change between every hour and every few years, and rules that distribute the
 * same number of visits among them. A rule knows about a page only what its own visits observe.
 */

import { svgOf } from '../../bench/svg.js'
import { type Claim, printTable, writeChart } from '../table.js'
import type { PageRule } from './page-rules.js'
import { drawPages, simulateVisits, type VisitScore } from './pages.js'

const RULES: readonly (readonly [rule: PageRule, label: string])[] = [
  ['oracle', 'oracle'],
  ['fresh', 'ours'],
  ['fixed', 'fixed interval'],
  ['step', 'step rule'],
  ['archive', 'ours, aim archive'],
]
const PAGES = 2000
/** Visits per page and day. */
const BUDGETS = [0.01, 0.03, 0.1, 0.3, 1]
const MIDDLE = 0.1
const LEARNING_DAYS = 365
const SCORED_DAYS = 180
const SEED = 1

export function freshnessAgainstBudget(): readonly Claim[] {
  const pages = drawPages({ pages: PAGES })
  const scores = new Map<PageRule, readonly VisitScore[]>(
    RULES.map(([rule]) => [
      rule,
      BUDGETS.map((visitsPerDay) =>
        simulateVisits(pages, {
          rule,
          visitsPerDay,
          learningDays: LEARNING_DAYS,
          scoredDays: SCORED_DAYS,
          seed: SEED,
        }),
      ),
    ]),
  )
  const print = (what: string, figure: (score: VisitScore) => number) => {
    console.log(`${what}: ${PAGES} pages, ${SCORED_DAYS} days after ${LEARNING_DAYS} days of learning\n`)
    printTable(
      ['visits per page and day', ...RULES.map(([, label]) => label)],
      BUDGETS.map((budget, i) => [
        String(budget),
        ...RULES.map(([rule]) => Number(figure(scores.get(rule)![i]!).toFixed(3))),
      ]),
    )
  }
  print('Mean freshness', ({ freshness }) => freshness)
  print('Share of changes that were caught', ({ caught }) => caught)
  print('Visits divided by the budget', ({ spent }) => spent)
  writeChart(
    'refresh-freshness.svg',
    svgOf('Mean freshness against the number of visits', [
      {
        title: 'Mean freshness',
        xLabel: 'visits per page and day',
        yLabel: 'share of time up to date',
        scale: 'linear',
        xScale: 'log',
        xTicks: BUDGETS,
        lines: RULES.map(([rule, label]) => ({
          label,
          points: scores.get(rule)!.map(({ freshness }, i) => [BUDGETS[i]!, freshness] as const),
        })),
      },
    ]),
  )
  const at = (rule: PageRule) => scores.get(rule)![BUDGETS.indexOf(MIDDLE)]!.freshness
  const ratio = (rule: PageRule) => (at('fresh') / at(rule)).toFixed(3)
  return [
    {
      what: `at ${MIDDLE} visits a day ours is ${ratio('step')} times as fresh as the step rule (at least 1.1)`,
      holds: at('fresh') >= 1.1 * at('step'),
    },
    {
      what: `and ${ratio('oracle')} times as fresh as the oracle (at least 0.95)`,
      holds: at('fresh') >= 0.95 * at('oracle'),
    },
    {
      what: `and ${ratio('fixed')} times as fresh as a fixed interval`,
      holds: at('fresh') >= at('fixed'),
    },
  ]
}
