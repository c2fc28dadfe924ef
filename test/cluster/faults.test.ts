/** What nodes do to the web while they and their server fail. The log of the web is the judge. */

import { seededRandom } from 'kumo/adapters'
import { afterEach, describe, expect, test } from 'vitest'
import { whyNoRedis } from '../stores/redis/server.js'
import { isThorough } from '../thorough.js'
import { Cluster, type ClusterOptions } from './cluster.js'
import { FAULTS } from './faults.js'

const CLEAN = { missing: 0, overlaps: 0, belowGap: 0 }
/** Each costs three processes some seconds. */
const IN_EVERY_RUN = 5

let cluster: Cluster
const start = async (options?: ClusterOptions) => {
  cluster = await Cluster.start(options)
  return cluster
}

describe.skipIf(whyNoRedis())(`a crawl on Redis${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  afterEach(() => cluster.close())

  test('three nodes share it, each page once', async () => {
    const { web } = await start()
    const nodes = [cluster.node(), cluster.node(), cluster.node()]
    await cluster.finish()
    expect(await cluster.judge()).toEqual({ ...CLEAN, repeats: 0 })
    const pages = nodes.map(({ result }) => Number(result?.pages))
    expect(pages.reduce((sum, each) => sum + each)).toBe(web.totalPages)
    for (const { result } of nodes) expect(result).toMatchObject({ what: 'done', reason: 'done', failed: 0 })
  })

  for (const { name, options, inject, mayRepeat } of isThorough ? FAULTS : FAULTS.slice(0, IN_EVERY_RUN)) {
    test(name, async () => {
      await start(options)
      await inject(cluster, seededRandom(1))
      await cluster.finish()
      const { repeats, ...judged } = await cluster.judge()
      expect(judged).toEqual(CLEAN)
      if (!mayRepeat) expect(repeats).toBe(0)
      expect(cluster.nodes.some(({ result }) => result?.reason === 'done')).toBe(true)
    })
  }
})
