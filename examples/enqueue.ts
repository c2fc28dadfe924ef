/**
 * More requests while a crawl runs: `page.follow()` for what a page leads to, `run.add()` for what comes from elsewhere.
 *
 *     npx tsx examples/enqueue.ts https://example.com/ https://example.com/other
 */

import { Crawler } from 'kumo'

const [, , start = 'https://example.com/', ...more] = process.argv

const run = new Crawler()
  .keepOpen() // until run.finish()
  .limit({ pages: 100 })
  .on('page', (page) => {
    console.log(page.url, page.request.label ?? 'link')
    const next = page.document.querySelector('.next')?.getAttribute('data-url')
    if (next) page.follow(next, { label: 'next', priority: 10 }) // relative to the page
  })
  .start()

await run.add({ url: start, label: 'first' })
for (const url of more) await run.add({ url, label: 'added' }) // waits if the crawl has enough to do
run.finish()
console.log(`${(await run.done).pages} pages`)
