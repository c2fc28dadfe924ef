/** Whoever started a crawl can hold it, end it gently, or end it at once; and a process that is done, ends. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { LoopTime } from '../loop-time.js'
import { direct, linkedPages, linksTo, rawServer, site, sleep, until, WORKERS, web } from './support.js'

describe('stop', () => {
  test('lets what is in flight finish and starts nothing new', async () => {
    let answer: () => void = () => {}
    const isStopped = new Promise<void>((resolve) => {
      answer = resolve
    })
    const { url, requests } = await site({
      '/': async (_, response) => {
        await isStopped
        response.writeHead(200, { 'content-type': 'text/html' }).end('x')
      },
    })
    const seeds = Array.from({ length: 30 }, (_, i) => url('/', `127.0.6.${i}`))
    const run = direct.concurrency(6).seeds(seeds).start()
    await until(() => requests.length === 6, 'six requests')
    run.stop()
    // A thread hears of it a moment later.
    await sleep(100)
    answer()
    const summary = await run.done
    expect(summary).toMatchObject({ reason: 'stopped', pages: 6, pending: 24, inFlight: 0, failed: 0 })
    expect(requests).toHaveLength(6)
  })

  test('aborts what is not finished within a time', async () => {
    const { url, requests } = await site({ '/': () => {} })
    const seeds = Array.from({ length: 3 }, (_, i) => url('/', `127.0.6.${i}`))
    const run = direct.seeds(seeds).start()
    await until(() => requests.length === 3, 'three requests')
    expect(() => run.stop({ within: 'soon' as never })).toThrow(/stop\(\{ within \}\)/)
    run.stop({ within: 50 })
    expect(await run.done).toMatchObject({ reason: 'stopped', pages: 0, pending: 3, failed: 0 })
  })

  test('before the crawl has begun it ends without a request', async () => {
    const { url, requests } = await site({ '/': 'x' })
    const run = direct.seeds(url()).start()
    run.stop()
    expect(await run.done).toMatchObject({ reason: 'stopped', pages: 0 })
    expect(requests).toEqual([])
  })
})

describe('pause and resume', () => {
  test('nothing is asked for in between, and nothing is lost', async () => {
    const { url, requests } = await site(linkedPages(20))
    const run = direct.seeds(url()).start()
    run.on('page', ({ url }) => {
      if (url.endsWith('/3')) run.pause()
    })
    await until(() => run.stats()?.pages === 4 && run.stats()?.inFlight === 0, 'the pause')
    await sleep(150)
    expect(requests).toHaveLength(4)
    expect(run.stats()).toMatchObject({ pages: 4, pending: 16, inFlight: 0 })
    expect(run.stats()!.idle.paused).toBeGreaterThan(0)
    run.resume()
    expect(await run.done).toMatchObject({ reason: 'done', pages: 20 })
  })

  test('a paused crawl can be stopped and aborted', async () => {
    const { url } = await site(linkedPages(5))
    for (const end of ['stop', 'abort'] as const) {
      const controller = new AbortController()
      const run = direct.seeds(url()).start({ signal: controller.signal })
      run.on('page', () => run.pause())
      await until(() => run.stats()?.pages === 1, 'the first page')
      if (end === 'stop') run.stop()
      else controller.abort()
      expect(await run.done).toMatchObject({
        reason: end === 'stop' ? 'stopped' : 'aborted',
        pages: 1,
        pending: 4,
      })
    }
  })
})

describe('an abort signal', () => {
  test('that is aborted already ends the crawl before its first request', async () => {
    const { url, requests } = await site({ '/': 'x' })
    const summary = await direct.seeds(url()).run({ signal: AbortSignal.abort() })
    expect(summary).toMatchObject({ reason: 'aborted', pages: 0 })
    expect(requests).toEqual([])
  })

  test('ends a crawl whose servers never answer, and their URLs stay pending', async () => {
    const silent = await rawServer(() => {})
    const seeds = Array.from({ length: 20 }, (_, i) => silent.url('/', `127.0.7.${i}`))
    const controller = new AbortController()
    const failures: unknown[] = []
    const aborted = direct
      .seeds(seeds)
      .on('failure', (failure) => void failures.push(failure))
      .run({ signal: controller.signal })
    await until(() => silent.requests.length === 20, 'twenty requests')
    const time = new LoopTime()
    controller.abort()
    const summary = await aborted
    expect(time.stop()).toBeLessThan(3000)
    expect(summary).toMatchObject({ reason: 'aborted', pages: 0, pending: 20, inFlight: 0, failed: 0 })
    expect(failures).toEqual([])
    await until(() => silent.open === 0, 'every socket is gone')
  })

  test('does not wait for user code that never returns', async () => {
    const { url } = await site({ '/': 'x' })
    const controller = new AbortController()
    const running = direct
      .seeds(url())
      .on('page', () => {
        controller.abort()
        return new Promise(() => {})
      })
      .run({ signal: controller.signal })
    expect(await running).toMatchObject({ reason: 'aborted', inFlight: 1 })
  })

  test('is let go when the crawl is over', async () => {
    const { url } = await site({ '/': 'x' })
    const controller = new AbortController()
    const run = direct.seeds(url()).start({ signal: controller.signal })
    const first = await run.done
    controller.abort()
    expect(first.reason).toBe('done')
    expect(run.stats()).toMatchObject({ reason: 'done' })
  })

  test('by a time-out works as well', async () => {
    const { url } = await site({ '/': linksTo('/never'), '/never': () => {} })
    const summary = await direct.seeds(url()).run({ signal: AbortSignal.timeout(WORKERS === 0 ? 200 : 4000) })
    expect(summary).toMatchObject({ reason: 'aborted', pages: 1, pending: 1 })
  })
})

describe('a process', () => {
  const PROGRAM = fileURLToPath(new URL('./programs/crawl.ts', import.meta.url))
  /** Far more than it takes to start; a process with a handle left would stay for ever. */
  const PATIENCE_MS = 300_000

  test.each([
    ['finish', { reason: 'done', pages: 400 }],
    ['abort', { reason: 'aborted' }],
    ['break', { pages: 50 }],
  ])('whose crawl ends by %s ends by itself', async (ending, expected) => {
    const server = await web({ hosts: 4, pagesPerHost: 100, latencyMs: [0, 3] })
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', PROGRAM, ending, ...server.seeds()],
      { timeout: PATIENCE_MS },
    )
    expect(JSON.parse(stdout)).toMatchObject(expected)
  })
})
