/** A site's search in ten lines: crawl it, index it, ask it. */

import { Crawler } from 'kumo'
import { openIndex, searchIndex } from 'kumo/search'

const [url = 'https://example.com/', words = 'example', folder = './site-index'] = process.argv.slice(2)
await new Crawler().seeds(url).limit({ pages: 100 }).use(searchIndex(folder)).run()

const index = await openIndex(folder)
const { hits, total } = await index.search(words)
console.log(`${total} pages`)
for (const { url, anchor, title, snippet } of hits)
  console.log(title, `${url}#${anchor ?? ''}`, snippet?.text)
await index.close()
