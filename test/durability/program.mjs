/**
 * The program that is killed: a whole crawl with a store, as an application would write it, and nothing that helps it
 * to survive. Started again with the same task, it goes on.
 *
 * Plain JavaScript and no loader: `kumo` is the built package as an application gets it, and a restart costs what a
 * restart costs.
 */

import { openSync, writeSync } from 'node:fs'
import { Crawler, level, memory } from 'kumo'

/** @type {import('./run.js').Task} */
const task = JSON.parse(process.argv[2] ?? '')
// Written at once and not through a stream, which would lose at a kill what the hook was told was delivered.
const deliveries = openSync(task.deliveries, 'a')

const crawler = new Crawler()
  .seeds(task.seeds)
  .scope('all')
  .allowPrivate('all')
  .delay(task.delayMs)
  .concurrency(task.concurrency)
  .workers(task.workers ?? 0)
  .limit(task.limitPages === undefined ? {} : { pages: task.limitPages })
  .store(task.folder === undefined ? memory() : level(task.folder, task.level))
  .on('page', ({ id, attempt, url }) => void writeSync(deliveries, `${id} ${attempt} ${url}\n`))
  .on('store', ({ kind, message }) => console.error(`${kind}: ${message}`))

// Where the pulse stops, the program was busy or the machine was, and no store could have committed anything.
const pulse = openSync(task.pulse, 'w')
const beat = () => void writeSync(pulse, `${performance.timeOrigin + performance.now()}\n`)
beat()
setInterval(beat, task.beatMs).unref()

const run = crawler.start()
process.once('SIGTERM', () => run.stop())

const { reason, pages, earlierRuns } = await run.done
console.log(JSON.stringify({ reason, pages, earlierRuns }))
