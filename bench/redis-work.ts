/**
 * Two nodes that index what they crawl, and 80 % of the text is on the hosts of one of them: how soon the crawl is finished if
 * the busy one leaves pages to the other, and if not. Whole crawls in turn, each in processes of its own.
 */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { byHost } from 'kumo/adapters'
import { openIndex } from 'kumo/search'
import { RedisServer, whyNoRedis } from '../test/stores/redis/server.js'
import { Child } from './redis-balance.js'
import { type Bench, median } from './report.js'
import { type IndexingWeb, indexingWeb } from './search-web.js'

const NODES = 2
const HOSTS = 16
/** Pages, of real sites if they are there. */
const PAGES = 2000
/** The share of the text on the hosts of one node. */
const UNEVEN = 0.8
const TURNS = 3

const script = fileURLToPath(new URL('./redis-child.mjs', import.meta.url))

interface Crawled {
  readonly seconds: number
  /** CPU time of the process that worked most: what the crawl takes at least, however many cores are free. */
  readonly busiestSeconds: number
  readonly offloaded: number
}

export const redisWork: Bench = async () => {
  const reason = whyNoRedis()
  if (reason !== undefined) throw new Error(reason)
  const server = await RedisServer.start()
  const client = new Redis(server.port)
  const web = await indexingWeb(HOSTS, PAGES)
  const pairs: { readonly without: Crawled; readonly with: Crawled }[] = []
  try {
    for (let turn = 0; turn < TURNS; turn++) {
      const without = await crawl(server.url, client, web, `own-${turn}`, false)
      pairs.push({ without, with: await crawl(server.url, client, web, `shared-${turn}`, true) })
    }
  } finally {
    await web.close()
    client.disconnect()
    await server.stop()
  }
  const middle = (of: (pair: (typeof pairs)[number]) => number) => median(pairs.map(of))
  const floor = Math.max(1 / Math.min(availableParallelism(), NODES), 1 / NODES) / UNEVEN
  return [
    {
      what: 'two nodes, 80 % of the text at one: without sharing',
      value: middle((p) => p.without.seconds),
      unit: 's',
    },
    { what: 'with sharing', value: middle((p) => p.with.seconds), unit: 's' },
    {
      what: 'finish with ÷ without',
      value: middle((p) => p.with.seconds / p.without.seconds),
      unit: '',
      bar: { atMost: 0.72 },
    },
    {
      what: 'the same by the CPU of the busiest process',
      value: middle((p) => p.with.busiestSeconds / p.without.busiestSeconds),
      unit: '',
    },
    { what: 'the floor for these cores', value: floor, unit: '' },
    { what: 'pages left to the other node', value: middle((p) => p.with.offloaded), unit: `of ${PAGES}` },
  ]
}

async function crawl(
  url: string,
  client: Redis,
  web: IndexingWeb,
  name: string,
  offload: boolean,
): Promise<Crawled> {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-redis-work-'))
  const indexes = Array.from({ length: NODES }, (_, node) => join(folder, `index-${node}`))
  try {
    const nodes = indexes.map((index) => {
      // What moves here is pages, and not hosts.
      const order = { url, crawl: name, balance: false, concurrency: 32, delayMs: 0, index, offload }
      const stdio: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit']
      return new Child(spawn(process.execPath, [script, 'node', JSON.stringify(order)], { stdio }))
    })
    await Promise.all(nodes.map((node) => node.heard('ready')))
    const { partition } = byHost()
    const owners = await ownersOf(client, `{kumo:${name}}:own`)
    const seeds = web.uneven(NODES, UNEVEN, (host) => (owners[partition(host)] === '1' ? 0 : 1))
    const startedAt = performance.now()
    nodes[0]!.say({ add: seeds })
    await nodes[0]!.heard('added')
    for (const node of nodes) node.say({ finish: true })
    const done = await Promise.all(nodes.map((node) => node.heard('done')))
    const seconds = (performance.now() - startedAt) / 1000
    await assertAllIndexed(indexes, seeds.length)
    const busiestSeconds = Math.max(...done.map(({ cpuSeconds }) => Number(cpuSeconds)))
    return { seconds, busiestSeconds, offloaded: done.reduce((sum, each) => sum + Number(each.offloaded), 0) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Once every node has its part. */
async function ownersOf(client: Redis, key: string): Promise<Record<string, string>> {
  for (;;) {
    const owners = await client.hgetall(key)
    const nodes = new Set(Object.values(owners))
    if (nodes.size === NODES && Object.keys(owners).length === byHost().partitions) return owners
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function assertAllIndexed(indexes: readonly string[], pages: number): Promise<void> {
  let found = 0
  for (const path of indexes) {
    const index = await openIndex(path)
    found += (await index.stats()).documents
    await index.close()
  }
  if (found !== pages) throw new Error(`${found} documents of ${pages} pages`)
}
