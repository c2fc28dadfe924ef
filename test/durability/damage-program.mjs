/**
 * The program that meets damaged folders, one after the other: it is told of each by a line, and answers with a line. If
 * it dies, whoever asked knows over which.
 *
 * Plain JavaScript and no loader: `kumo` is the built package as an application gets it.
 */

import { openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Crawler, inspectCrawl, KumoError, level } from 'kumo'

/** @param {import('./damage-trial.js').TrialTask} task */
async function crawl(task) {
  /** @type {string[]} */
  const pages = []
  /** @type {string[]} */
  const events = []
  const deliveries = task.deliveries === undefined ? undefined : openSync(task.deliveries, 'a')
  const crawler = new Crawler()
    .seeds(task.seeds)
    .scope('all')
    .allowPrivate('all')
    .delay(0)
    .concurrency(20)
    .workers(task.workers)
    .store(level(task.folder, task.level))
    .on('store', ({ kind, message }) => void events.push(`${kind}: ${message}`))
  const run = crawler.start()
  run.on('page', ({ url }) => {
    pages.push(url)
    if (deliveries !== undefined) writeSync(deliveries, `${url}\n`)
    if (pages.length === task.dieAfterPages) die(run)
  })
  try {
    const { reason } = await run.done
    return { pages, events, reason }
  } catch (error) {
    return { pages, events, error: described(error) }
  }
}

/** What is done is on disk by then: a commit that was written and not told would look as if it had never been. */
const COMMITTED_MS = 400

/** @param {import('kumo').CrawlRun} run */
function die(run) {
  run.pause()
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), COMMITTED_MS)
}

/** @param {unknown} error */
function described(error) {
  const code = error instanceof KumoError ? error.code : undefined
  return { code, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

for await (const line of createInterface({ input: process.stdin })) {
  /** @type {import('./damage-trial.js').TrialTask} */
  const task = JSON.parse(line)
  const looked = task.inspects ? await inspectCrawl(task.folder).then(() => undefined, described) : undefined
  const first = await crawl(task)
  // A crawl that has ended well is opened once more, without repair.
  const again = first.error === undefined ? await crawl({ ...task, level: {} }) : undefined
  process.stdout.write(`${JSON.stringify({ looked, first, again })}\n`)
}
