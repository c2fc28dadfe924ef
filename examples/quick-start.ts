/**
 * The shortest useful crawl: the pages of one site, with the default politeness (robots.txt, one connection and one
 * second between requests per host, only links within the site).
 *
 *     npx tsx examples/quick-start.ts https://example.com/
 */

import { Crawler } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'

const summary = await new Crawler()
  .seeds(start)
  .limit({ pages: 20 })
  .on('page', (page) => console.log(page.status, page.url, page.title))
  .on('failure', (failure) => console.log(failure.code, failure.url, failure.message))
  .run()

console.log(`${summary.pages} pages, ${summary.failed} failed; it ended with: ${summary.reason}`)
