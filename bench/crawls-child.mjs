/**
 * The crawls of the benches about workers, each in a process of its own. Threads begin without compiled code in every
 * crawl, so a process that has crawled before would have an advantage over them: all begin anew.
 *
 * Plain JavaScript and no loader: `kumo` is the built package as an application gets it.
 */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Crawler } from 'kumo'

/** How often is looked whether a crawl has settled: workers tell their counts every 50 ms. */
const LOOK_MS = 20
/** How often the loads of workers are compared. */
const LOADS_MS = 250
const MB = 2 ** 20

/** @param {import('./crawls.js').CrawlOrder} order */
function crawlerOf({ seeds, workers, balance = true, concurrency, delayMs, robots = true, perHost, dom }) {
  const crawler = new Crawler()
    .seeds(seeds)
    .scope('all')
    .allowPrivate('all')
    .workers(workers, { balance })
    .concurrency(concurrency)
    .delay(`${delayMs}ms`)
    .robots(robots)
    .perHost(perHost ?? {})
  return dom ? crawler.extract(new URL('./dom-extractor.mjs', import.meta.url)) : crawler
}

const STEPS = {
  /**
   * A crawl to its end. It counts as settled once so many pages are done, for compilers have then had their turn, and
   * until so many: at the end one thread may have nothing left while another has.
   */
  async whole({ settledAt = 0, settledUntil = Number.POSITIVE_INFINITY, ...order }) {
    const start = performance.now()
    const run = crawlerOf(order).start()
    const deviations = []
    const marks = []
    const looking = setInterval(() => {
      const pages = run.stats()?.pages ?? 0
      if (marks.length < 2 && pages >= (marks.length === 0 ? settledAt : settledUntil))
        marks.push(markAt(pages))
    }, LOOK_MS)
    const comparing = setInterval(() => {
      const loads = run.stats()?.workers.map(({ pending }) => pending) ?? []
      if (loads.length > 1) deviations.push(deviationOf(loads))
    }, LOADS_MS)
    const { pages, failed, lost, workers } = await run.done
    const end = performance.now()
    clearInterval(looking)
    clearInterval(comparing)
    const [settled, until = markAt(pages)] = marks
    if (settled === undefined) throw new Error(`the crawl was over, after ${pages} pages, before it settled`)
    const since = until.pages - settled.pages
    return {
      pages,
      failed,
      lost,
      seconds: (end - start) / 1000,
      pagesPerSecond: (1000 * pages) / (end - start),
      settledPerSecond: (1000 * since) / (until.at - settled.at),
      cpuMsPerPage: (until.cpuMs - settled.cpuMs) / since,
      deviation: deviations.length === 0 ? 0 : mean(deviations),
      workers: workers.map(({ pages, partitions }) => ({ pages, partitions })),
    }
  },

  /** Pages a second in the midst of a crawl that has more to do than time for it. It settles from its first page on. */
  async window({ settleMs, windowMs, ...order }) {
    const run = crawlerOf(order).start()
    const isOver = run.done.then(overTooSoon)
    while ((run.stats()?.pages ?? 0) === 0) await Promise.race([sleep(LOOK_MS), isOver])
    await Promise.race([sleep(settleMs), isOver])
    const before = { at: performance.now(), pages: run.stats()?.pages ?? 0 }
    await Promise.race([sleep(windowMs), isOver])
    const after = { at: performance.now(), pages: run.stats()?.pages ?? 0 }
    run.stop()
    const { failed, lost } = await run.done
    return { pagesPerSecond: (1000 * (after.pages - before.pages)) / (after.at - before.at), failed, lost }
  },

  /** What the process takes up when all threads are there and have nothing to do: one page, whose listener waits. */
  async idle({ waitMs, ...order }) {
    let rssMb = 0
    const { pages } = await crawlerOf(order)
      .on('page', async () => {
        await sleep(waitMs)
        rssMb = process.memoryUsage.rss() / MB
      })
      .run()
    return { pages, rssMb }
  },
}

function markAt(pages) {
  const { user, system } = process.cpuUsage()
  return { at: performance.now(), pages, cpuMs: (user + system) / 1000 }
}

function overTooSoon({ pages, reason }) {
  throw new Error(`the crawl was over too soon: ${reason} after ${pages} pages`)
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function deviationOf(values) {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}

process.once('message', async ({ step, order }) => {
  const answer = await STEPS[step](order)
  process.send?.(answer, () => process.disconnect())
})
