/**
 * A crawl over all cores: what is made of pages runs inside worker threads, because it is in a module of its own. The
 * listener stays here, and gets what was made.
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
    console.log(`worker ${worker} was replaced: ${message}; ${retried} pages are tried again`)
  })
  .run()

const shares = summary.workers.map(({ pages }) => pages).join(' + ')
console.log(`${summary.pages} pages: ${shares}`)
