/**
 * How many sockets beyond the bound of eq. 4 are needed so that visits no longer wait for one, and which policy is best
 * for a schedule that was stretched because there are fewer. Uses the schedule and the frontier of the crawler.
 */

import type { ResolvedPolicy } from '../../src/refresh/policies.js'
import type { RefreshForecast } from '../../src/sim/refresh/contract.js'
import { describeWorld } from '../../src/sim/refresh/described.js'
import { refreshRules } from '../../src/sim/refresh/rules.js'
import { simulateRefresh } from '../../src/sim/refresh/run.js'
import { type Claim, printTable } from '../table.js'
import { DAY_MS } from './world.js'

const HOUR_MS = DAY_MS / 24
const WORLD = describeWorld({
  servers: 300,
  pagesPerServer: 20,
  changeMs: { min: 60_000, max: 10 * DAY_MS },
  downloadMs: { min: 200, max: 8000 },
  seed: 3,
})
/** The downloads of a server vary too. */
const DOWNLOAD_SPREAD = 0.8
const LEARNING_MS = 6 * HOUR_MS
const SCORED_MS = 6 * HOUR_MS
/** As multiples of what is needed. */
const SCARCE = [0.33, 0.5, 0.75]
const ENOUGH = [1.05, 1.25, 1.5, 2, 3]
/** As in `Servers`. */
const AMPLE = 1.5

interface Row {
  readonly times: number
  readonly policy: ResolvedPolicy
  readonly forecast: RefreshForecast
}

export function spareSockets(): readonly Claim[] {
  const needed = forecast(1000, 'edf').feasibility.socketsNeeded
  const row = (times: number, policy: ResolvedPolicy): Row => ({
    times,
    policy,
    forecast: forecast(Math.round(times * needed), policy),
  })
  const scarce = SCARCE.flatMap((times) => [row(times, 'edf'), row(times, 'sjf')])
  const enough = ENOUGH.map((times) => row(times, 'edf'))
  console.log(`Visits of a schedule that needs ${needed} sockets, by the number of sockets available\n`)
  printTable(
    ['times the bound', 'policy', 'stretch', 'late, s', 'latest server, s', 'caught', 'freshness'],
    [...scarce, ...enough].map(
      ({ times, policy, forecast: { lateness, feasibility, caughtShare, freshness } }) => [
        String(times),
        policy.toUpperCase(),
        feasibility.stretch,
        lateness.meanMs / 1000,
        lateness.worstMs / 1000,
        caughtShare,
        freshness,
      ],
    ),
  )
  const lateAt = (times: number) => enough.find((each) => each.times === times)!.forecast.lateness.meanMs
  const pairs = SCARCE.map((_, i) => [scarce[2 * i]!.forecast, scarce[2 * i + 1]!.forecast] as const)
  return [
    {
      what: `${AMPLE} × the bound is ample: ${inSeconds(lateAt(AMPLE))} late, ${inSeconds(lateAt(3))} at 3 ×, ${inSeconds(lateAt(1.05))} at 1.05 ×`,
      holds: lateAt(AMPLE) < 2 * lateAt(3) && lateAt(1.05) > 2 * lateAt(AMPLE),
    },
    {
      what: 'SJF keeps a stretched schedule more closely than EDF, and catches as many changes',
      holds: pairs.every(
        ([edf, sjf]) => sjf.lateness.meanMs < edf.lateness.meanMs && sjf.caughtShare > 0.98 * edf.caughtShare,
      ),
    },
  ]
}

function forecast(sockets: number, policy: ResolvedPolicy): RefreshForecast {
  return simulateRefresh(WORLD, {
    sockets,
    delayMs: 1000,
    refresh: refreshRules({ min: '30s', max: '10d', first: '10m', share: 1, policy }),
    learningMs: LEARNING_MS,
    durationMs: SCORED_MS,
    downloadSpread: DOWNLOAD_SPREAD,
  })
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
