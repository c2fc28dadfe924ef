import { describe, expect, it } from 'vitest'
import { isThorough } from '../../thorough.js'
import { runCrew } from './run.js'
import { crewRuns, oneCrewRun, warmUp } from './runs.js'
import { drawCrewScenario } from './scenario.js'

/**
 * A thousand crawls over several shards: here the first half, in workerRun-more.test.ts the other, so that two can work at it.
 * `KUMO_SEED=123` replays one run; `KUMO_RUNS=100000` makes a night of it.
 */
const { KUMO_SEED, KUMO_RUNS = isThorough ? '500' : '80' } = process.env

if (KUMO_SEED === undefined) crewRuns(1, Number(KUMO_RUNS))
else oneCrewRun(Number(KUMO_SEED))

describe.runIf(KUMO_SEED === undefined)('a seed of a crawl over simulated threads', () => {
  warmUp()
  it.for([3, 13, 40, 76])('%i gives the same run twice', async (seed) => {
    const [first, second] = [await runCrew(drawCrewScenario(seed)), await runCrew(drawCrewScenario(seed))]
    expect(second.web.log).toEqual(first.web.log)
    expect(second.delivered).toEqual(first.delivered)
    expect(second.summary).toEqual(first.summary)
    expect(first.web.log.length).toBeGreaterThan(0)
  })
})
