/** A hook of 200 ms on every page, with a queue and without: hosts are fast, and slots are few. */

import { Crawler, type Hook } from 'kumo'
import { startWeb } from '../test/loopback/web.js'
import type { Bench } from './report.js'

const HOOK_MS = 200
const HOSTS = 20
const PAGES_PER_HOST = 50
const CONCURRENCY = 10
const LATENCY_MS = 15
/** With slots alone, pages of the slow crawl. It need not end. */
const PAGES_WITHOUT = 300

export const queue: Bench = async () => {
  const web = await startWeb({ hosts: HOSTS, pagesPerHost: PAGES_PER_HOST, latencyMs: LATENCY_MS })
  const crawl = async (limits: Hook['queue'], pages: number) => {
    const hook: Hook = {
      name: 'slow',
      queue: limits,
      page: () => new Promise((resolve) => setTimeout(resolve, HOOK_MS)),
    }
    const crawler = new Crawler().seeds(web.seeds()).delay(0).robots(false).concurrency(CONCURRENCY)
    return crawler.limit({ pages }).use(hook).run()
  }
  const without = await crawl(undefined, PAGES_WITHOUT)
  const all = HOSTS * PAGES_PER_HOST
  const queued = await crawl({ parallelism: 200 }, all)
  const { perHost } = await web.report(0)
  await web.close()
  return [
    { what: 'pages/s without a queue', value: without.pagesPerSecond, unit: '/s' },
    { what: 'pages/s with a queue', value: queued.pagesPerSecond, unit: '/s' },
    {
      what: 'with ÷ without',
      value: queued.pagesPerSecond / without.pagesPerSecond,
      unit: '×',
      bar: { atLeast: 5 },
    },
    { what: 'pages with a queue', value: queued.pages, unit: '', bar: { atLeast: all } },
    { what: 'visits to one host at once', value: perHost.mostOpen, unit: '', bar: { atMost: 1 } },
  ]
}
