/** The steps of the Redis bench, each in a process of its own. `kumo` is the built package as an application gets it. */

import { Crawler } from 'kumo'
import { byHost, systemClock } from 'kumo/adapters'
import { redis } from 'kumo/redis'
import { searchIndex } from 'kumo/search'

const BATCH = 2000

const STEPS = {
  /** Fills a crawl with pending requests, says so, and settles them all when it is told to. */
  async fill({ url, urls, hosts }) {
    const clock = systemClock()
    const partitioner = byHost()
    const store = await redis(url, { crawl: 'fill' }).open({
      politeness: { delayMs: 0, connections: 1, growAt: 100 },
      policy: ({ readyAt }) => readyAt,
      clock,
      partitions: partitioner.partitions,
      partitionOf: (host) => partitioner.partition(host),
      identity: {},
    })
    for (let made = 0; made < urls; made += BATCH) {
      const requests = Array.from({ length: BATCH }, (_, i) => {
        const host = `www.host-${(made + i) % hosts}.example`
        const path = `/section-${i % 77}/article-${made + i}.html`
        const parent = `https://${host}/section-${i % 77}/`
        return {
          url: `https://${host}${path}`,
          host,
          depth: 3,
          priority: 0,
          attempt: 0,
          redirects: 0,
          parent,
        }
      })
      await store.frontier.add(requests)
      await store.flush()
    }
    console.log('filled')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    for (;;) {
      const leases = store.frontier.lease(BATCH, clock.now() + 86_400_000)
      if (leases.length === 0) break
      await store.frontier.settle(leases.map((request) => ({ request, visitedAt: undefined })))
      await store.flush()
    }
    console.log('settled')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    await store.close()
    process.exit()
  },

  /** One of several nodes: waits for URLs, says what happens. With `index`, it indexes what it gets into that folder. */
  async node({ url, crawl, balance, concurrency, delayMs, index, offload }) {
    const say = (what, more = {}) => console.log(JSON.stringify({ what, ...more }))
    let crawler = new Crawler()
      .scope('all')
      .allowPrivate('all')
      .robots(false)
      .delay(delayMs)
      .concurrency(concurrency)
      .keepOpen()
      .store(redis(url, { crawl, balance }))
    if (index !== undefined) crawler = crawler.depth(0).use(searchIndex(index, { sync: false, offload }))
    const run = crawler.start()
    const { createInterface } = await import('node:readline')
    createInterface(process.stdin).on('line', async (line) => {
      const { add, finish } = JSON.parse(line)
      if (finish) run.finish()
      else await run.add(add).then(() => say('added'))
    })
    say('ready')
    const { pages, queues } = await run.done
    const { user, system } = process.cpuUsage()
    const offloaded = queues['search-index']?.offloaded
    say('done', { pages, offloaded, cpuSeconds: (user + system) / 1e6 })
    process.exit()
  },

  /** A crawl of a real web. */
  async crawl({ url, seeds, concurrency }) {
    let crawler = new Crawler()
      .seeds(...seeds)
      .scope('all')
      .allowPrivate('all')
      .robots(false)
      .delay(0)
      .perHost({ connections: concurrency, growAt: 1 })
      .concurrency(concurrency)
    if (url !== undefined) crawler = crawler.store(redis(url, { crawl: `crawl-${process.pid}` }))
    // Loading it costs the same for ten pages and for ten million.
    if (url !== undefined) await import('ioredis')
    const before = process.cpuUsage()
    const { pages } = await crawler.run()
    const { user, system } = process.cpuUsage(before)
    console.log(JSON.stringify({ pages, cpuUs: (user + system) / pages }))
  },
}

const [step, options] = process.argv.slice(2)
await STEPS[step](JSON.parse(options))
