/**
 * The ways in which a crawl ends before it is done. Limits are promises about how much it takes; stop() is gentle,
 * an abort is quick. `summary.reason` tells which it was, and `summary.pending` how many known URLs were left.
 *
 *     npx tsx examples/stopping-and-limits.ts https://example.com/     (try Ctrl-C, once and twice)
 */

import { Crawler } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'

const crawler = new Crawler()
  .seeds(start)
  .limit({
    pages: 5, // exact: never one more
    bytes: 50_000_000, // of bodies on the wire; what is in flight may finish
    time: '2m', // at this moment fetches are ended
    pagesPerHost: 100,
  })
  .on('page', (page) => console.log(page.url))

const controller = new AbortController()
// AbortSignal.timeout(60_000) would do as well.
const run = crawler.start({ signal: controller.signal })
let interrupts = 0
process.on('SIGINT', () => {
  // Once: no new visits, and what is in flight comes to its end. Twice: within a second it is over, though the
  // reason stays what was asked first.
  if (interrupts++ === 0) run.stop()
  else controller.abort()
})

const summary = await run.done
console.log(`ended with: ${summary.reason}; ${summary.pages} pages, ${summary.pending} URLs left`)
