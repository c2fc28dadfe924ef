/** The handle of a run: listeners that come and go, its end, its failure, and its pages. */

import { type CrawlRun, KumoError, type Page, type Summary } from 'kumo'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  direct,
  linkedPages,
  linksTo,
  pathsOf,
  rejectionOf,
  site,
  sleep,
  until,
  watchRejections,
  web,
} from './support.js'

/** Warnings of Kumo since now. Asking waits until Node has had the time to emit them. */
function watchWarnings(warnings: string[] = []): () => Promise<string[]> {
  const note = ({ name, message }: Error) => void (name === 'KumoWarning' && warnings.push(message))
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  return async () => {
    await sleep(20)
    return warnings
  }
}

/** A crawl that fails when its hook is opened. */
function failing() {
  const open = () => {
    throw new Error('no key')
  }
  return direct.seeds('http://127.0.0.1:9/').use({ name: 'broken', open, page: () => {} })
}

const FAILED = { code: 'KUMO_OPEN_FAILED', message: expect.stringContaining('no key') }

describe('start', () => {
  test('throws at once without seeds, and for options that do not exist', () => {
    expect(() => direct.start()).toThrow(KumoError)
    // @ts-expect-error: a typo.
    expect(() => direct.seeds('http://a.example/').start({ signals: 1 })).toThrow(/start: got 'signals'/)
  })

  test('begins nothing before the next macrotask', async () => {
    const { url } = await site({ '/': 'x' })
    const opened = vi.fn()
    const run = direct
      .seeds(url())
      .use({ name: 'h', open: opened, page: () => {} })
      .start()
    for (let turn = 0; turn < 1000; turn++) await undefined
    expect(opened).not.toHaveBeenCalled()
    const heard: string[] = []
    run.on('page', (page) => void heard.push(page.url)).on('end', ({ reason }) => void heard.push(reason))
    await run.done
    expect(heard).toEqual([url(), 'done'])
    expect(opened).toHaveBeenCalledTimes(1)
  })

  test('a signal aborts the run', async () => {
    const { url } = await site(linkedPages(5))
    const controller = new AbortController()
    const run = direct.seeds(url()).start({ signal: controller.signal })
    run.once('page', () => controller.abort())
    expect(await run.done).toMatchObject({ reason: 'aborted' })
  })
})

describe('listeners of the handle', () => {
  test('hear every event, after the listeners of the crawler', async () => {
    const { url } = await site({
      '/': linksTo('/moved', '/missing', 'mailto:a@b.example', '/b'),
      '/moved': { status: 302, headers: { location: '/b' } },
      '/b': 'b',
    })
    const heard: string[] = []
    const note = (text: string) => () => void heard.push(text)
    const run = direct.seeds(url()).on('end', note('the crawler’s end')).start()
    run
      .on('page', note('page'))
      .on('failure', note('failure'))
      .on('skip', note('skip'))
      .on('redirect', note('redirect'))
      .on('end', note('end'))
    await run.done
    expect(heard.slice(-2)).toEqual(['the crawler’s end', 'end'])
    expect([...heard.slice(0, -2)].sort()).toEqual(['failure', 'page', 'page', 'redirect', 'skip'])
  })

  test('that return promises slow the crawl', async () => {
    const { url, requests } = await site({ '/': 'x' })
    const seeds = Array.from({ length: 20 }, (_, i) => url('/', `127.0.9.${i}`))
    const run = direct.concurrency(2).seeds(seeds).start()
    let most = 0
    let read = 0
    run.on('page', async () => {
      await sleep(20)
      read++
      most = Math.max(most, requests.length - read)
    })
    await run.done
    expect(read).toBe(20)
    expect(most).toBeLessThanOrEqual(3)
  })

  test('can be added while the crawl runs, and removed', async () => {
    const server = await web({ hosts: 6, pagesPerHost: 60, latencyMs: [2, 6] })
    const run = direct.concurrency(6).seeds(server.seeds()).start()
    await until(() => (run.stats()?.pages ?? 0) >= 10, 'ten pages')
    const late: Page[] = []
    const listener = (page: Page) => void late.push(page)
    run.on('page', listener)
    await until(() => late.length >= 10, 'pages that the late listener hears')
    run.off('page', listener)
    const removedAt = late.length
    const summary = await run.done
    expect(summary).toMatchObject({ pages: 360, reason: 'done' })
    expect(late).toHaveLength(removedAt)
    expect(removedAt).toBeLessThan(350)
  })

  test('for progress can be added while the crawl runs', async () => {
    const { url } = await site({ '/': linksTo('/slow'), '/slow': () => {} })
    const end = new AbortController()
    const run = direct.seeds(url()).start({ signal: end.signal })
    await until(() => run.stats()?.pages === 1, 'the crawl runs')
    const seen = await new Promise<number>((resolve) => run.once('progress', ({ pages }) => resolve(pages)))
    expect(seen).toBe(1)
    end.abort()
    await run.done
  })

  test('once is called once, and off removes it', async () => {
    const { url } = await site(linkedPages(10))
    const run = direct.seeds(url()).start()
    const once = vi.fn()
    const never = vi.fn()
    run.once('page', once).once('page', never).off('page', never)
    await run.done
    expect(once).toHaveBeenCalledTimes(1)
    expect(never).not.toHaveBeenCalled()
  })

  test('off removes a listener of the crawler, for this run alone', async () => {
    const { url } = await site(linkedPages(3))
    const listener = vi.fn()
    const crawler = direct.seeds(url()).on('page', listener)
    await crawler.start().off('page', listener).done
    expect(listener).not.toHaveBeenCalled()
    await crawler.run()
    expect(listener).toHaveBeenCalledTimes(3)
  })

  test('are checked', async () => {
    const run = failing().start()
    run.done.catch(() => {})
    // @ts-expect-error: a typo.
    expect(() => run.on('pages', () => {})).toThrow(/on: event: got 'pages'/)
    // @ts-expect-error: no function.
    expect(() => run.once('page', 5)).toThrow(/once\('page'\): got 5/)
  })
})

