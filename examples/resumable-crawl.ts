/**
 * A crawl that is kept in a folder. Run it, kill it in any way you like, and run it again: it resumes. Pages that were
 * in flight are fetched again. Once the crawl is complete, another run fetches nothing.
 *
 *     npx tsx examples/resumable-crawl.ts https://example.com/ ./crawl
 */

import { Crawler, inspectCrawl, KumoError, level } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const folder = process.argv[3] ?? './crawl'

/** Inspects the folder before anything is fetched. */
async function before(): Promise<string> {
  try {
    const { pages, pending, runs } = await inspectCrawl(folder)
    return `resuming after ${runs} runs: ${pages} pages done, ${pending} URLs pending`
  } catch (error) {
    if (error instanceof KumoError && error.code === 'KUMO_STORE_RESUME') return 'starting a new crawl'
    throw error
  }
}

console.log(await before())

const crawler = new Crawler()
  .seeds(start)
  .limit({ pages: 20 }) // over all runs
  .store(level(folder))
  .on('page', ({ id, url }) => console.log(id, url)) // the id of a URL is the same in every run
  .on('store', ({ kind, message }) => console.error(kind, message)) // a full disk pauses the crawl

const run = crawler.start()
process.on('SIGINT', () => run.stop())

const { pages, pending, reason } = await run.done
console.log(`ended with: ${reason}; ${pages} pages in all, ${pending} URLs left`)
