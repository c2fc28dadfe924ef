/** Seeds come in every shape. A bad one is an error where it stands, or a failure if it comes out of a source. */

import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { KumoError, SeedInput } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  crawl,
  direct,
  linkedPages,
  rejectionOf,
  site,
  sleep,
  stubFetcher,
  until,
  watchRejections,
} from './support.js'

const stub = direct.fetcher(stubFetcher())

describe('every shape of seeds', () => {
  const one = 'http://one.example/'
  const two = 'http://two.example/'
  test.each<[string, () => SeedInput[]]>([
    ['strings', () => [one, two]],
    ['URLs', () => [new URL(one), new URL(two)]],
    ['an array', () => [[one, new URL(two)]]],
    ['a set', () => [new Set([one, two])]],
    [
      'a generator',
      () => [
        (function* () {
          yield one
          yield two
        })(),
      ],
    ],
    [
      'an async generator',
      () => [
        (async function* () {
          await sleep(5)
          yield one
          await sleep(5)
          yield two
        })(),
      ],
    ],
    ['a stream', () => [new Blob([]).stream() as unknown as AsyncIterable<string>, one, [two]]],
    ['all mixed, some twice', () => [one, [one, ` ${two} `], new Set([two])]],
  ])('%s', async (_, seeds) => {
    const { pages, failures } = await crawl(stub.seeds(...seeds()))
    expect(pages.map(({ url }) => url)).toEqual([one, two])
    expect(failures).toEqual([])
  })

  test('each call adds', async () => {
    const { pages } = await crawl(stub.seeds(one).seeds(two))
    expect(pages).toHaveLength(2)
  })
})

describe('bad seeds', () => {
  test('no seeds at all: run() rejects and says what to do', async () => {
    const error = (await rejectionOf(direct.run())) as KumoError
    expect(error).toMatchObject({ name: 'KumoError', code: 'KUMO_NO_SEEDS' })
    expect(error.message).toContain('.seeds()')
  })

  test.each<[string, () => SeedInput]>([
    [
      'a generator',
      () =>
        (function* () {
          yield 'http://a.example/'
          yield 'no scheme'
          yield 'mailto:me@example.com'
          yield 42 as unknown as string
          yield Object.create(null) as string
          yield 'http://b.example/'
        })(),
    ],
    [
      'an async generator',
      () =>
        (async function* () {
          yield 'http://a.example/'
          yield 'no scheme'
          yield 'mailto:me@example.com'
          yield 42 as unknown as string
          yield Object.create(null) as string
          yield 'http://b.example/'
        })(),
    ],
  ])('from %s are failures, and the crawl goes on', async (_, seeds) => {
    const { pages, failures, summary } = await crawl(stub.seeds(seeds()))
    expect(pages.map(({ url }) => url)).toEqual(['http://a.example/', 'http://b.example/'])
    expect(failures.map(({ code, url }) => [code, url])).toEqual([
      ['invalid-seed', "'no scheme'"],
      ['invalid-seed', "'mailto:me@example.com'"],
      ['invalid-seed', '42'],
      ['invalid-seed', '{}'],
    ])
    expect(failures[0]!.message).toBe("not an absolute http(s) URL: 'no scheme'")
    expect(summary).toMatchObject({ reason: 'done', failures: { 'invalid-seed': 4 } })
  })

  test.each<[string, () => SeedInput]>([
    [
      'a generator',
      () =>
        (function* () {
          yield 'http://a.example/'
          throw new Error('no such file')
        })(),
    ],
    [
      'an async generator',
      () =>
        (async function* () {
          yield 'http://a.example/'
          throw new Error('no such file')
        })(),
    ],
    [
      'an iterable that cannot begin',
      () => ({
        [Symbol.iterator]() {
          throw new Error('no such file')
        },
      }),
    ],
  ])('%s that throws ends the crawl with an error that blames it', async (_, seeds) => {
    const rejections = watchRejections()
    const error = (await rejectionOf(stub.seeds(seeds()).run())) as KumoError
    expect(error).toMatchObject({ name: 'KumoError', code: 'KUMO_SEEDS_FAILED' })
    expect(error.message).toMatch(/seeds.*no such file/)
    expect(await rejections()).toEqual([])
  })

  test('lines of a file that is read while the crawl opens its store', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kumo-seeds-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const { url } = await site({ '/a': 'x', '/b': 'x' })
    await writeFile(join(folder, 'seeds.txt'), `${url('/a')}\n${url('/b')}\n`)
    const lines = createInterface({ input: createReadStream(join(folder, 'seeds.txt')) })
    // A hook that takes its time to open, as a store or worker threads do.
    const open = () => sleep(200)
    const { pages, reason } = await direct
      .use({ name: 'slow', open, page: () => {} })
      .seeds(lines)
      .run()
    expect([pages, reason]).toEqual([2, 'done'])
  })

  test('lines that were read before the crawl started are an error', async () => {
    const lines = createInterface({ input: Readable.from(['http://a.example/\n']) })
    await once(lines, 'close')
    const error = (await rejectionOf(direct.seeds(lines).run())) as KumoError
    expect(error).toMatchObject({ code: 'KUMO_SEEDS_FAILED', message: expect.stringContaining('readline') })
  })

  test('a source that cannot be iterated is an error of the seeds', async () => {
    const source = {
      [Symbol.asyncIterator]: () => {
        throw new Error('no lines')
      },
    } as AsyncIterable<string>
    const error = (await rejectionOf(direct.seeds(source).run())) as KumoError
    expect(error).toMatchObject({ code: 'KUMO_SEEDS_FAILED', message: expect.stringContaining('no lines') })
  })

  test('a source is closed if the crawl fails before it is read', async () => {
    let isClosed = false
    const source: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          isClosed = true
          return { done: true, value: undefined }
        },
      }),
    }
    const open = () => {
      throw new Error('no key')
    }
    const crawler = direct.seeds(source).use({ name: 'broken', open, page: () => {} })
    expect(await rejectionOf(crawler.run())).toMatchObject({ code: 'KUMO_OPEN_FAILED' })
    expect(isClosed).toBe(true)
  })

  test('an empty source is a crawl of nothing', async () => {
    expect(await stub.seeds(new Set()).run()).toMatchObject({ reason: 'done', pages: 0, known: 0 })
  })
})

