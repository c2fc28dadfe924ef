/** A disk that fails while a crawl runs: the crawl pauses, says so, and loses nothing but time. */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Crawler, type LevelOptions, level, type StoreEvent } from 'kumo'
import { expect, test } from 'vitest'
import {
  askedPaths,
  direct,
  linkedPages,
  rejectionOf,
  site,
  sleep,
  until,
  watchRejections,
} from '../../../crawler/support.js'
import { LoopTime } from '../../../loop-time.js'
import { folder } from '../folders.js'
import { failingDisk } from './failing-disk.js'

/** Longer than the store waits before it tries again, twice. */
const LONG_MS = 2300
const COUNT = 120

/** A crawl of one host that is under way, and what it tells of its store. */
async function inFlight(options: LevelOptions = {}) {
  const started = await site(linkedPages(COUNT))
  const path = await folder()
  const events: StoreEvent[] = []
  const crawler: Crawler = direct
    .seeds(started.url())
    .delay('3ms')
    .concurrency(4)
    .store(level(path, { commitEvery: 10, ...options }))
    .on('store', (event) => void events.push(event))
  const controller = new AbortController()
  const run = crawler.start({ signal: controller.signal })
  run.done.catch(() => {})
  await until(() => askedPaths(started).length >= 20, 'the crawl is under way')
  const kinds = () => events.map(({ kind }) => kind)
  const paused = () => until(() => kinds().includes('paused'), 'the crawl pauses')
  return { started, path, crawler, run, controller, events, kinds, paused }
}

const FAULTS: readonly (readonly ['writes' | 'reads', LevelOptions])[] = [
  ['writes', {}],
  ['reads', { requestsInMemory: 1 }],
]

test.for(FAULTS)(
  '%s fail for some seconds: the crawl pauses, and goes on by itself',
  async ([what, options]) => {
    const disk = failingDisk()
    const { started, crawler, run, events, kinds, paused } = await inFlight(options)
    disk[what] = true
    await paused()
    expect(events[0]!.message).toMatch(
      /(No space left on device|Input\/output error)\. The crawl is paused, and resumes/,
    )
    expect(events[0]!.cause).toMatchObject({ code: 'LEVEL_IO_ERROR' })
    // What was in flight ends.
    await sleep(100)
    const asked = askedPaths(started).length
    await sleep(LONG_MS)
    expect(askedPaths(started)).toHaveLength(asked)
    expect(asked).toBeLessThan(COUNT)
    expect(disk.failed).toBeGreaterThan(1)
    // The slower the machine, the longer the crawl was busy before.
    await until(() => run.stats()!.bottleneck === 'store', 'most of the time was spent waiting for the store')
    expect(askedPaths(started)).toHaveLength(asked)
    const stats = run.stats()!
    expect(stats.store).toEqual({ state: 'paused', message: expect.stringContaining('The crawl is paused') })
    expect(stats.idle.store).toBeGreaterThan(0.5)
    expect(kinds()).toEqual(['paused'])
    disk[what] = false
    const summary = await run.done
    expect(kinds()).toEqual(['paused', 'resumed'])
    expect(summary).toMatchObject({ reason: 'done', pages: COUNT, pending: 0, store: { state: 'ok' } })
    expect(askedPaths(started)).toHaveLength(COUNT)
    expect(await crawler.run()).toMatchObject({ reason: 'already-done', pages: COUNT, known: COUNT })
    expect(askedPaths(started)).toHaveLength(COUNT)
  },
)

test('a crawl that is paused twice tells it twice', async () => {
  const disk = failingDisk()
  const { run, kinds, started } = await inFlight()
  for (const times of [1, 2]) {
    disk.writes = true
    await until(() => kinds().length === 2 * times - 1, 'the crawl pauses')
    disk.writes = false
    await until(() => kinds().length === 2 * times, 'the crawl goes on')
  }
  expect(await run.done).toMatchObject({ reason: 'done', pages: COUNT })
  expect(kinds()).toEqual(['paused', 'resumed', 'paused', 'resumed'])
  expect(askedPaths(started)).toHaveLength(COUNT)
})

