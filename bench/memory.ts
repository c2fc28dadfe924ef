/** Memory while a slow `for await` reads 50,000 pages: the crawl must wait for its reader instead of piling up pages. */

import { Crawler } from 'kumo'
import { startWeb } from '../test/loopback/web.js'
import type { Bench } from './report.js'

const PAGES = 50_000
const WARM_UP = 15_000
const SAMPLE_EVERY = 1000
/** Every so many pages the reader dawdles. */
const PAUSE_EVERY = 20

export const memory: Bench = async () => {
  const web = await startWeb({ hosts: 1, pagesPerHost: PAGES, linksPerPage: 20, bytes: 14 * 1024 })
  const crawler = new Crawler()
    .seeds(web.url(0))
    .concurrency(64)
    .delay(0)
    .perHost({ connections: 64, growAt: 1 })
    .limit({ pages: PAGES })
  const samples: number[] = []
  let pages = 0
  for await (const _page of crawler) {
    pages++
    if (pages % PAUSE_EVERY === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    if (pages % SAMPLE_EVERY !== 0) continue
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    samples.push((heapUsed + external) / 2 ** 20)
  }
  await web.close()
  const settled = samples.slice(WARM_UP / SAMPLE_EVERY)
  const third = Math.floor(settled.length / 3)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return [
    { what: 'pages read', value: pages, unit: '', bar: { atLeast: PAGES } },
    { what: 'heap and buffers after warm-up', value: mean(settled.slice(0, third)), unit: 'MB' },
    { what: 'heap and buffers at the end', value: mean(settled.slice(-third)), unit: 'MB' },
    {
      what: 'end ÷ after warm-up',
      value: mean(settled.slice(-third)) / mean(settled.slice(0, third)),
      unit: '',
      bar: { atMost: 1.1 },
    },
  ]
}
