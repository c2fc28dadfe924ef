/**
 * How near a crawl comes to what politeness allows: with enough slots, every host is visited once per (delay + fetch),
 * so pages/s cannot exceed hosts ÷ delay. The server's log has the last word on overlaps and gaps.
 */

import { Crawler } from 'kumo'
import { startWeb } from '../test/loopback/web.js'
import type { Bench } from './report.js'

const HOSTS = 1000
/** Enough that connecting to a thousand hosts at the start does not weigh. */
const PAGES_PER_HOST = 120
const DELAY_MS = 200
const CONCURRENCY = 500

export const politeness: Bench = async () => {
  const web = await startWeb({ hosts: HOSTS, pagesPerHost: PAGES_PER_HOST, linksPerPage: 12, bytes: 2048 })
  const crawler = new Crawler().seeds(web.seeds()).concurrency(CONCURRENCY).delay(DELAY_MS).scope('host')
  const summary = await crawler.run()
  const report = await web.report(0, { gapMs: DELAY_MS, countRobots: true })
  await web.close()
  // A host's first visit needs no pause before it, so n visits take n − 1 delays; robots.txt is a visit too.
  const visits = summary.pages + summary.robots
  const seconds = (report.lastEnd! - report.firstStart!) / 1000
  const bound = (HOSTS * 1000) / DELAY_MS
  return [
    { what: 'pages', value: summary.pages, unit: '', bar: { atLeast: HOSTS * PAGES_PER_HOST } },
    { what: 'visits/s', value: visits / seconds, unit: '' },
    {
      what: 'visits/s ÷ (hosts ÷ delay)',
      value: (visits - HOSTS) / seconds / bound,
      unit: '',
      bar: { atLeast: 0.95 },
    },
    { what: 'overlaps on a host (server log)', value: report.perHost.overlaps, unit: '', bar: { atMost: 0 } },
    {
      what: 'gaps below the delay (server log)',
      value: report.perHost.belowGap,
      unit: '',
      bar: { atMost: 0 },
    },
    { what: 'shortest gap (server log)', value: report.perHost.shortestGapMs ?? 0, unit: 'ms' },
  ]
}
