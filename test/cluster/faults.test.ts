/** What nodes do to the web while they and their server fail. The log of the web is the judge. */

import { seededRandom } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { whyNoRedis } from '../stores/redis/server.js'
import { isThorough } from '../thorough.js'
import { Cluster } from './cluster.js'
import { FAULTS } from './faults.js'
import { judgeFault } from './judge.js'

/** Each costs three processes some seconds. `npm run soak -- cluster` runs all of them with many seeds. */
const IN_EVERY_RUN = [
  'a node is killed',
  'a process with worker threads is killed',
  'a node is stopped for longer than its lease',
  'a node is cut off from Redis',
]
const SEED = 1

/** Waiting for a turn counts too. */
const PATIENCE_MS = 600_000

/** So many clusters at once: each has five processes. */
const AT_ONCE = 1
let running = 0
const waiting: (() => void)[] = []

async function inTurn(run: () => Promise<void>): Promise<void> {
  if (running === AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    await run()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

describe.skipIf(whyNoRedis())(`a crawl on Redis${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  test.concurrent('three nodes share it', { timeout: PATIENCE_MS }, () =>
    inTurn(async () => {
      const cluster = await Cluster.start()
      try {
        const nodes = [cluster.node(), cluster.node(), cluster.node()]
        await cluster.finish()
        const { repeats, ...judged } = await cluster.judge()
        expect(judged).toEqual({ missing: 0, overlaps: 0, belowGap: 0 })
        const pages = nodes.map(({ result }) => Number(result?.pages)).reduce((sum, each) => sum + each)
        // Whatever was fetched twice, because a busy machine lets leases run out, was settled once.
        expect(pages).toBeGreaterThanOrEqual(cluster.web.totalPages)
        expect(pages).toBeLessThanOrEqual(cluster.web.totalPages + repeats)
        for (const { result } of nodes)
          expect(result).toMatchObject({ what: 'done', reason: 'done', failed: 0 })
      } finally {
        await cluster.close()
      }
    }),
  )

  for (const fault of FAULTS.filter(({ name }) => isThorough || IN_EVERY_RUN.includes(name))) {
    test.concurrent(fault.name, { timeout: PATIENCE_MS }, () =>
      inTurn(async () => {
        const { findings } = await judgeFault(fault, seededRandom(SEED), false)
        expect(findings).toEqual([])
      }),
    )
  }
})
