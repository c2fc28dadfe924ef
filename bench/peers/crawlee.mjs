/** Crawlee's CheerioCrawler: concurrency and seeds are its arguments. */

import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio'

log.setLevel(log.LEVELS.OFF)
const [concurrency, ...seeds] = process.argv.slice(2)
const crawler = new CheerioCrawler(
  {
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    maxRequestRetries: 0,
    requestHandler: async ({ enqueueLinks }) => {
      await enqueueLinks({ strategy: 'same-origin' })
    },
  },
  new Configuration({ persistStorage: false, purgeOnStart: true }),
)
await crawler.run(seeds)
