/** `for await`: every page once, at the reader's pace, and nothing goes on after the reader has left. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Crawler, type KumoError, level, type Page } from 'kumo'
import { fingerprintTable } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LoopTime } from '../loop-time.js'
import {
  crawl,
  direct,
  linkedPages,
  linksTo,
  pathsOf,
  quick,
  rejectionOf,
  site,
  sleep,
  until,
  WORKERS,
  watchRejections,
} from './support.js'

async function read<D extends object>(crawler: Crawler<D>): Promise<Page<D>[]> {
  const pages: Page<D>[] = []
  for await (const page of crawler) pages.push(page)
  return pages
}

describe('a loop over a crawler', () => {
  test('gets every page once, in the order of the crawl, with its data', async () => {
    const { url } = await site(linkedPages(15))
    const listened: string[] = []
    const crawler = quick.seeds(url()).extract({ size: (page) => page.body.length })
    const pages = await read(crawler.on('page', ({ url }) => void listened.push(url)))
    expect(pathsOf(pages)).toEqual(Object.keys(linkedPages(15)).sort())
    expect(pages.map(({ url }) => url)).toEqual(listened)
    expect(pages.every(({ data, body }) => data.size === body.length)).toBe(true)
  })

  test('gets what is left even if it comes late', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const paths: string[] = []
    for await (const page of direct.seeds(url(), url('/', '127.0.0.2'), url('/', '127.0.0.3'))) {
      await sleep(40)
      paths.push(new URL(page.url).pathname)
    }
    expect(paths.sort()).toEqual(['/', '/', '/', '/a', '/a', '/a'])
  })

  test('a slow reader slows the crawl: about as many pages are fetched ahead as there are slots', async () => {
    const { url, requests } = await site({ '/': 'end' })
    const seeds = Array.from({ length: 100 }, (_, i) => url('/', `127.0.3.${i}`))
    const slots = 4
    let read = 0
    for await (const _ of direct.concurrency(slots).seeds(seeds)) {
      await sleep(read < 10 ? 30 : 0)
      read++
      if (read <= 10) expect(requests.length).toBeLessThanOrEqual(read + slots + 1)
    }
    expect(read).toBe(100)
    expect(requests).toHaveLength(100)
  })

  test('leaving the loop ends the crawl', async () => {
    const rejections = watchRejections()
    const { url, requests } = await site({ '/p': linksTo('/never'), '/never': () => {} })
    const seeds = Array.from({ length: 200 }, (_, i) => url('/p', `127.0.4.${i}`))
    const run = direct.concurrency(5).seeds(seeds).start()
    const time = new LoopTime()
    for await (const page of run) {
      expect(page.status).toBe(200)
      break
    }
    expect(time.stop()).toBeLessThan(10_000)
    expect(run.stats()).toMatchObject({ reason: 'aborted' })
    // Requests that were on the wire when the loop was left may still arrive.
    await sleep(100)
    expect(requests.length).toBeLessThan(20)
    expect(await rejections()).toEqual([])
  })

  test('an error thrown in the loop is the one that comes out, and the crawl ends', async () => {
    const { url } = await site(linkedPages(5))
    const run = direct.seeds(url()).start()
    const loop = async () => {
      for await (const _ of run) throw new Error('mine')
    }
    await expect(loop()).rejects.toThrow('mine')
    expect(run.stats()).toMatchObject({ reason: 'aborted', pages: 1 })
  })

  test('an error of the store comes out of the loop, after the pages that were there', async () => {
    const { url } = await site({ '/': linksTo('/1'), '/1': linksTo('/2'), '/2': linksTo('/3') })
    const table = fingerprintTable()
    let calls = 0
    const seen = {
      addAll: (urls: readonly string[]) => {
        if (++calls === 3) throw new Error('disk full')
        return table.addAll(urls)
      },
      size: 0,
      close: () => {},
    }
    const pages: Page[] = []
    const loop = async () => {
      for await (const page of direct.seeds(url()).seenStore(seen)) pages.push(page)
    }
    const error = (await rejectionOf(loop())) as KumoError
    expect(error).toMatchObject({ name: 'KumoError', code: 'KUMO_STORE_FAILED' })
    expect(error.message).toContain('disk full')
    expect(pages).toHaveLength(2)
  })

  test('without seeds it throws at the first step', async () => {
    await expect(read(direct)).rejects.toMatchObject({ code: 'KUMO_NO_SEEDS' })
  })

  test('a reader that is never asked again leaves the crawl waiting, not running away', async () => {
    const { url, requests } = await site({ '/': 'end' })
    const seeds = Array.from({ length: 50 }, (_, i) => url('/', `127.0.5.${i}`))
    const iterator = direct.concurrency(3).seeds(seeds)[Symbol.asyncIterator]()
    await iterator.next()
    await sleep(200)
    expect(requests.length).toBeLessThanOrEqual(5)
    await iterator.return()
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })
})

describe('an abort while the loop has a page', () => {
  async function aborted(pause: number) {
    const { url } = await site({ '/': 'end', '/followed': 'end' })
    const folder = await mkdtemp(join(tmpdir(), 'kumo-abort-in-loop-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const crawler = direct.seeds(url()).store(level(folder)).workers(WORKERS)
    const controller = new AbortController()
    for await (const page of crawler.start({ signal: controller.signal })) {
      controller.abort()
      await sleep(pause)
      page.follow('/followed')
    }
    const paths: string[] = []
    for await (const page of crawler) {
      if (page.depth === 0) page.follow('/followed')
      paths.push(new URL(page.url).pathname)
    }
    return paths
  }

  test('it may still follow, and the next run visits that', async () => {
    expect(await aborted(100)).toEqual(['/followed'])
  })

  test('a body that takes too long gets its page again in the next run', async () => {
    expect(await aborted(1500)).toEqual(['/', '/followed'])
  })
})

describe('one crawler value', () => {
  test('runs twice with the same result', async () => {
    const { url } = await site({ ...linkedPages(8), '/1': { status: 404 } })
    const crawler = quick.seeds(url())
    const runs = [await crawler.run(), await crawler.run()]
    const told = runs.map(({ pages, failures, known, robots, statuses }) => ({
      pages,
      failures,
      known,
      robots,
      statuses,
    }))
    expect(told[1]).toEqual(told[0])
    expect(told[0]).toMatchObject({ pages: 7, failures: { 'http-status': 1 }, known: 8 })
    expect(pathsOf(await read(crawler))).toEqual(pathsOf((await crawl(crawler)).pages))
  })

  test('runs several times at once, and the runs know nothing of each other', async () => {
    const { url, requests } = await site(linkedPages(4))
    const crawler = direct.seeds(url())
    const [first, second] = [crawler.start(), crawler.start()]
    second.pause()
    const [summary, pages] = await Promise.all([first.done, read(crawler)])
    expect(summary).toMatchObject({ pages: 4, reason: 'done' })
    expect(pages).toHaveLength(4)
    await until(() => second.stats() !== undefined, 'the second run')
    expect(second.stats()!.pages).toBe(0)
    expect(first.stats()).toEqual(summary)
    second.resume()
    expect(await second.done).toMatchObject({ pages: 4, reason: 'done' })
    expect(requests).toHaveLength(12)
  })

  test('has no run, so a second one on the same folder is refused by the store', async () => {
    const { url } = await site(linkedPages(4))
    const folder = await mkdtemp(join(tmpdir(), 'kumo-two-runs-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const crawler = direct.seeds(url()).store(level(folder)).workers(WORKERS)
    const first = crawler.start()
    first.pause()
    await until(() => first.stats() !== undefined, 'the first run')
    await expect(crawler.run()).rejects.toMatchObject({ code: 'KUMO_STORE_LOCKED' })
    first.resume()
    expect(await first.done).toMatchObject({ pages: 4, reason: 'done' })
    expect(await crawler.run()).toMatchObject({ pages: 4, reason: 'already-done' })
  })
})
