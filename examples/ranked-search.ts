/**
 * A search that knows what other pages call a page, and how important it is: crawls a site once, then indexes its archive
 * with the link graph beside it.
 *
 *     npx tsx examples/ranked-search.ts https://example.com/ 'about us' ./site
 */

import { Crawler } from 'kumo'
import { linkGraph, openGraph } from 'kumo/graph'
import { openIndex, searchIndex } from 'kumo/search'
import { warc, warcReplay } from 'kumo/warc'

const [, , start = 'https://example.com/', query = 'example', folder = './site'] = process.argv

await new Crawler()
  .seeds(start)
  .use(warc(`${folder}/archive`))
  .use(linkGraph(`${folder}/graph`))
  .run()

const graph = await openGraph(`${folder}/graph`)
await graph.rank()
const rankOf = await graph.ranks()
await new Crawler()
  .seeds(start)
  .fetcher(warcReplay(`${folder}/archive`))
  .extract({
    anchors: async ({ url }) => (await graph.texts(url)).map(({ text }) => text).join('\n'),
    rank: ({ url }) => rankOf(url),
  })
  .use(searchIndex(`${folder}/index`, { fields: { anchors: 'text', rank: 'number' } }))
  .run()
await graph.close()

const index = await openIndex(`${folder}/index`)
const { hits } = await index.search(query)
for (const { title, url } of hits) console.log(title, url)
await index.close()
