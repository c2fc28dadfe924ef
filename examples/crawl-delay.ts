/**
 * The rate limit of a host: delay() or the Crawl-delay of its robots.txt, whichever is longer.
 *
 *     npx tsx examples/crawl-delay.ts https://example.com/
 */

import { Crawler } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'

const summary = await new Crawler()
  .seeds(start)
  .delay('100ms') // for hosts that are yours; the default is one second
  .robots({ maxDelay: '10s' }) // a longer Crawl-delay counts as ten seconds
  .limit({ pages: 3 })
  .on('page', ({ url }) => console.log(url))
  .run()

console.log(`the shortest pause between two visits was ${Math.floor(summary.shortestGapMs ?? 0)} ms`)
