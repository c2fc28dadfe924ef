/**
 * Follows feeds into a folder until it is told to stop, or killed: `feeds-program.ts <folder> <workers> <deliveries> <seed>…`.
 * Each entry that it gets adds a line to the file of deliveries.
 */

import { appendFileSync } from 'node:fs'
import { Crawler, level } from 'kumo'

const [folder, workers, deliveries, ...seeds] = process.argv.slice(2) as [string, string, string, ...string[]]

const run = new Crawler()
  .seeds(seeds)
  .delay(0)
  .depth(0)
  .robots(false)
  .allowPrivate('all')
  .workers(Number(workers))
  .store(level(folder))
  .feeds({ min: '1s', max: '1s' })
  .on('feed', ({ feed, new: entries }) => {
    for (const { id, key } of entries) appendFileSync(deliveries, `${feed.url} ${id} ${key}\n`)
  })
  .start()
process.once('SIGTERM', () => run.stop())
await run.done
