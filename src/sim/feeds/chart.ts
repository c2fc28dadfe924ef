/** Draws forecasts of polls. */

import { type Chart, svgOf } from '../svg.js'
import type { FeedForecast } from './contract.js'

/** What was simulated, and the front that the schedule expects for other budgets. */
export function feedsChart(rows: readonly FeedForecast[]): string {
  const { front } = rows.at(-1)!.feasibility
  const simulated = rows.toSorted((a, b) => a.polls / a.days - b.polls / b.days)
  const most = Math.max(...simulated.map(({ polls, days }) => polls / days), 1)
  // Beyond four times of what was asked for, nothing is of interest.
  const near = front.filter(({ polls }) => polls <= 4 * most)
  const ticks = [0, 1, 2, 3, 4].map((step) => Math.round(step * most))
  const chart = (title: string, figure: 'lost' | 'futile'): Chart => ({
    title,
    xLabel: 'polls a day',
    yLabel: 'per day',
    scale: 'linear',
    xTicks: [...new Set(ticks)],
    lines: [
      {
        label: 'simulated',
        points: simulated.map((row) => [row.polls / row.days, row[figure] / row.days] as const),
      },
      {
        label: 'expected',
        isReference: true,
        points: near.map((each) => [each.polls, each[figure]] as const),
      },
    ],
  })
  return svgOf('Lost articles and futile polls over polls', [
    chart('Lost articles', 'lost'),
    chart('Futile polls', 'futile'),
  ])
}
