/**
 * One crawl that several processes share: run this program twice, on one machine or on two, and kill one of them.
 * Needs a Redis server, by default on this machine: `REDIS_URL=redis://… npx tsx examples/cluster.ts https://example.com/`
 */

import { Crawler } from 'kumo'
import { redis } from 'kumo/redis'

const seed = process.argv[2] ?? 'https://example.com/'
const server = process.env.REDIS_URL ?? 'redis://localhost:6379'

const run = new Crawler()
  .seeds(seed)
  .limit({ pages: 100 })
  .store(redis(server, { crawl: 'example' }))
  .on('page', ({ url }) => console.log(url))
  .on('store', ({ kind, message }) => console.log(kind, message))
  .start()

// Visits in flight end, and the other processes take over at once.
process.once('SIGINT', () => run.stop())

const { pages, reason } = await run.done
console.log(`this process read ${pages} pages; the crawl ended with: ${reason}`)
