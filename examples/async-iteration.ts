/**
 * A crawl as a loop. If the loop is slow, the crawl waits for it (back-pressure). Leaving the loop ends the crawl.
 *
 *     npx tsx examples/async-iteration.ts https://example.com/
 */

import { Crawler } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const ENOUGH = 3

const run = new Crawler().seeds(start).depth(2).start()
let read = 0

for await (const page of run) {
  console.log(`${'  '.repeat(page.depth)}${page.url} has ${page.links.length} links`)
  if (++read === ENOUGH) break
}

// After the loop nothing is left running, and the run still has its statistics.
console.log(`read ${read} pages; ${run.stats()?.pending ?? 0} known URLs were left`)
