/** A crawl on disk does not depend on the number of threads that made it. */

import { Crawler, inspectCrawl, level } from 'kumo'
import { expect, test } from 'vitest'
import { web } from '../crawler/support.js'
import { folder } from '../stores/level/folders.js'

test('a crawl that was stored with 4 workers goes on with 1, with 8 and with none', async () => {
  const server = await web({ hosts: 40, pagesPerHost: 20, crossHostShare: 0.2 })
  const path = await folder()
  const crawler = new Crawler()
    .delay(0)
    .scope('all')
    .allowPrivate('all')
    .seeds(server.url(0))
    .store(level(path))
    .concurrency(16)
  let pages = 0
  const limits = [
    [4, 200],
    [1, 350],
    [8, 500],
    [0, 600],
    [3, Number.POSITIVE_INFINITY],
  ] as const
  for (const [run, [workers, limit]] of limits.entries()) {
    const summary = await crawler
      .workers(workers)
      .limit({ pages: limit })
      .on('page', () => void pages++)
      .run()
    const isLast = limit === Number.POSITIVE_INFINITY
    expect(summary).toMatchObject({
      reason: isLast ? 'done' : 'limit',
      pages: isLast ? server.totalPages : limit,
      earlierRuns: run,
      failed: 0,
    })
    expect(pages).toBe(summary.pages)
    const { known, pending, pages: kept } = await inspectCrawl(path)
    expect({ known, pending, pages: kept }).toEqual({
      known: summary.known,
      pending: summary.pending,
      pages: summary.pages,
    })
  }
  const report = await server.report(0)
  expect(report).toMatchObject({ distinctPages: server.totalPages, duplicates: 0 })
  expect(report.perHost).toMatchObject({ overlaps: 0 })
  expect(await crawler.workers(2).run()).toMatchObject({ reason: 'already-done', pages: server.totalPages })
})

test('two crawls in one folder: the second is refused, with workers too', async () => {
  const server = await web({ pagesPerHost: 5, latencyMs: 50 })
  const path = await folder()
  const crawler = new Crawler().delay(0).seeds(server.url(0)).store(level(path)).workers(2)
  const first = crawler.run()
  await server.nextRequest()
  for (const workers of [0, 2]) {
    await expect(crawler.workers(workers).run()).rejects.toMatchObject({ code: 'KUMO_STORE_LOCKED' })
  }
  expect(await first).toMatchObject({ reason: 'done', pages: 5 })
})
