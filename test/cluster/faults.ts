/** What may fail while nodes share a crawl. The short test and the long one inject the same faults. */

import type { Random } from 'kumo/adapters'
import { type Cluster, type ClusterOptions, TTL_MS } from './cluster.js'

export interface Fault {
  readonly name: string
  readonly options?: ClusterOptions
  /** Starts nodes and lets something fail. Resolves with how many repeats are allowed, beyond those in flight. */
  inject(cluster: Cluster, random: Random): Promise<void>
  /** Whether a page may be fetched twice. */
  readonly mayRepeat: boolean
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Three nodes, and some of the crawl done. */
async function underWay(cluster: Cluster, random: Random, nodes = 3): Promise<void> {
  for (let i = 0; i < nodes; i++) cluster.node()
  await cluster.served(Math.floor(cluster.web.totalPages * (0.1 + 0.4 * random.next())))
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'a node is killed',
    mayRepeat: true,
    async inject(cluster, random) {
      await underWay(cluster, random)
      cluster.nodes[0]!.signal('SIGKILL')
    },
  },
  {
    name: 'a node is stopped for longer than its lease',
    mayRepeat: true,
    async inject(cluster, random) {
      await underWay(cluster, random)
      cluster.nodes[0]!.signal('SIGSTOP')
      await pause(2.2 * TTL_MS)
      cluster.nodes[0]!.signal('SIGCONT')
    },
  },
  {
    name: 'a node is cut off from Redis',
    mayRepeat: true,
    async inject(cluster, random) {
      const proxy = await cluster.proxy()
      cluster.node(proxy.url)
      await underWay(cluster, random, 2)
      proxy.cut()
      await pause(2.2 * TTL_MS)
      proxy.mend()
    },
  },
  {
    name: 'Redis is killed and restarted with its log',
    mayRepeat: false,
    async inject(cluster, random) {
      await underWay(cluster, random)
      await cluster.server.kill()
      await pause(TTL_MS / 2)
      await cluster.server.start()
    },
  },
  {
    name: 'Redis is frozen for longer than a lease',
    mayRepeat: false,
    async inject(cluster, random) {
      await underWay(cluster, random)
      cluster.server.signal('SIGSTOP')
      await pause(2 * TTL_MS)
      cluster.server.signal('SIGCONT')
    },
  },
  {
    name: 'Redis is slow',
    mayRepeat: false,
    async inject(cluster, random) {
      const proxies = [await cluster.proxy(), await cluster.proxy(), await cluster.proxy()]
      for (const proxy of proxies) {
        proxy.delayMs = 25
        cluster.node(proxy.url)
      }
      await cluster.served(Math.floor(cluster.web.totalPages * random.next()))
    },
  },
  {
    name: 'nodes join and leave all the time',
    mayRepeat: false,
    async inject(cluster, random) {
      await underWay(cluster, random, 1)
      for (let i = 0; i < 4; i++) {
        const node = cluster.node()
        await pause(300 + 500 * random.next())
        if (i % 2 === 0) cluster.nodes[Math.floor(random.next() * cluster.nodes.length)]!.signal('SIGTERM')
        else node.signal('SIGTERM')
      }
      cluster.node()
    },
  },
  {
    name: 'all nodes are killed, and one is started again',
    mayRepeat: true,
    async inject(cluster, random) {
      await underWay(cluster, random)
      for (const node of cluster.nodes) node.signal('SIGKILL')
      await pause(100)
      cluster.node()
    },
  },
]
