/**
 * A crawl that knows ever more pages, all of which wait for their next visit on disk: what each takes up in memory. Plain
 * JavaScript and no loader: `kumo` is the built package as an application gets it.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Crawler, level } from 'kumo'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

const HEADERS = {
  get: (name) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [['content-type', 'text/html']],
}

function memory() {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

process.once('message', async ({ folder, pages, hosts, linksPerPage }) => {
  let made = 0
  const fetch = () => {
    const links = Array.from({ length: linksPerPage }, () => {
      const number = made++
      return `<a href="https://www.host-${number % hosts}.example/section/article-${number}.html">read</a>`
    })
    // Each page leads to others until there are enough; then all have their turn.
    const body = Buffer.from(made > pages.at(-1) * 1.05 ? `page ${made++}` : links.join('\n'), 'latin1')
    return { ok: true, status: 200, headers: HEADERS, body, wireBytes: body.length, skippedBody: false }
  }
  const marks = []
  const crawler = new Crawler()
    .seeds('https://www.host-0.example/')
    .scope('all')
    .robots(false)
    .delay(0)
    .concurrency(64)
    .traps(false)
    .fetcher(fetch)
    .store(level(folder))
    .refresh({ min: '1d', first: '1d' })
  const run = crawler.start()
  run.on('page', () => {
    const known = run.stats().changes.new ?? 0
    if (known < pages[marks.length]) return
    marks.push(memory())
    if (marks.length === pages.length) run.stop()
  })
  await run.done
  process.send?.(marks, () => process.disconnect())
})
