/**
 * Runs an extractor over an archive instead of the web: archive the site first with archive.ts.
 *
 *     npx tsx examples/replay.ts https://example.com/ ./archive
 */

import { Crawler } from 'kumo'
import { warcReplay } from 'kumo/warc'

const [start = 'https://example.com/', folder = './archive'] = process.argv.slice(2)

const archived = new Crawler()
  .seeds(start)
  .fetcher(warcReplay(folder))
  .extract({ headings: (page) => page.document.querySelectorAll('h1').length })

for await (const page of archived) console.log(page.url, page.data.headings)