describe('done', () => {
  test('is the same promise every time, of the summary that stats() shows', async () => {
    const { url } = await site(linkedPages(3))
    const run = direct.seeds(url()).start()
    expect(run.done).toBe(run.done)
    const summary: Summary = await run.done
    expect(run.stats()).toEqual(summary)
    expect(run.stats()!.reason).toBe('done')
    run.stop()
    run.pause()
    run.resume()
    expect(run.stats()).toEqual(summary)
  })

  test('rejects if the crawl fails, without a warning', async () => {
    const warnings = watchWarnings()
    expect(await rejectionOf(failing().start().done)).toMatchObject(FAILED)
    expect(await warnings()).toEqual([])
  })

  test('a failure that nothing observes is a warning, and no unhandled rejection', async () => {
    const heard: string[] = []
    const warnings = watchWarnings(heard)
    const rejections = watchRejections()
    const run = failing().start()
    await until(() => heard.length > 0, 'the warning')
    expect(await warnings()).toEqual([expect.stringMatching(/^The crawl failed: .*no key\. Await run\.done/)])
    expect(await rejections()).toEqual([])
    // Who asks later still gets it.
    expect(await rejectionOf(run.done)).toMatchObject(FAILED)
  })
})

describe('a loop over a run', () => {
  async function read(run: CrawlRun): Promise<Page[]> {
    const pages: Page[] = []
    for await (const page of run) pages.push(page)
    return pages
  }

  test('gets every page once, and done has the summary', async () => {
    const { url } = await site(linkedPages(12))
    const run = direct.seeds(url()).start()
    expect(pathsOf(await read(run))).toEqual(Object.keys(linkedPages(12)).sort())
    expect(await run.done).toMatchObject({ pages: 12, reason: 'done' })
    // The run is over: another loop has nothing to read.
    expect(await read(run)).toEqual([])
  })

  test('that is left ends the run', async () => {
    const { url } = await site(linkedPages(12))
    const run = direct.seeds(url()).start()
    for await (const _ of run) break
    expect(run.stats()).toMatchObject({ reason: 'aborted', pages: 1 })
    expect(await run.done).toEqual(run.stats())
  })

  test('throws the failure, which then is not unhandled', async () => {
    const rejections = watchRejections()
    const warnings = watchWarnings()
    const run = failing().start()
    const { done } = run
    expect(await rejectionOf(read(run))).toMatchObject(FAILED)
    expect(await rejections()).toEqual([])
    expect(await warnings()).toEqual([])
    expect(await rejectionOf(done)).toMatchObject(FAILED)
  })

  test('that begins late gets the pages from then on', async () => {
    const server = await web({ hosts: 6, pagesPerHost: 60, latencyMs: [2, 6] })
    const run = direct.concurrency(6).seeds(server.seeds()).start()
    await until(() => (run.stats()?.pages ?? 0) >= 10, 'ten pages')
    const pages = await read(run)
    expect(pages.length).toBeGreaterThan(100)
    expect(pages.length).toBeLessThanOrEqual(350)
    expect(new Set(pages.map(({ url }) => url)).size).toBe(pages.length)
    expect(await run.done).toMatchObject({ pages: 360 })
  })

  test('that is left before its first page ends the run', async () => {
    const { url } = await site(linkedPages(30))
    const run = direct.seeds(url()).start()
    await run[Symbol.asyncIterator]().return()
    expect((await run.done).reason).toBe('aborted')
  })

  test('two loops share the pages', async () => {
    const { url } = await site(linkedPages(12))
    const run = direct.seeds(url()).start()
    const [some, others] = await Promise.all([read(run), read(run)])
    expect(pathsOf([...some, ...others])).toEqual(Object.keys(linkedPages(12)).sort())
  })
})

describe('await using', () => {
  test('stops the run and waits for its end', async () => {
    const { url } = await site(linkedPages(30))
    const run = direct.concurrency(1).seeds(url()).start()
    const isRead = new Promise<void>((resolve) => void run.once('page', () => resolve()))
    await isRead
    await run[Symbol.asyncDispose]()
    expect(run.stats()).toMatchObject({ reason: 'stopped', inFlight: 0 })
  })

  test('ends a run with pages that nobody reads', async () => {
    const { url } = await site(linkedPages(30))
    const run = direct.concurrency(5).seeds(url()).start()
    const first = await run[Symbol.asyncIterator]().next()
    expect(first.done).toBe(false)
    await until(() => run.stats()!.inFlight > 0, 'another page waits to be read')
    await run[Symbol.asyncDispose]()
    expect(run.stats()).toMatchObject({ reason: 'stopped', inFlight: 0 })
  })

  test('throws a failure that nothing else has thrown, and only then', async () => {
    const warnings = watchWarnings()
    const unread = failing().start()
    expect(await rejectionOf(unread[Symbol.asyncDispose]())).toMatchObject(FAILED)
    const awaited = failing().start()
    expect(await rejectionOf(awaited.done)).toMatchObject(FAILED)
    await awaited[Symbol.asyncDispose]()
    expect(await warnings()).toEqual([])
  })
})
