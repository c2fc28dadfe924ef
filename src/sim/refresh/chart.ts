/** Forecasts as a picture. */

import { type Chart, svgOf } from '../svg.js'
import type { RefreshForecast } from './contract.js'

/** What a number of sockets comes to. */
export interface ForecastRow {
  readonly sockets: number
  readonly days: number
  readonly forecast: RefreshForecast
}

const SECOND_MS = 1000
const DAY_S = 86_400

/** An SVG: what more sockets would bring. */
export function forecastChart(rows: readonly ForecastRow[]): string {
  const sorted = [...rows].sort((a, b) => a.sockets - b.sockets)
  const points = (figure: (row: ForecastRow) => number) =>
    sorted.map((row) => [row.sockets, figure(row)] as const)
  const sockets = [...new Set(sorted.map((row) => row.sockets))]
  const axis = {
    xLabel: 'sockets',
    scale: 'linear',
    // An axis needs two ends.
    xTicks: sockets.length > 1 ? sockets : [0, ...sockets],
  } as const
  const charts: Chart[] = [
    {
      ...axis,
      title: 'How well copies keep up',
      yLabel: 'share',
      lines: [
        { label: 'freshness', points: points(({ forecast }) => forecast.freshness) },
        { label: 'changes caught', points: points(({ forecast }) => forecast.caughtShare) },
      ],
    },
    {
      ...axis,
      title: 'Visits',
      yLabel: 'a day',
      lines: [
        { label: 'made', points: points(({ forecast, days }) => forecast.visits / days) },
        {
          label: 'wished',
          points: points(({ forecast }) => forecast.feasibility.wantedPerSecond * DAY_S),
          isReference: true,
        },
      ],
    },
    {
      ...axis,
      title: 'Lateness',
      yLabel: 'seconds',
      lines: [
        { label: 'mean', points: points(({ forecast }) => forecast.lateness.meanMs / SECOND_MS) },
        { label: 'worst server', points: points(({ forecast }) => forecast.lateness.worstMs / SECOND_MS) },
      ],
    },
  ]
  return svgOf('What refreshing comes to, by the number of sockets', charts)
}
