/** One node of a crawl that several processes share. It reports what happens to it as lines of JSON. */

import { Crawler } from 'kumo'
import { redis } from 'kumo/redis'

/** What a node is told. */
export interface NodeOrders {
  readonly url: string
  readonly crawl: string
  readonly ttl: number
  readonly seeds: readonly string[]
  readonly delayMs: number
  readonly concurrency: number
  readonly pages?: number | undefined
}

const orders = JSON.parse(process.argv[2]!) as NodeOrders
const say = (what: string, more: object = {}) => console.log(JSON.stringify({ what, ...more }))

let crawler = new Crawler()
  .seeds(...orders.seeds)
  .scope('all')
  .allowPrivate('all')
  .robots(false)
  .delay(orders.delayMs)
  .concurrency(orders.concurrency)
  .store(redis(orders.url, { crawl: orders.crawl, ttl: orders.ttl }))
if (orders.pages !== undefined) crawler = crawler.limit({ pages: orders.pages })
const run = crawler.start()
run.on('store', ({ kind, message }) => say(kind, { message }))
process.once('SIGTERM', () => run.stop())
try {
  const { pages, reason, failed } = await run.done
  say('done', { pages, reason, failed })
} catch (error) {
  say('failed', { message: String(error) })
  process.exitCode = 1
}
