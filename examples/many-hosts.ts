/**
 * Crawls many hosts at once. Each host is visited once a second at most, so speed comes from the number of hosts:
 * raise concurrency() and bound what each host contributes.
 *
 *     npx tsx examples/many-hosts.ts hosts.txt      (one URL per line)
 */

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Crawler } from 'kumo'

const list = process.argv[2] ?? 'hosts.txt'

const summary = await new Crawler()
  // Read as the crawl needs them: a list of a million hosts is never in memory as a whole.
  .seeds(createInterface({ input: createReadStream(list) }))
  .scope('host')
  .concurrency(500)
  .limit({ pagesPerHost: 10 })
  .timeout('10s')
  .retries({ times: 1, cooldowns: 1 }) // give up hosts that are down sooner
  .on('page', ({ url }) => console.log(url))
  .on('progress', ({ pages, hosts, bottleneck }) =>
    console.error(pages, 'pages,', hosts, 'hosts,', bottleneck),
  )
  .run()

console.log(`${summary.pages} pages from ${summary.hostsVisited} hosts, ${summary.failed} URLs failed`)
