/**
 * A crawl on all cores. The extractor is in a module, so it runs inside the worker threads. The listener runs in this
 * thread and receives the extracted data.
 *
 *   npx tsx examples/all-cores.ts https://example.com/
 */

import { Crawler } from 'kumo'

interface Outline {
  headings: string[]
  thread: number
}

const summary = await new Crawler()
  .seeds(process.argv[2] ?? 'https://example.com/')
  .limit({ pages: 20 })
  .workers('auto')
  .extract<Outline>(new URL('./all-cores-outline.mjs', import.meta.url))
  .on('page', ({ url, data }) => {
    console.log(`${url}: ${data.headings.join(', ') || '(no headings)'}, read by thread ${data.thread}`)
  })
  .on('worker', ({ worker, message, retried }) => {
    console.log(`worker ${worker} was replaced: ${message}; ${retried} pages will be retried`)
  })
  .run()

const shares = summary.workers.map(({ pages }) => pages).join(' + ')
console.log(`${summary.pages} pages: ${shares}`)
