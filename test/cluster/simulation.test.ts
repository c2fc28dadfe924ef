/** Seeded simulations in virtual time: nothing is lost, no host has two visitors, and every crawl ends. */

import { expect, test } from 'vitest'
import { isThorough } from '../thorough.js'
import { simulate } from './simulation.js'

const SIMULATIONS = isThorough ? 1000 : 60
/** The first findings say what is wrong. */
const ENOUGH = 5

test(`${SIMULATIONS} simulations`, async () => {
  const found: string[] = []
  const faults = new Set<string>()
  for (let seed = 1; seed <= SIMULATIONS && found.length < ENOUGH; seed++) {
    const simulated = await simulate(seed)
    for (const fault of simulated.faults) faults.add(fault)
    for (const finding of simulated.findings)
      found.push(`seed ${seed} (${simulated.faults.join(', ')}): ${finding}`)
  }
  expect(found).toEqual([])
  expect([...faults].sort()).toEqual([
    'away',
    'cut',
    'fail-over',
    'flaky',
    'full',
    'join',
    'kill',
    'restart',
    'split',
  ])
})
