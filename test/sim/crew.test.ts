import { beforeAll, describe, expect, it } from 'vitest'
import { wrongInCrew } from './crew-checks.js'
import { drawCrewScenario } from './crew-scenario.js'
import { runCrew } from './run-crew.js'

/** `KUMO_SEED=123` replays one run; `KUMO_RUNS=100000` makes a night of it. */
const ONLY_SEED = process.env.KUMO_SEED
const RUNS = Number(process.env.KUMO_RUNS ?? 1000)
const FIRST = Number(process.env.KUMO_FIRST ?? 1)
const RUNS_PER_CASE = 100
const PATIENCE_MS = 600 * RUNS_PER_CASE

// Modules that are loaded on first use take real time, which virtual time knows nothing of.
beforeAll(async () => {
  await runCrew({ ...drawCrewScenario(1), robots: true }).catch(() => {})
})

describe.runIf(ONLY_SEED === undefined)(`${RUNS} crawls over simulated threads`, () => {
  for (let first = FIRST; first < FIRST + RUNS; first += RUNS_PER_CASE) {
    const last = Math.min(first + RUNS_PER_CASE - 1, FIRST + RUNS - 1)
    it(`seeds ${first} to ${last} find nothing`, { timeout: PATIENCE_MS }, async () => {
      const failures: string[] = []
      for (let seed = first; seed <= last; seed++) {
        const problem = await problemOf(seed)
        if (problem !== undefined) failures.push(problem)
      }
      expect(failures.slice(0, 10).join('\n')).toBe('')
    })
  }
})

describe.runIf(ONLY_SEED !== undefined)('one crawl over simulated threads', () => {
  it(`seed ${ONLY_SEED} finds nothing`, { timeout: PATIENCE_MS }, async () => {
    const scenario = drawCrewScenario(Number(ONLY_SEED))
    console.log(scenario)
    const run = await runCrew(scenario)
    console.log(run.summary)
    expect(wrongInCrew(scenario, run)).toEqual([])
  })
})

/** Undefined if all is well; otherwise what is wrong and how to see it again. */
async function problemOf(seed: number): Promise<string | undefined> {
  const replay = `seed ${seed} (replay: KUMO_SEED=${seed} npx vitest run test/sim/crew)`
  try {
    const scenario = drawCrewScenario(seed)
    const findings = wrongInCrew(scenario, await runCrew(scenario))
    if (findings.length === 0) return undefined
    return [`${replay}: ${findings.length} findings`, ...findings.slice(0, 3)].join('\n  ')
  } catch (error) {
    return `${replay}: ${error instanceof Error ? error.message : String(error)}`
  }
}
