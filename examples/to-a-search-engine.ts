/**
 * Keeps a document for each page in OpenSearch, Elasticsearch or Meilisearch.
 *
 *     npx tsx examples/to-a-search-engine.ts https://example.com/ opensearch http://localhost:9200
 *     MEILI_KEY=… npx tsx examples/to-a-search-engine.ts https://example.com/ meilisearch http://localhost:7700
 */

import { Crawler } from 'kumo'
import { meilisearch, opensearch } from 'kumo/sinks'

const [, , start = 'https://example.com/', kind = 'opensearch', server = 'http://localhost:9200'] =
  process.argv
const pages =
  kind === 'meilisearch'
    ? meilisearch(server, { index: 'pages', key: process.env.MEILI_KEY })
    : opensearch(server, { index: 'pages' })

await new Crawler().seeds(start).limit({ pages: 100 }).use(pages).run()
const { written, dead } = pages.stats()
console.log(`${written} pages in ${kind}, ${dead} could not be written`)
