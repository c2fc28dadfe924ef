/** What may fail while nodes share a crawl. The short test and the long one inject the same faults. */

import type { Random } from 'kumo/adapters'
import { type Cluster, type ClusterNode, type ClusterOptions, TTL_MS } from './cluster.js'

/** Pages that were fetched in one of these times may be fetched again. Instants since the epoch. */
export type Window = readonly [from: number, to: number]

/** What was done, for the judge. */
export interface Injected {
  /** Whatever was not committed when the fault came. */
  readonly mayRepeat?: readonly Window[]
  /** When a node was killed: its hosts must be visited again soon. */
  readonly killedAt?: number
  /** How long nodes took from SIGTERM to their end. */
  readonly leftMs?: readonly number[]
  /** The node that got no CPU on purpose. */
  readonly stopped?: ClusterNode
}

export interface Fault {
  readonly name: string
  readonly options?: ClusterOptions
  /** Starts nodes and lets something fail. */
  inject(cluster: Cluster, random: Random): Promise<Injected>
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const HOUR_MS = 3_600_000
/** No visit starts when a commit waits for so long, by src/stores/redis/session/session.ts; and commits are 100 ms apart. */
const STALLED_MS = 500
const COMMIT_MS = 100
/** Visits take so long in this web, and so do pauses: what is uncommitted may have begun a little earlier. */
const VISIT_MS = 100

/** Three nodes, and some of the crawl done. */
async function underWay(cluster: Cluster, random: Random, nodes = 3): Promise<void> {
  for (let i = 0; i < nodes; i++) cluster.node()
  await someDone(cluster, random)
}

async function someDone(cluster: Cluster, random: Random): Promise<void> {
  await cluster.served(Math.floor(cluster.web.totalPages * (0.1 + 0.4 * random.next())))
}

/** What a node may have fetched and not committed at this instant. */
function uncommitted(at: number): Window {
  return [at - COMMIT_MS - STALLED_MS - VISIT_MS, at + STALLED_MS + VISIT_MS]
}

async function leave(node: ClusterNode): Promise<number> {
  const from = performance.now()
  node.signal('SIGTERM')
  await node.gone
  return performance.now() - from
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'a node is killed',
    async inject(cluster, random) {
      await underWay(cluster, random)
      const killedAt = Date.now()
      cluster.nodes[Math.floor(3 * random.next())]!.signal('SIGKILL')
      return { mayRepeat: [uncommitted(killedAt)], killedAt }
    },
  },
  {
    name: 'a node is stopped for longer than its lease',
    async inject(cluster, random) {
      await underWay(cluster, random)
      // Either at any moment, or when it is about to send a request.
      if (random.next() < 0.5 || cluster.hasThreads) cluster.nodes[0]!.signal('SIGSTOP')
      else {
        cluster.nodes[0]!.stopItself()
        await cluster.heardOf('stops')
      }
      const at = Date.now()
      await pause((1.5 + random.next()) * TTL_MS)
      cluster.nodes[0]!.signal('SIGCONT')
      return { mayRepeat: [uncommitted(at)], stopped: cluster.nodes[0]! }
    },
  },
  {
    name: 'a process with worker threads is killed',
    options: { workers: 2 },
    async inject(cluster, random) {
      await underWay(cluster, random, 2)
      const killedAt = Date.now()
      cluster.nodes[Math.floor(2 * random.next())]!.signal('SIGKILL')
      return { mayRepeat: [uncommitted(killedAt)], killedAt }
    },
  },
  {
    name: 'a node is cut off from Redis',
    async inject(cluster, random) {
      const proxy = await cluster.proxy()
      cluster.node(proxy.url)
      await underWay(cluster, random, 2)
      const at = Date.now()
      proxy.cut()
      await pause((1.5 + random.next()) * TTL_MS)
      proxy.mend()
      return { mayRepeat: [uncommitted(at)] }
    },
  },
  {
    name: 'Redis is killed and restarted with its log',
    // By default the log is written behind the answers while an earlier part of it is being synced.
    options: { redisArgs: ['--appendonly', 'yes', '--appendfsync', 'always'] },
    async inject(cluster, random) {
      await underWay(cluster, random)
      await cluster.server.kill()
      await pause(random.next() * TTL_MS)
      await cluster.server.start()
      return {}
    },
  },
  {
    name: 'Sentinels replace the server',
    options: { replicated: { replicas: 2, sentinels: 3 } },
    async inject(cluster, random) {
      for (let i = 0; i < 3; i++) cluster.node(cluster.bySentinels)
      await someDone(cluster, random)
      const at = Date.now()
      await cluster.server.kill()
      await cluster.replicated.failedOver()
      return { mayRepeat: [uncommitted(at)] }
    },
  },
  {
    name: 'Redis is frozen for longer than a lease',
    async inject(cluster, random) {
      await underWay(cluster, random)
      cluster.server.signal('SIGSTOP')
      await pause((1.2 + random.next()) * TTL_MS)
      cluster.server.signal('SIGCONT')
      return {}
    },
  },
  {
    name: 'a replica that is behind takes over',
    options: { replicated: { replicas: 1, sentinels: 1 } },
    async inject(cluster, random) {
      const { line } = cluster.replicated
      // Who asks for no confirmation loses more, and must be as polite.
      for (let i = 0; i < 3; i++) cluster.node({ ...cluster.bySentinels, replicas: 0 })
      await someDone(cluster, random)
      const from = Date.now()
      line.cutReplication()
      await pause(3000 * random.next())
      const to = Date.now()
      await cluster.server.kill()
      await cluster.replicated.failedOver()
      return { mayRepeat: [[uncommitted(from)[0], uncommitted(to)[1]]] }
    },
  },
  {
    name: 'the old primary and a node are split off',
    options: { replicated: { replicas: 1, sentinels: 1 } },
    async inject(cluster, random) {
      const { line } = cluster.replicated
      const direct = { host: '127.0.0.1', port: cluster.server.port }
      const alone = cluster.node(direct)
      // The replica takes over, and then has none itself.
      for (let i = 0; i < 2; i++) cluster.node({ ...cluster.bySentinels, replicas: 0 })
      await someDone(cluster, random)
      const at = Date.now()
      line.cut()
      await cluster.replicated.failedOver()
      await pause(2 * TTL_MS)
      // It would wait for a replica for ever.
      alone.signal('SIGKILL')
      return { mayRepeat: [[uncommitted(at)[0], at + TTL_MS]] }
    },
  },
  {
    name: 'Redis is slow',
    async inject(cluster, random) {
      const proxies = [await cluster.proxy(), await cluster.proxy(), await cluster.proxy()]
      for (const proxy of proxies) {
        proxy.delayMs = 25
        cluster.node(proxy.url)
      }
      await cluster.served(Math.floor(cluster.web.totalPages * random.next()))
      return {}
    },
  },
  {
    name: 'Redis is full',
    async inject(cluster, random) {
      await underWay(cluster, random)
      await cluster.config('maxmemory', '1mb')
      await cluster.heardOf('paused')
      await pause((0.5 + random.next()) * TTL_MS)
      await cluster.config('maxmemory', '0')
      return {}
    },
  },
  ...[HOUR_MS, -HOUR_MS].map(
    (stepMs): Fault => ({
      name: `the clock of a node is set ${stepMs > 0 ? 'forward' : 'back'} by an hour`,
      async inject(cluster, random) {
        await underWay(cluster, random)
        const at = Date.now()
        cluster.nodes[0]!.stepClock(stepMs)
        // Its lease has run out by that clock, so that visits are aborted.
        return { mayRepeat: [[at - VISIT_MS, at + VISIT_MS]] }
      },
    }),
  ),
  {
    name: 'nodes join and leave all the time',
    async inject(cluster, random) {
      await underWay(cluster, random, 1)
      const leaving: Promise<number>[] = []
      for (let i = 0; i < 5; i++) {
        const node = cluster.node()
        await pause(200 + 600 * random.next())
        const ready = cluster.nodes.filter((each) => each.isReady && !each.isLeaving)
        const chosen = i % 2 === 0 ? ready[Math.floor(random.next() * ready.length)] : node
        if (chosen?.isReady && !chosen.isLeaving) leaving.push(leave(chosen))
      }
      cluster.node()
      return { leftMs: await Promise.all(leaving) }
    },
  },
  {
    name: 'all nodes are killed, and one is started again',
    async inject(cluster, random) {
      await underWay(cluster, random)
      const at = Date.now()
      for (const node of cluster.nodes) node.signal('SIGKILL')
      await pause(100)
      cluster.node()
      return { mayRepeat: [uncommitted(at)] }
    },
  },
]
