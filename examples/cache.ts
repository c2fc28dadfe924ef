/**
 * Develops an extractor against a cache: the first run fetches, the next ones send nothing and take no time.
 *
 *     npx tsx examples/cache.ts https://example.com/ ./http
 */

import { Crawler } from 'kumo'

const [start = 'https://example.com/', folder = './http'] = process.argv.slice(2)

const crawler = new Crawler()
  .seeds(start)
  .cache(folder)
  .extract({ words: (page) => page.text.split(/\s+/).filter(Boolean).length })

for await (const page of crawler) console.log(page.url, page.data.words)
