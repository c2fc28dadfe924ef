import { describe, expect, it } from 'vitest'
import { isThorough } from '../thorough.js'
import { runScenario } from './run-scenario.js'
import { drawScenario } from './scenario.js'

/** `KUMO_SEED=123` replays one run; `KUMO_RUNS=100000` makes a night of it. */
const ONLY_SEED = process.env.KUMO_SEED
const RUNS = Number(process.env.KUMO_RUNS ?? (isThorough ? 1000 : 200))
const RUNS_PER_CASE = 100

describe.runIf(ONLY_SEED === undefined)(`${RUNS} crawls of simulated webs`, () => {
  for (let first = 1; first <= RUNS; first += RUNS_PER_CASE) {
    const last = Math.min(first + RUNS_PER_CASE - 1, RUNS)
    it(`seeds ${first} to ${last} find nothing`, async () => {
      const failures: string[] = []
      for (let seed = first; seed <= last; seed++) {
        const problem = await problemOf(seed)
        if (problem !== undefined) failures.push(problem)
      }
      expect(failures.slice(0, 10).join('\n')).toBe('')
    })
  }
})

describe.runIf(ONLY_SEED !== undefined)('one crawl of a simulated web', () => {
  it(`seed ${ONLY_SEED} finds nothing`, async () => {
    const scenario = drawScenario(Number(ONLY_SEED))
    console.log(scenario)
    const { findings, summary } = await runScenario(scenario)
    console.log(summary)
    expect(findings).toEqual([])
  })
})

/** Undefined if all is well; otherwise what is wrong and how to see it again. */
async function problemOf(seed: number): Promise<string | undefined> {
  const replay = `seed ${seed} (replay: KUMO_SEED=${seed} npx vitest run test/sim/thousand-runs)`
  try {
    const { findings } = await runScenario(drawScenario(seed))
    if (findings.length === 0) return undefined
    return [`${replay}: ${findings.length} findings`, ...findings.slice(0, 3)].join('\n  ')
  } catch (error) {
    return `${replay}: ${error instanceof Error ? error.message : String(error)}`
  }
}
