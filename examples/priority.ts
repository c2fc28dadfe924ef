/**
 * Fetches important pages first: within a host, links with a larger number come before others.
 *
 *     npx tsx examples/priority.ts https://example.com/
 */

import { Crawler } from 'kumo'

await new Crawler()
  .seeds(process.argv[2] ?? 'https://example.com/')
  .prioritize('/news/**', 10)
  .prioritize('/archive/**', -10)
  .limit({ pages: 20 })
  .on('page', ({ url, request }) => console.log(request.priority, url))
  .run()
