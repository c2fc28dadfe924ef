/**
 * Writes one record per page to a JSON Lines file and a CSV file. The hooks write to streams and wait when a stream is
 * full, so the crawl never runs ahead of the disk.
 *
 *     npx tsx examples/json-lines-and-csv.ts https://example.com/ pages
 */

import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { Crawler, type Hook, type Page } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const name = process.argv[3] ?? 'pages'

/** A hook that writes one line for each page. */
function lines(path: string, lineOf: (page: Page) => string, header?: string): Hook {
  let file: WriteStream
  const write = async (line: string) => {
    if (!file.write(`${line}\n`)) await once(file, 'drain')
  }
  return {
    name: `lines to ${path}`,
    async open() {
      file = createWriteStream(path)
      if (header !== undefined) await write(header)
    },
    page: (page) => write(lineOf(page)),
    async close() {
      file.end()
      await finished(file)
    },
  }
}

/** Quotes a CSV field if it contains a comma, a quote or a line break. */
const field = (value: string | number) =>
  /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)

const summary = await new Crawler()
  .seeds(start)
  .limit({ pages: 100 })
  .use(lines(`${name}.jsonl`, ({ url, status, title }) => JSON.stringify({ url, status, title })))
  .use(
    lines(
      `${name}.csv`,
      ({ url, status, title }) => [url, status, title].map(field).join(','),
      'url,status,title',
    ),
  )
  .run()

console.log(`${summary.pages} pages written to ${name}.jsonl and ${name}.csv`)
