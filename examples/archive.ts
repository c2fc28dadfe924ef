/**
 * Archives a site as WARC files, which other tools can replay.
 *
 *     npx tsx examples/archive.ts https://example.com/ ./archive
 */

import { Crawler } from 'kumo'
import { readWarc, warc } from 'kumo/warc'

const [start = 'https://example.com/', folder = './archive'] = process.argv.slice(2)

await new Crawler().seeds(start).use(warc(folder)).run()

for await (const record of readWarc(folder)) {
  if (!record.ok) console.log(`damaged at ${record.offset}: ${record.message}`)
  else if (record.type === 'response') console.log(record.http?.status, record.url)
}
