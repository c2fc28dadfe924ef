/**
 * Writes a record of each page to a JSON Lines file and a CSV file. `kumo crawl --format csv` does it without a program.
 *
 *     npx tsx examples/json-lines-and-csv.ts https://example.com/ pages
 */

import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { Crawler } from 'kumo'

const [, , start = 'https://example.com/', name = 'pages'] = process.argv
const [json, csv] = [createWriteStream(`${name}.jsonl`), createWriteStream(`${name}.csv`)]
const write = async (file: WriteStream, line: string) => {
  if (!file.write(`${line}\n`)) await once(file, 'drain') // a full buffer slows the crawl
}
const row = (cells: readonly unknown[]) =>
  cells.map((each) => `"${String(each).replaceAll('"', '""')}"`).join(',')

await write(csv, row(['url', 'status', 'title']))
for await (const { url, status, title } of new Crawler().seeds(start).limit({ pages: 100 })) {
  await write(json, JSON.stringify({ url, status, title }))
  await write(csv, row([url, status, title]))
}
json.end()
csv.end()
