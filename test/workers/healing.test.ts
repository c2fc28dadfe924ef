/** Worker threads die, of the user's code or for no reason at all; the crawl goes on. */

import { Crawler, type Failure, fromModule, level, type WorkerEvent } from 'kumo'
import { describe, expect, test } from 'vitest'
import { linksTo, site, web } from '../crawler/support.js'
import { folder as newFolder } from '../stores/level/folders.js'
import { isThorough } from '../thorough.js'

const TROUBLE = new URL('./modules/trouble.mjs', import.meta.url)
const quick = new Crawler().delay(0).robots(false).workers(2)

/** Runs a crawl and keeps what it tells of its workers. */
async function watched(crawler: Crawler) {
  const events: WorkerEvent[] = []
  const failures: Failure[] = []
  const pages: string[] = []
  // On the handle, so that threads that take the place of others must learn what is listened to.
  const summary = await crawler
    .start()
    .on('worker', (event) => void events.push(event))
    .on('failure', (failure) => void failures.push(failure))
    .on('page', ({ url }) => void pages.push(new URL(url).pathname)).done
  return { summary, events, failures, pages }
}

describe.each([
  ['exit', 'exited with code 3'],
  ['block', 'blocked for more than 1500 ms'],
  ['throwLater', 'thrown where nobody catches it'],
])('a page whose hook ends the thread by %s', (how, message) => {
  test('is tried twice, then given up and told; all others come', async () => {
    const { url } = await site({
      '/': linksTo('/deadly', ...Array.from({ length: 20 }, (_, i) => `/${i}`)),
      '/deadly': 'x',
      ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`/${i}`, 'x'])),
    })
    const folder = await newFolder()
    const { summary, events, failures, pages } = await watched(
      quick
        .workers(2, { watchdog: 1500 })
        .seeds(url())
        .use(fromModule(TROUBLE, { export: 'deadly', with: { path: '/deadly', how } }))
        .store(level(folder)),
    )
    expect(events.length).toBeGreaterThanOrEqual(2)
    for (const event of events) {
      expect(event).toMatchObject({ kind: 'replaced', lost: 0, message: expect.stringContaining(message) })
    }
    expect(failures).toMatchObject([{ url: url('/deadly'), code: 'worker-crashed', final: true }])
    expect(failures[0]!.message).toContain(message)
    const others = pages.filter((path) => path !== '/deadly')
    expect([...new Set(others)].sort()).toEqual(
      ['/', ...Array.from({ length: 20 }, (_, i) => `/${i}`)].sort(),
    )
    expect(summary).toMatchObject({ reason: 'done', lost: 0, failures: { 'worker-crashed': 1 }, pending: 0 })
    expect(summary.workers.reduce((sum, { replaced }) => sum + replaced, 0)).toBe(events.length)
  })
})

test('with the memory store, what was under way is tried again, and the loss is counted and told', async () => {
  const paths = Array.from({ length: 200 }, (_, i) => `/${i}`)
  const { url } = await site({
    '/': linksTo('/deadly', ...paths),
    '/deadly': 'x',
    ...Object.fromEntries(paths.map((path) => [path, 'x'])),
  })
  const { summary, events, failures, pages } = await watched(
    quick.seeds(url()).use(fromModule(TROUBLE, { export: 'deadly', with: { path: '/deadly', how: 'exit' } })),
  )
  // The first death takes the rest of the host with it; the second has nothing left to take.
  expect(events).toHaveLength(2)
  const lost = events.reduce((sum, event) => sum + event.lost, 0)
  expect(failures).toMatchObject([{ url: url('/deadly'), code: 'worker-crashed' }])
  expect(summary).toMatchObject({ reason: 'done', lost, pending: 0 })
  expect(pages.filter((path) => path !== '/deadly').length + lost).toBeLessThanOrEqual(202)
  expect(lost).toBeGreaterThan(0)
})

test.each([10, 5000])('what was under way keeps its label and data of %i characters', async (size) => {
  const { url } = await site({ '/deadly': 'x' })
  const data = { text: 'ä…'.repeat(size / 2) }
  const { failures } = await watched(
    quick
      .seeds({ url: url('/deadly'), label: 'é', data, priority: 3 })
      .use(fromModule(TROUBLE, { export: 'deadly', with: { path: '/deadly', how: 'exit' } })),
  )
  const request = { method: 'GET', label: 'é', data, priority: 3 }
  expect(failures).toMatchObject([{ url: url('/deadly'), code: 'worker-crashed', request }])
})

test('a random worker is killed again and again: every page comes, and no pause is cut short', async () => {
  const server = await web({
    hosts: 24,
    pagesPerHost: isThorough ? 25 : 15,
    crossHostShare: 0.2,
    latencyMs: [1, 20],
  })
  const folder = await newFolder()
  const { summary, events } = await watched(
    new Crawler()
      .delay(150)
      .scope('all')
      .allowPrivate('all')
      .concurrency(12)
      .workers(3)
      .seeds(server.url(0))
      .use(fromModule(TROUBLE, { export: 'mortal', with: { leastMs: 700, mostMs: 3000 } }))
      .store(level(folder)),
  )
  expect(events.length).toBeGreaterThan(3)
  expect(summary).toMatchObject({ reason: 'done', lost: 0, failed: 0, pending: 0, inFlight: 0 })
  const report = await server.report(0, { gapMs: 150, countRobots: true })
  expect(report.distinctPages).toBe(server.totalPages)
  expect(report.strays).toBe(0)
  expect(report.perHost).toMatchObject({ overlaps: 0, mostOpen: 1, belowGap: 0 })
})

test('a thread that cannot be started ends the crawl, with the reason', async () => {
  const broken = new URL('data:text/javascript,process.exit(4)')
  const running = quick.seeds('http://127.0.0.1:9/').extract(broken).run()
  await expect(running).rejects.toMatchObject({
    code: 'KUMO_WORKER_FAILED',
    message: expect.stringContaining('exited with code 4'),
  })
})

test('threads that go on dying end the crawl', async () => {
  const { url } = await site({ '/': 'x' })
  const running = quick
    .seeds(url())
    .use(fromModule(TROUBLE, { export: 'mortal', with: { leastMs: 0, mostMs: 1 } }))
    .run()
  await expect(running).rejects.toMatchObject({ code: 'KUMO_WORKER_FAILED' })
})
