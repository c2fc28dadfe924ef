/** Processes that share the work of a hook, and lose one of them: every page is in the results of somebody. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { whyNoRedis } from '../stores/redis/server.js'
import { Cluster } from './cluster.js'

const PAGES = 90
/** The first process is slow, until it has nobody to leave pages to. */
const HOOK_MS = 300
const QUICK_MS = 20

describe.skipIf(whyNoRedis())(`shared work${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  test.each([
    ['the process that takes pages', 1],
    ['the process that leaves them', 0],
  ])('%s is killed', { timeout: 60_000 }, async (_, killed) => {
    const cluster = await Cluster.start({
      web: { hosts: 30, pagesPerHost: PAGES / 30, latencyMs: [1, 5] },
      delayMs: 10,
      hookMs: HOOK_MS,
    })
    onTestFinished(() => cluster.close())
    cluster.node()
    // The first one has all pages in its queue.
    await cluster.served(PAGES)
    cluster.node()
    await cluster.ready()
    cluster.nodes[1]!.hookTakes(QUICK_MS)
    await cluster.flushed(1, 3)
    cluster.nodes[killed]!.signal('SIGKILL')
    cluster.nodes[1 - killed]!.hookTakes(QUICK_MS)
    await cluster.finish()
    expect(cluster.nodes[1 - killed]!.result).toMatchObject({ what: 'done', reason: 'done' })
    const results = cluster.results().flat()
    const urlOf = (line: string) => line.split(' ')[1]!
    expect(new Set(results.map(urlOf)).size).toBe(cluster.web.totalPages)
    // The same page has the same id, whoever did it.
    expect(new Set(results).size).toBe(cluster.web.totalPages)
    const facts = await cluster.ask((redis) => redis.hmget('{kumo:cluster}:n', 'left', 'work', 'waiting'))
    expect(facts).toEqual(['0', '0', '0'])
  })
})
