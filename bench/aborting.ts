/** Crawls the given seeds at full speed, aborts after a second and a half, and must then end by itself. */

import { performance } from 'node:perf_hooks'
import { Crawler } from 'kumo'

const controller = new AbortController()
let abortedAt = 0
setTimeout(() => {
  abortedAt = performance.now()
  controller.abort()
}, 1500)
const crawler = new Crawler()
  .seeds(process.argv.slice(2))
  .concurrency(500)
  .delay(0)
  .perHost({ connections: 16, growAt: 1 })
  .scope('all')
const { pages } = await crawler.run({ signal: controller.signal })
const now = performance.now()
console.log(
  JSON.stringify({ returnedInMs: now - abortedAt, returnedAt: performance.timeOrigin + now, pages }),
)
