/**
 * Keeps the links of a site in a graph, then asks it: broken links with the pages that have them, and the pages with the
 * highest ranks.
 *
 *     npx tsx examples/link-graph.ts https://example.com/ graph
 */

import { Crawler } from 'kumo'
import { linkGraph, openGraph } from 'kumo/graph'

const [, , start = 'https://example.com/', folder = 'graph'] = process.argv

await new Crawler().seeds(start).limit({ pages: 100 }).use(linkGraph(folder)).run()

const graph = await openGraph(folder)
for await (const { url, status, reason, referrers } of graph.broken())
  console.log(`${url}: ${status || reason}, on ${referrers.join(' ')}`)
await graph.rank()
for (const { url, rank } of await graph.top(3)) console.log(rank.toFixed(3), url)
await graph.close()
