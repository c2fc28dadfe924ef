/** Proves that partitions can move between the shards of a crawl: the `handover` of a store. */

import type { Politeness } from '../../frontier/contract.js'
import type { Store } from '../../stores/contract.js'
import type { MaybePromise } from '../../types.js'
import { GENEROUS, HURRIED, ORDINARY } from '../frontier/fixtures.js'
import type { It } from '../suite.js'
import { clockCases, replacingCases } from './clocks.js'
import { conservationCases } from './conservation.js'
import { Shards } from './fixtures.js'
import { waitingCases } from './waiting.js'
import { movingWalk } from './walk.js'

/** Options of the suite for handovers. */
export interface HandoverSuiteOptions {
  it: It
  /**
   * Called once for each case; describes an empty place. The suite opens it several times at once, each time for
   * another shard, after `share` if the store has it.
   */
  create: () => MaybePromise<Store>
  /** Number of operations in each random case. Default 2000; use fewer only if an operation is slow. */
  operations?: number
  /** How long a case waits for what must happen, in ms. Default 5000. */
  patienceMs?: number
}

const DEFAULT_OPERATIONS = 2000
const SEEDS = [1, 2]
const PAIR = 2
const THREE = 3

/**
 * Registers the cases that every store must pass whose shards hand partitions over, besides those of `storeSuite`.
 *
 * @example
 * import { it } from 'node:test'
 * import { handoverSuite } from 'kumo/conformance'
 *
 * handoverSuite({ it, create: () => myStore(newTemporaryFolder()) })
 */
export function handoverSuite(options: HandoverSuiteOptions): void {
  const { it, create, operations = DEFAULT_OPERATIONS, patienceMs } = options
  const cases = (count: number, replaces: boolean) => {
    return (name: string, politeness: Politeness, run: (shards: Shards) => Promise<void>) => {
      it(name, async () => {
        const shards = await Shards.open(await create(), politeness, { count, replaces, patienceMs })
        try {
          await run(shards)
        } finally {
          await shards.close()
        }
      })
    }
  }
  const check = cases(PAIR, false)
  conservationCases(check)
  waitingCases(check)
  clockCases(check)
  replacingCases(cases(PAIR, true))
  for (const politeness of [ORDINARY, HURRIED, GENEROUS]) {
    for (const seed of SEEDS) {
      const { delayMs, connections } = politeness
      const name = `${operations} random operations on three shards, pause ${delayMs} ms, up to ${connections} connections, seed ${seed}`
      cases(THREE, false)(name, politeness, (shards) => movingWalk({ shards, politeness, seed, operations }))
    }
  }
}
