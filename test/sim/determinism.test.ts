import { describe, expect, it } from 'vitest'
import { runScenario } from './run-scenario.js'
import { drawScenario } from './scenario.js'

describe('a seed', () => {
  it.for([1, 2, 3, 12, 93, 206, 500, 731, 999])('%i gives the same run twice', async (seed) => {
    const first = await runScenario(drawScenario(seed))
    const second = await runScenario(drawScenario(seed))
    expect(second).toEqual(first)
    expect(first.log.length).toBeGreaterThan(0)
  })

  it('gives another run than its neighbour', async () => {
    const [first, second] = await Promise.all([5, 6].map((seed) => runScenario(drawScenario(seed))))
    expect(first!.log).not.toEqual(second!.log)
  })
})
