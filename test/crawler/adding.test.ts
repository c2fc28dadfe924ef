/** `run.add()`, `keepOpen()` and `run.finish()`: requests that come while a crawl runs. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, level, type SeedInput } from 'kumo'
import { fingerprintTable } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askedPaths, direct, linksTo, pathsOf, rejectionOf, site, sleep, until, WORKERS } from './support.js'

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kumo-adding-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('a crawl that is kept open', () => {
  test('starts without seeds, idles, and ends after finish()', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end', '/late': 'end' })
    const pages: { url: string }[] = []
    const run = direct
      .keepOpen()
      .on('page', (page) => void pages.push(page))
      .start()
    await run.add({ url: url(), label: 'first' })
    await until(() => pages.length === 2, 'the crawl has come so far')
    await sleep(50)
    await run.add(url('/late'))
    run.finish()
    expect(await run.done).toMatchObject({ reason: 'done', pages: 3 })
    expect(pathsOf(pages)).toEqual(['/', '/a', '/late'])
  })

  test('uses next to no processor time while it idles', async () => {
    const { url } = await site({ '/': 'end' })
    const run = direct.keepOpen().seeds(url()).start()
    await until(() => run.stats()?.pages === 1, 'the crawl has come so far')
    const before = process.cpuUsage()
    await sleep(400)
    const { user, system } = process.cpuUsage(before)
    run.finish()
    await run.done
    expect((user + system) / 1000).toBeLessThan(200)
  })

  test.each(['stop', 'abort', 'limit'] as const)('ends with %s too', async (how) => {
    const { url } = await site({ '/': 'end' })
    const controller = new AbortController()
    const crawler = direct.keepOpen().seeds(url())
    const run = (how === 'limit' ? crawler.limit({ pages: 1 }) : crawler).start({ signal: controller.signal })
    await until(() => run.stats()?.pages === 1, 'the crawl has come so far')
    if (how === 'stop') run.stop()
    if (how === 'abort') controller.abort()
    expect((await run.done).reason).toBe({ stop: 'stopped', abort: 'aborted', limit: 'limit' }[how])
  })

  test('needs a handle, or a signal', async () => {
    await expect(direct.keepOpen().run()).rejects.toMatchObject({ code: 'KUMO_INVALID_OPTION' })
    const summary = await direct.keepOpen().run({ signal: AbortSignal.timeout(50) })
    expect(summary.reason).toBe('aborted')
  })

  test('finish() before everything is open is not lost', async () => {
    const { url } = await site({ '/': 'end' })
    const run = direct.keepOpen().start()
    const adding = run.add(url())
    run.finish()
    await adding
    expect(await run.done).toMatchObject({ reason: 'done', pages: 1 })
  })
})

describe('run.add', () => {
  const sources: [string, (urls: string[]) => SeedInput[]][] = [
    ['several', (urls) => urls],
    ['an array', (urls) => [urls]],
    ['a generator', (urls) => [urls.values()]],
    [
      'an async generator',
      (urls) => [
        (async function* () {
          for (const url of urls) yield { url, label: 'streamed' }
        })(),
      ],
    ],
  ]

  test.each(sources)('takes %s', async (_, inputs) => {
    const { url } = await site({ '/a': 'end', '/b': 'end', '/c': 'end' })
    const run = direct.keepOpen().start()
    const urls = ['/a', '/b', '/c', '/a'].map((path) => url(path))
    await run.add(...inputs(urls))
    run.finish()
    expect(await run.done).toMatchObject({ pages: 3 })
  })

  test('from a listener: the crawl does not end before the requests are in', async () => {
    const { url } = await site({ '/1': 'end', '/2': 'end', '/3': 'end' })
    const labels: unknown[] = []
    const crawl = direct.seeds({ url: url('/1'), data: 1 }).start()
    crawl.on('page', (page) => {
      const n = page.request.data as number
      labels.push(n)
      if (n < 3) void crawl.add({ url: url(`/${n + 1}`), data: n + 1 })
    })
    expect(await crawl.done).toMatchObject({ reason: 'done', pages: 3 })
    expect(labels).toEqual([1, 2, 3])
  })

  test('is like a seed: outside the scope, and a part of it from then on', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const run = direct.keepOpen().seeds(url()).scope('host').start()
    await run.add(url('/', '127.0.0.9'))
    run.finish()
    expect(await run.done).toMatchObject({ pages: 4 })
  })

  test('waits for room, and a million requests are not read at once', async () => {
    const { url } = await site({ '/slow': () => {} })
    let read = 0
    function* endless() {
      for (;;) yield url(`/slow?n=${read++}`)
    }
    const controller = new AbortController()
    const run = direct.concurrency(1).keepOpen().start({ signal: controller.signal })
    const adding = rejectionOf(run.add(endless()))
    await until(() => run.stats()?.inFlight === 1, 'the crawl has come so far')
    await sleep(300)
    const before = read
    expect(before).toBeGreaterThanOrEqual(1000)
    expect(before).toBeLessThan(WORKERS > 0 ? 20_000 : 5000)
    controller.abort()
    expect(await adding).toMatchObject({ code: 'KUMO_RUN_ENDED' })
    await run.done
  })

  test('handlers that wait for it in every slot do not wait for ever', async () => {
    const { url } = await site({ '/': 'end' })
    const asked = (n: number) => `${url()}?n=${n}`
    const first = Array.from({ length: 3000 }, (_, n) => asked(n))
    let added = 0
    const run = direct.concurrency(1).seeds(first).limit({ pages: 4 }).start()
    run.on('page', async () => {
      // More than the credit of the visits that have ended.
      await run.add(Array.from({ length: 300 }, (_, n) => asked(10_000 + 300 * added + n)))
      added++
    })
    expect((await run.done).reason).toBe('limit')
    expect(added).toBe(4)
  })

  test('requests for tomorrow do not keep others waiting', async () => {
    const { url } = await site({ '/seed': 'end', '/now': 'end' })
    const notBefore = Date.now() + 24 * 3_600_000
    const later = (from: number) =>
      Array.from({ length: 3000 }, (_, n) => ({ url: url(`/later?n=${from + n}`), notBefore }))
    const run = direct.keepOpen().seeds(later(0), url('/seed')).start()
    await until(() => run.stats()?.pages === 1, 'the seed after those for tomorrow')
    await run.add(later(3000))
    await run.add(url('/now'))
    await until(() => run.stats()?.pages === 2, 'the request after those for tomorrow')
    expect(run.stats()).toMatchObject({ pending: 6000 })
    run.stop()
    await run.done
  })

  test('a wrong request is refused, and nothing of its call is added', async () => {
    const { url, requests } = await site({ '/': 'end' })
    const run = direct.keepOpen().start()
    const error = await rejectionOf(run.add([url(), 'example.com']))
    expect(error).toMatchObject({ code: 'KUMO_INVALID_OPTION' })
    expect(String(error)).toContain('run.add')
    expect(String(error)).toContain('example.com')
    run.finish()
    await run.done
    expect(requests).toEqual([])
  })

  test('a wrong request from a source is a failure, and the others are added', async () => {
    const { url } = await site({ '/': 'end' })
    const failures: string[] = []
    const run = direct
      .keepOpen()
      .on('failure', ({ code, message }) => void failures.push(`${code} ${message}`))
      .start()
    await run.add([url(), 'nonsense'].values())
    run.finish()
    expect(await run.done).toMatchObject({ pages: 1, failures: { 'invalid-seed': 1 } })
    expect(failures[0]).toContain('nonsense')
  })

  test('a source that throws rejects the call, and the crawl goes on', async () => {
    const { url } = await site({ '/': 'end' })
    async function* broken() {
      yield url()
      throw new Error('no more lines')
    }
    const run = direct.keepOpen().start()
    const error = await rejectionOf(run.add(broken()))
    expect(error).toMatchObject({ code: 'KUMO_SEEDS_FAILED', cause: { message: 'no more lines' } })
    run.finish()
    expect(await run.done).toMatchObject({ reason: 'done', pages: 1 })
  })

  test('after the end it is rejected', async () => {
    const { url } = await site({ '/': 'end' })
    const run = direct.seeds(url()).start()
    await run.done
    expect(await rejectionOf(run.add(url()))).toMatchObject({ code: 'KUMO_RUN_ENDED' })
  })

  test('a store that fails rejects what still waits with its own error', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const table = fingerprintTable()
    const seen = {
      addAll: (urls: readonly string[]) => {
        if (urls.some((each) => each.endsWith('/a'))) throw new Error('disk full')
        return table.addAll(urls)
      },
      size: 0,
      close: () => {},
    }
    async function* endless() {
      yield url()
      await new Promise(() => {})
    }
    const run = direct.keepOpen().seenStore(seen).start()
    const adding = rejectionOf(run.add(endless()))
    const failure = await rejectionOf(run.done)
    expect(failure).toMatchObject({ code: 'KUMO_STORE_FAILED' })
    expect(await adding).toBe(failure)
  })

  test('a crawl that cannot start rejects what was added', async () => {
    const broken = { name: 'broken', open: () => Promise.reject(new Error('no')), page: () => {} }
    const run = direct.keepOpen().use(broken).start()
    const adding = rejectionOf(run.add('http://127.0.0.1:9/'))
    await rejectionOf(run.done)
    expect(await adding).toMatchObject({ code: 'KUMO_RUN_ENDED' })
  })

  test('with a durable store, what it resolved for is crawled by the next run', async () => {
    const { url, requests } = await site({ '/slow': () => {}, '/added': 'end' })
    const path = await folder()
    const crawler = new Crawler().delay(0).robots(false).workers(WORKERS).store(level(path)).timeout('300ms')
    const controller = new AbortController()
    const run = crawler.keepOpen().concurrency(1).seeds(url('/slow')).start({ signal: controller.signal })
    await until(() => requests.length === 1, 'the crawl has come so far')
    await run.add({ url: url('/added'), label: 'kept', data: { n: 1 } })
    controller.abort()
    await run.done
    const seen: unknown[] = []
    const again = crawler
      .seeds(url('/added'))
      .limit({ pages: 1 })
      .on('page', ({ request }) => void seen.push(request))
    await again.run()
    expect(seen).toMatchObject([{ label: 'kept', data: { n: 1 } }])
    expect(askedPaths({ requests } as never)).toContain('/added')
  })
})
