/** Many crawls over simulated threads, as cases of a test file. */

import { beforeAll, describe, expect, it } from 'vitest'
import { wrongInCrew } from './checks.js'
import { runCrew } from './run.js'
import { drawCrewScenario } from './scenario.js'

const RUNS_PER_CASE = 50

/** Modules that are loaded on first use take real time, of which virtual time knows nothing. */
export function warmUp(): void {
  beforeAll(async () => {
    await runCrew({ ...drawCrewScenario(0), robots: true })
  })
}

/** Seeds from `first` on, so many. */
export function crewRuns(first: number, runs: number): void {
  const end = first + runs
  describe(`crawls over simulated threads, ${runs} from seed ${first} on`, () => {
    warmUp()
    for (let from = first; from < end; from += RUNS_PER_CASE) {
      const to = Math.min(from + RUNS_PER_CASE, end)
      it(`seeds ${from} to ${to - 1} find nothing`, async () => {
        const failures: string[] = []
        for (let seed = from; seed < to; seed++) {
          const problem = await problemOf(seed)
          if (problem !== undefined) failures.push(problem)
        }
        expect(failures.slice(0, 10).join('\n')).toBe('')
      })
    }
  })
}

/** One of them, with all that was drawn. */
export function oneCrewRun(seed: number): void {
  describe('one crawl over simulated threads', () => {
    warmUp()
    it(`seed ${seed} finds nothing`, async () => {
      const scenario = drawCrewScenario(seed)
      console.dir(scenario, { depth: null })
      const run = await runCrew(scenario)
      console.log(run.summary)
      expect(wrongInCrew(scenario, run)).toEqual([])
    })
  })
}

/** Undefined if all is well; otherwise what is wrong and how to see it again. */
async function problemOf(seed: number): Promise<string | undefined> {
  const replay = `seed ${seed} (replay: KUMO_SEED=${seed} npx vitest run test/sim/threads/threads.test.ts)`
  try {
    const scenario = drawCrewScenario(seed)
    const findings = wrongInCrew(scenario, await runCrew(scenario))
    if (findings.length === 0) return undefined
    return [`${replay}: ${findings.length} findings`, ...findings.slice(0, 3)].join('\n  ')
  } catch (error) {
    return `${replay}: ${error instanceof Error ? error.message : String(error)}`
  }
}
