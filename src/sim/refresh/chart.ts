/** Draws forecasts. */

import { type Chart, svgOf } from '../svg.js'
import type { RefreshForecast } from './contract.js'

/** The forecast for a number of sockets. */
export interface ForecastRow {
  readonly sockets: number
  readonly days: number
  readonly forecast: RefreshForecast
}

const SECOND_MS = 1000
const DAY_S = 86_400

/** An SVG that shows the effect of more sockets. */
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
      yLabel: 'per day',
      lines: [
        { label: 'made', points: points(({ forecast, days }) => forecast.visits / days) },
        {
          label: 'wanted',
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
  return svgOf('Forecast by the number of sockets', charts)
}
