/**
 * How to end a crawl early. Limits bound how much it fetches, stop() lets visits in flight finish, an abort ends them.
 * `summary.reason` says why the crawl ended, and `summary.pending` how many known URLs are left.
 *
 *     npx tsx examples/stopping-and-limits.ts https://example.com/     (try Ctrl-C, once and twice)
 */

import { Crawler } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'

const crawler = new Crawler()
  .seeds(start)
  .limit({
    pages: 5, // exact: never one more
    bytes: 50_000_000, // bodies on the wire; visits in flight still finish
    time: '2m', // fetches in flight are aborted
    pagesPerHost: 100,
  })
  .on('page', (page) => console.log(page.url))

const controller = new AbortController()
// AbortSignal.timeout(60_000) works too.
const run = crawler.start({ signal: controller.signal })

let interrupts = 0
process.on('SIGINT', () => {
  // The first Ctrl-C starts no new visits and lets those in flight finish. The second aborts them within a second; the
  // reason stays `stopped`.
  if (interrupts++ === 0) run.stop()
  else controller.abort()
})

const summary = await run.done
console.log(`ended with: ${summary.reason}; ${summary.pages} pages, ${summary.pending} URLs left`)
