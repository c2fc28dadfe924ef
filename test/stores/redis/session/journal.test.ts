/** A commit that has to be sent in pieces, of which only the first arrives. */

import { byHost, systemClock } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../../src/stores/redis/client/connect.js'
import type { RedisClient } from '../../../../src/stores/redis/client/contract.js'
import { BLOCK } from '../../../../src/stores/redis/protocol/blocks.js'
import { COMMIT } from '../../../../src/stores/redis/protocol/scripts.js'
import { Node } from '../../../../src/stores/redis/session/node.js'
import { check } from '../../../../src/stores/redis/settings.js'
import type { CrawlRequest } from '../../../../src/types.js'
import { sleep, until } from '../../../crawler/support.js'
import { whyNoRedis } from '../server.js'
import { newCrawl, useServer } from '../support.js'

/** So many that they do not fit into one piece. */
const FOUND = 30

describe.skipIf(whyNoRedis())(`journal${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  test('a node that dies between two pieces of a commit has lost nothing', async () => {
    const settings = check(server.url, { crawl: newCrawl(), ttl: '1s', commitEvery: '250ms' })
    const first = await open(settings, dyingAfter(await connect(settings.connection), 2))
    await first.frontier.add(Array.from({ length: 2 * BLOCK }, (_, i) => request(`a${i}.example`)))
    await first.flush()
    // The first block is empty, and what was found is in others.
    const leases = first.frontier.lease(BLOCK, clock.now())
    expect(leases).toHaveLength(BLOCK)
    const found = (host: string) => Array.from({ length: FOUND }, (_, i) => request(`b${i}.${host}`))
    await first.frontier.settle(
      leases.map((lease) => ({ request: lease, visitedAt: undefined, found: found(lease.host) })),
    )
    void first.flush()
    await sleep(50)
    first.abandon()
    const second = await open(settings, await connect(settings.connection))
    onTestFinished(() => second.abandon())
    second.onOwnership(LISTENER)
    await until(() => second.health().partitions === PARTITIONS, 'the partition moves', 20_000)
    const left = Number(await server.redis.hget(`{kumo:${settings.crawl}}:n`, 'left'))
    // A part of what was found is here, and of what was visited.
    expect(left).toBeGreaterThan(2 * BLOCK)
    expect(left).toBeLessThan((FOUND + 1) * BLOCK)
    expect(second.frontier.pending).toBe(left)
  })
})

const LISTENER = {
  gained() {},
  revoked() {},
  suspended() {},
  leaving: () => Promise.resolve(),
  announced: () => Promise.resolve(),
}
const clock = systemClock()
const PARTITIONS = 1
const { partition } = byHost(PARTITIONS)

async function open(settings: ReturnType<typeof check>, client: RedisClient): Promise<Node> {
  const context = {
    politeness: { delayMs: 0, connections: 1, growAt: 100 },
    policy: ({ readyAt }: { readonly readyAt: number }) => readyAt,
    ...{ clock, partitions: PARTITIONS, partitionOf: partition, identity: {} },
  }
  const node = new Node(settings, context, client)
  await node.open()
  return node
}

/** After so many commits, nothing arrives at the server any more. */
function dyingAfter(client: RedisClient, commits: number): RedisClient {
  const never = new Promise<never>(() => {})
  return {
    replicas: client.replicas,
    run: (script, key, args) =>
      commits < 0 || (script === COMMIT && commits-- <= 0) ? never : client.run(script, key, args),
    runConfirmed: (...call) => (commits < 0 ? never : client.runConfirmed(...call)),
    read: (commands) => client.read(commands),
    reconnect() {},
    close: () => client.close(),
  }
}

function request(host: string): CrawlRequest {
  return { url: `https://${host}/`, host, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}
