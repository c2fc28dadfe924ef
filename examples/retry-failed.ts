/**
 * Tries again what earlier runs of a stored crawl gave up, after an outage for example.
 *
 *     npx tsx examples/retry-failed.ts https://example.com/ ./crawl
 */

import { Crawler, level } from 'kumo'

const [, , start = 'https://example.com/', folder = './crawl'] = process.argv

const { pages, failed } = await new Crawler()
  .seeds(start)
  .store(level(folder))
  .retries({ times: 0 }) // the next run tries again
  .retryFailed()
  .on('page', ({ url }) => console.log('page', url))
  .on('failure', ({ url, code, parent }) => console.log(code, url, 'on', parent))
  .run()

console.log(`${pages} pages so far, ${failed} failed`)
