/**
 * A crawl in a folder. Run it, kill it in whatever way you like, and run it again: it goes on where it was. A page that
 * was in flight when it was killed comes again. When nothing is left it says so, and fetches nothing.
 *
 *     npx tsx examples/resumable-crawl.ts https://example.com/ ./crawl
 */

import { Crawler, inspectCrawl, KumoError, level } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const folder = process.argv[3] ?? './crawl'

/** Looks into the folder before anything is fetched. */
async function before(): Promise<string> {
  try {
    const { pages, pending, runs } = await inspectCrawl(folder)
    return `goes on after ${runs} runs: ${pages} pages done, ${pending} URLs pending`
  } catch (error) {
    if (error instanceof KumoError && error.code === 'KUMO_STORE_RESUME') return 'begins a new crawl'
    throw error
  }
}

console.log(await before())

const crawler = new Crawler()
  .seeds(start)
  .limit({ pages: 20 }) // of all runs together
  .store(level(folder))
  .on('page', ({ id, url }) => console.log(id, url)) // the id of a URL is the same in every run
  .on('store', ({ kind, message }) => console.error(kind, message)) // a full disk pauses the crawl

const run = crawler.start()
process.on('SIGINT', () => run.stop())

const { pages, pending, reason } = await run.done
console.log(`ended with: ${reason}; ${pages} pages in all, ${pending} URLs left`)