test('writes fail for good and the crawl is stopped: it ends at once, says what is kept, and goes on later', async () => {
  const disk = failingDisk()
  const { started, crawler, run, paused } = await inFlight()
  disk.writes = true
  await paused()
  const time = new LoopTime()
  run.stop()
  const error = (await rejectionOf(run.done)) as Error & { code: string }
  expect(time.stop()).toBeLessThan(1500)
  expect({ code: error.code, message: error.message }).toEqual({
    code: 'KUMO_STORE_FAILED',
    message: expect.stringMatching(
      /No space left on device\. Everything committed before is intact: fix the cause, then run the same program/,
    ),
  })
  disk.writes = false
  const before = askedPaths(started)
  expect(await crawler.run()).toMatchObject({ reason: 'done', pages: COUNT, known: COUNT, earlierRuns: 1 })
  expect(new Set(askedPaths(started)).size).toBe(COUNT)
  // Only what the last moments before the pause brought is fetched again.
  const again = askedPaths(started).length - COUNT
  expect(again).toBeGreaterThan(0)
  expect(again).toBeLessThan(before.length)
})

test('a crawl that is stopped while paused keeps everything if the disk is well again at the last moment', async () => {
  const disk = failingDisk()
  const { started, crawler, run, paused } = await inFlight()
  disk.writes = true
  await paused()
  await sleep(100)
  disk.writes = false
  run.stop()
  const { reason, pages } = await run.done
  expect({ reason, pages }).toEqual({ reason: 'stopped', pages: askedPaths(started).length })
  expect(await crawler.run()).toMatchObject({ reason: 'done', pages: COUNT })
  expect(askedPaths(started)).toHaveLength(COUNT)
})

test.for(['writes', 'reads'] as const)(
  'an abort while %s fail ends the crawl within a second, and the folder is free',
  async (what) => {
    const disk = failingDisk()
    const unhandled = watchRejections()
    const { started, crawler, run, controller, paused } = await inFlight({ requestsInMemory: 1 })
    disk[what] = true
    await paused()
    const time = new LoopTime()
    controller.abort()
    const ended = await run.done.then(
      ({ reason }) => reason,
      ({ code }) => code,
    )
    expect(time.stop()).toBeLessThan(1200)
    expect(['aborted', 'KUMO_STORE_FAILED']).toContain(ended)
    disk[what] = false
    // A part that was left behind closes a moment later.
    await sleep(1500)
    expect(await crawler.run()).toMatchObject({ reason: 'done', pages: COUNT })
    expect(new Set(askedPaths(started)).size).toBe(COUNT)
    expect(await unhandled()).toEqual([])
  },
)

test('an error that is not of the disk ends the crawl, for waiting would not help', async () => {
  const disk = failingDisk()
  const { run, path, kinds } = await inFlight()
  Object.defineProperty(disk, 'writes', {
    get() {
      throw Object.assign(new Error('Corruption: bad block'), { code: 'LEVEL_CORRUPTION' })
    },
  })
  const error = (await rejectionOf(run.done)) as Error & { code: string }
  expect({ code: error.code, message: error.message }).toEqual({
    code: 'KUMO_STORE_DAMAGED',
    message: expect.stringContaining(path),
  })
  expect(kinds()).toEqual([])
})

test('a count of commits that cannot be written does not end the crawl', async () => {
  const unhandled = watchRejections()
  const started = await site(linkedPages(10))
  const path = await folder()
  const crawler = direct.seeds(started.url()).store(level(path))
  await crawler.limit({ pages: 3 }).run()
  rmSync(join(path, 'kumo-commits'))
  mkdirSync(join(path, 'kumo-commits'))
  expect(await crawler.run()).toMatchObject({ reason: 'done', pages: 10 })
  expect(await crawler.run()).toMatchObject({ reason: 'already-done', pages: 10 })
  expect(await unhandled()).toEqual([])
})
