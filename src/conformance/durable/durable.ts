/** Proves that a store survives a crash of the process: what a crash may undo, and what it must not. */

import type { MaybePromise } from '../../types.js'
import type { It } from '../suite.js'
import { commitCases } from './commits.js'
import { factCases } from './facts.js'
import { hostCases } from './hosts.js'
import { lifeCases } from './life.js'
import { type DurablePlace, Lives } from './lives.js'
import { requestCases } from './requests.js'
import { crashWalk } from './walk.js'

/** Options of the suite for durable stores. */
export interface DurableStoreSuiteOptions {
  it: It
  /** Called once for each case; returns an empty place that shares nothing with earlier ones. */
  create: () => MaybePromise<DurablePlace>
  /** Number of crashes in each random case. Default 15; use fewer only if opening is slow. */
  rounds?: number
}

const DEFAULT_ROUNDS = 15
const SEEDS = [1, 2, 3, 4]

/**
 * Registers the cases that every durable store must pass, besides those of `storeSuite`.
 *
 * @example
 * import { cpSync } from 'node:fs'
 * import { it } from 'node:test'
 * import { durableStoreSuite } from 'kumo/conformance'
 *
 * durableStoreSuite({
 *   it,
 *   create() {
 *     let folder = newTemporaryFolder()
 *     const crash = () => {
 *       const copy = newTemporaryFolder()
 *       cpSync(folder, copy, { recursive: true })
 *       folder = copy
 *       return myStore(folder)
 *     }
 *     return { store: myStore(folder), crash }
 *   },
 * })
 */
export function durableStoreSuite(options: DurableStoreSuiteOptions): void {
  const { it, create, rounds = DEFAULT_ROUNDS } = options
  const check = (name: string, run: (lives: Lives) => Promise<void>) => {
    it(name, async () => {
      const lives = new Lives(await create())
      try {
        await run(lives)
      } finally {
        await lives.end()
      }
    })
  }
  requestCases(check)
  hostCases(check)
  factCases(check)
  commitCases(check)
  lifeCases(check)
  for (const seed of SEEDS) {
    check(`${rounds} crashes at random moments, seed ${seed}`, (lives) => crashWalk(lives, seed, rounds))
  }
}
