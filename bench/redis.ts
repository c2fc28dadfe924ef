/**
 * A crawl in Redis: the memory of known and pending URLs, and what a page costs the node and the server, against the store
 * in memory on the same web.
 */

import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { startWeb } from '../test/loopback/web.js'
import { RedisServer, whyNoRedis } from '../test/stores/redis/server.js'
import { balanced } from './redis-balance.js'
import { type Bench, type Figure, median } from './report.js'

const URLS = 2_000_000
const HOSTS = 20_000
const OTHERS = 100_000
const BATCH = 1000
/** A pickled request of Scrapy: its fields and their names, without the URL. */
const PICKLED = Buffer.alloc(330, 'request')
const PAGES = 12_000
const PAIRS = 3

const script = fileURLToPath(new URL('./redis-child.mjs', import.meta.url))

export const redis: Bench = async () => {
  const reason = whyNoRedis()
  if (reason !== undefined) throw new Error(reason)
  const server = await RedisServer.start()
  const client = new Redis(server.port)
  try {
    const [known, pending] = await memory(server, client)
    const others = await scrapyRedis(client)
    return [
      { what: 'a known URL', value: known, unit: 'B', bar: { atMost: 12 } },
      { what: 'a pending URL', value: pending, unit: 'B', bar: { atMost: 100 } },
      { what: 'a known and pending URL as scrapy-redis keeps it', value: others, unit: 'B' },
      { what: 'both ÷ that', value: (known + pending) / others, unit: '', bar: { atMost: 0.25 } },
      ...(await cost(server, client)),
      ...(await balanced(server.url, client)),
    ]
  } finally {
    client.disconnect()
    await server.stop()
  }
}

/** Bytes of a known URL, and of a pending one beyond that. */
async function memory({ url }: RedisServer, client: Redis): Promise<[known: number, pending: number]> {
  const empty = await field(client, 'used_memory')
  const child = spawn(process.execPath, [script, 'fill', JSON.stringify({ url, urls: URLS, hosts: HOSTS })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const filled = await field(client, 'used_memory')
  child.stdin.write('\n')
  await once(child.stdout, 'data')
  const settled = await field(client, 'used_memory')
  child.stdin.end('\n')
  await once(child, 'exit')
  await client.flushall()
  return [(settled - empty) / URLS, (filled - settled) / URLS]
}

/** The layout of scrapy-redis: requests in a sorted set, fingerprints in a set, for as many URLs as a test can wait for. */
async function scrapyRedis(client: Redis): Promise<number> {
  const empty = await field(client, 'used_memory')
  for (let made = 0; made < OTHERS; made += BATCH) {
    const pipeline = client.pipeline()
    for (let i = made; i < made + BATCH; i++) {
      const host = `www.host-${i % HOSTS}.example`
      const url = `https://${host}/section-${i % 77}/article-${i}.html`
      pipeline.sadd('spider:dupefilter', createHash('sha1').update(url).digest('hex'))
      pipeline.zadd('spider:requests', 0, Buffer.concat([PICKLED, Buffer.from(url)]))
    }
    await pipeline.exec()
  }
  const bytes = ((await field(client, 'used_memory')) - empty) / OTHERS
  await client.flushall()
  return bytes
}

async function cost({ url }: RedisServer, client: Redis): Promise<Figure[]> {
  const web = await startWeb({ pagesPerHost: PAGES })
  const seeds = web.seeds(1)
  try {
    const pairs: { memory: number; node: number; server: number }[] = []
    for (let i = 0; i < PAIRS; i++) {
      const inMemory = await crawl({ seeds, concurrency: 100 })
      const before = await cpuUs(client)
      const inRedis = await crawl({ seeds, concurrency: 100, url })
      const used = (await cpuUs(client)) - before
      pairs.push({ memory: inMemory.cpuUs, node: inRedis.cpuUs, server: used / inRedis.pages })
    }
    const middle = (of: (pair: (typeof pairs)[number]) => number) => median(pairs.map(of))
    return [
      { what: 'memory store', value: middle(({ memory }) => memory), unit: 'µs CPU/page' },
      { what: 'one node on Redis', value: middle(({ node }) => node), unit: 'µs CPU/page' },
      {
        what: 'speed ÷ memory store',
        value: middle(({ memory, node }) => memory / node),
        unit: '',
        bar: { atLeast: 0.75 },
      },
      {
        what: 'client',
        value: middle(({ memory, node }) => node - memory),
        unit: 'µs/page',
        bar: { atMost: 20 },
      },
      { what: 'Redis', value: middle(({ server }) => server), unit: 'µs/page', bar: { atMost: 20 } },
    ]
  } finally {
    await web.close()
  }
}

async function crawl(options: object): Promise<{ pages: number; cpuUs: number }> {
  const args = [script, 'crawl', JSON.stringify(options)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

async function cpuUs(client: Redis): Promise<number> {
  return ((await field(client, 'used_cpu_user')) + (await field(client, 'used_cpu_sys'))) * 1e6
}

async function field(client: Redis, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(await client.info())![1])
}
