/**
 * Writes a record of each page to a JSON Lines file and a CSV file. `kumo crawl --format csv` does it without a program.
 *
 *     npx tsx examples/json-lines-and-csv.ts https://example.com/ pages
 */

import { Crawler } from 'kumo'
import { csv, jsonl } from 'kumo/sinks'

const [, , start = 'https://example.com/', name = 'pages'] = process.argv

await new Crawler()
  .seeds(start)
  .limit({ pages: 100 })
  .use(jsonl(`${name}.jsonl`, { record: ({ url, status, title }) => ({ url, status, title }) }))
  .use(csv(`${name}.csv`, { columns: { url: (p) => p.url, status: (p) => p.status, title: (p) => p.title } }))
  .run()
