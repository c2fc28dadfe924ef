/** Proves a `Frontier`. Times are passed in, so the suite needs no clock and never waits. */

import type { Frontier, Politeness } from '../../frontier/contract.js'
import type { MaybePromise } from '../../types.js'
import type { It } from '../suite.js'
import { conservationCases, settlementCases } from './conservation.js'
import { extrasCases, laterCases } from './extras.js'
import { fairnessCases } from './fairness.js'
import { GENEROUS, HURRIED, ORDINARY, START } from './fixtures.js'
import { foundCases } from './found.js'
import { heldCases } from './held.js'
import { orderCases, politenessCases } from './politeness.js'
import { randomWalk } from './walk.js'

/** Options of the frontier's suite. */
export interface FrontierSuiteOptions {
  it: It
  /** Called once for each case; returns an empty frontier with this politeness. */
  create: (politeness: Politeness) => MaybePromise<Frontier>
  /** Number of operations in each random case. Default 3000; use fewer only if an operation is slow. */
  operations?: number
}

const DEFAULT_OPERATIONS = 3000
const SEEDS = [1, 2, 3]

/**
 * Registers the cases that every frontier must pass.
 *
 * @example
 * import { it } from 'node:test'
 * import { frontierSuite } from 'kumo/conformance'
 *
 * frontierSuite({ it, create: (politeness) => new MyFrontier(politeness) })
 */
export function frontierSuite(options: FrontierSuiteOptions): void {
  const { it, create, operations = DEFAULT_OPERATIONS } = options
  const check = (name: string, politeness: Politeness, run: (frontier: Frontier) => Promise<void>) => {
    it(name, async () => {
      const frontier = await create(politeness)
      try {
        await run(frontier)
      } finally {
        await frontier.close()
      }
    })
  }
  conservationCases(check)
  politenessCases(check)
  orderCases(check)
  fairnessCases(check)
  settlementCases(check)
  foundCases(check)
  heldCases(check)
  extrasCases(check)
  laterCases(check)

  for (const politeness of [ORDINARY, HURRIED, GENEROUS]) {
    for (const seed of SEEDS) {
      const { delayMs, connections } = politeness
      const name = `${operations} random operations, pause ${delayMs} ms, up to ${connections} connections, seed ${seed}`
      check(name, politeness, (frontier) =>
        randomWalk({ frontier, politeness, seed, operations, start: START }),
      )
    }
  }
}
