/** The folder of a crawl is deleted, moved or replaced while the crawl runs: it ends, and says so. */

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Crawler, level } from 'kumo'
import { describe, expect, test } from 'vitest'
import { linkedPages, rejectionOf, site } from '../../../crawler/support.js'
import { folder } from '../folders.js'

const PAGES = 40
const GONE = {
  code: 'KUMO_STORE_FAILED',
  message: expect.stringContaining('was deleted, moved or replaced while the crawl was running'),
}

const DEEDS: Record<string, (path: string) => void> = {
  // It may be given a new file meanwhile.
  deleted: (path) => rmSync(path, { recursive: true, maxRetries: 5 }),
  moved: (path) => renameSync(path, `${path}-moved`),
  replaced(path) {
    renameSync(path, `${path}-before`)
    mkdirSync(path)
  },
}

describe.each([0, 3])('with %i workers', (workers) => {
  async function crawlUntil(page: number, deed: (path: string) => void) {
    const { url } = await site(linkedPages(PAGES))
    const path = join(await folder(), 'crawl')
    let pages = 0
    const crawler = new Crawler()
      .seeds(url())
      .robots(false)
      .delay('2ms')
      .workers(workers)
      .store(level(path, { commitEvery: 10 }))
      .on('page', () => void (++pages === page && deed(path)))
    return { path, crawler }
  }

  test.each(Object.keys(DEEDS))('a folder that is %s in the middle ends the crawl', async (name) => {
    const { crawler } = await crawlUntil(PAGES / 2, DEEDS[name]!)
    expect(await rejectionOf(crawler.run())).toMatchObject(GONE)
  })

  test('a crawl that only waits for its limit to be kept ends too', async () => {
    const { crawler } = await crawlUntil(PAGES / 2, DEEDS.deleted!)
    expect(await rejectionOf(crawler.limit({ pages: PAGES / 2 }).run())).toMatchObject(GONE)
  })

  test('a folder that is deleted at the last page does too, and is not made again', async () => {
    const { crawler, path } = await crawlUntil(PAGES, DEEDS.deleted!)
    expect(await rejectionOf(crawler.run())).toMatchObject(GONE)
    expect(existsSync(path)).toBe(false)
    expect(await crawler.run()).toMatchObject({ reason: 'done', pages: PAGES, earlierRuns: 0 })
  })
})
