/** A whole program around one crawl. It must end by itself once the crawl is over: nothing here calls exit. */

import { Crawler } from '../../../src/index.js'

const [ending, ...seeds] = process.argv.slice(2)
const crawler = new Crawler()
  .delay(0)
  .robots(false)
  .concurrency(20)
  .perHost({ connections: 4, growAt: 1 })
  .seeds(seeds)

if (ending === 'finish') {
  const { reason, pages } = await crawler.run()
  console.log(JSON.stringify({ reason, pages }))
} else if (ending === 'abort') {
  const controller = new AbortController()
  let seen = 0
  const { reason, pages } = await crawler
    .on('page', () => {
      if (++seen === 50) controller.abort()
    })
    .run({ signal: controller.signal })
  console.log(JSON.stringify({ reason, pages }))
} else {
  let pages = 0
  const run = crawler.start()
  for await (const _ of run) if (++pages === 50) break
  console.log(JSON.stringify({ reason: run.stats()?.reason, pages }))
}