describe('sources', () => {
  test('are read as they are needed, and told when they are not needed any more', async () => {
    let given = 0
    let closed = false
    function* endless() {
      try {
        for (;;) yield `http://h${given++}.example/`
      } finally {
        closed = true
      }
    }
    const summary = await stub.concurrency(50).seeds(endless()).limit({ pages: 3000 }).run()
    expect(summary).toMatchObject({ pages: 3000, reason: 'limit' })
    expect(given).toBeLessThan(3000 + 5000)
    await until(() => closed, 'the generator is closed')
  })

  test('a source that is stuck holds nobody up, and does not keep the crawl from being ended', async () => {
    const { url } = await site(linkedPages(6))
    async function* stuck() {
      yield url()
      await new Promise(() => {})
    }
    const crawler = direct.seeds(stuck())
    const run = crawler.start()
    await until(() => run.stats()?.pages === 6, 'six pages')
    run.stop()
    expect(await run.done).toMatchObject({ reason: 'stopped', pages: 6 })
  })

  test('a slow source is waited for', async () => {
    async function* slow() {
      for (let i = 0; i < 5; i++) {
        await sleep(20)
        yield `http://h${i}.example/`
      }
    }
    expect(await stub.seeds(slow()).run()).toMatchObject({ reason: 'done', pages: 5 })
  })

  test('a million seeds never stand in memory together', async () => {
    const MILLION = 1_000_000
    const VISITED = 50_000
    const collect = exposedGc()
    const heap = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    let given = 0
    let most = 0
    function* seeds() {
      while (given < MILLION) {
        if (given % 10_000 === 0) most = Math.max(most, heap())
        yield `http://h${given % 1000}.example/${given++}`
      }
    }
    await stub.seeds('http://warm.example/').run()
    const before = heap()
    const summary = await stub.concurrency(200).seeds(seeds()).limit({ pages: VISITED }).run()
    expect(summary).toMatchObject({ pages: VISITED, failed: 0, reason: 'limit' })
    expect(given).toBeLessThan(VISITED + 5000)
    // What is waiting takes a part of this; the visited ones, were they kept, would take all of it.
    expect(most - before).toBeLessThan(4 * 1024 * 1024)
  })
})

/** Garbage is collected on demand, so that what is measured is what is held. */
function exposedGc(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
