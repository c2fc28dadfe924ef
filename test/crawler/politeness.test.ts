/** Politeness as the servers saw it: their logs testify, not the crawler's own word. */

import { describe, expect, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import { direct, linksTo, quick, site, web } from './support.js'

describe('one host', () => {
  test('one connection, and the pause is kept between all visits, robots.txt included', async () => {
    const server = await web({ pagesPerHost: 8, latencyMs: [1, 30] })
    const summary = await quick.delay('120ms').seeds(server.url(0)).run()
    const report = await server.report(0, { gapMs: 120, countRobots: true })
    expect(report).toMatchObject({
      requests: 9,
      distinctPages: 8,
      duplicates: 0,
      robotsRequests: 1,
      strays: 0,
    })
    expect(report.perHost).toMatchObject({ overlaps: 0, mostOpen: 1, belowGap: 0 })
    expect(summary.shortestGapMs).toBeGreaterThanOrEqual(120)
    expect(summary.shortestGapMs).toBeLessThanOrEqual(report.perHost.shortestGapMs! + 1)
  })

  test('without a pause there is still one request at a time', async () => {
    const server = await web({ pagesPerHost: 40, latencyMs: [0, 5] })
    await quick.seeds(server.url(0)).run()
    const report = await server.report(0, { countRobots: true })
    expect(report).toMatchObject({ distinctPages: 40, duplicates: 0 })
    expect(report.perHost).toMatchObject({ overlaps: 0, mostOpen: 1 })
  })

  test('a page is held back while its hook works, and the pause counts from the end of the visit', async () => {
    const server = await web({ pagesPerHost: 5 })
    const summary = await direct
      .delay(100)
      .seeds(server.url(0))
      .on('page', () => new Promise((resolve) => setTimeout(resolve, 30)))
      .run()
    expect(summary.pages).toBe(5)
    expect((await server.report(0, { gapMs: 100 })).perHost).toMatchObject({ belowGap: 0, overlaps: 0 })
  })

  test('failures and retries keep the pause too', async () => {
    const visits: { start: number; end: number }[] = []
    const answer = (status: number, body = ''): Route => {
      return (_, response) => {
        const visit = { start: performance.now(), end: 0 }
        visits.push(visit)
        setTimeout(() => {
          visit.end = performance.now()
          response.writeHead(status, { 'content-type': 'text/html', location: '/end' }).end(body)
        }, 5)
      }
    }
    const { url } = await site({
      '/robots.txt': answer(404),
      '/': answer(200, linksTo('/busy', '/gone', '/moved', '/a')),
      '/busy': answer(503),
      '/gone': answer(404),
      '/moved': answer(302),
      '/a': answer(200),
      '/end': answer(200),
    })
    // The retries of this page come after their backoff or after the pause, whichever is later.
    await quick
      .delay(200)
      .retries(1)
      .random({ next: () => 0 })
      .seeds(url())
      .run()
    expect(visits).toHaveLength(8)
    for (const [i, visit] of visits.slice(1).entries()) {
      expect(visit.start - visits[i]!.end, `before visit ${i + 1}`).toBeGreaterThanOrEqual(199)
    }
  })
})

describe('several connections to a host', () => {
  test('grow with the queue, up to the maximum', async () => {
    const server = await web({ pagesPerHost: 80, latencyMs: 15 })
    const summary = await quick.seeds(server.url(0)).perHost({ connections: 4, growAt: 10 }).run()
    const report = await server.report(3, { countRobots: true })
    expect(report).toMatchObject({ distinctPages: 80, duplicates: 0, robotsRequests: 1 })
    expect(report.perHost).toMatchObject({ overlaps: 0, mostOpen: 4 })
    expect(report.openConnectionsMax).toBeLessThanOrEqual(4)
    expect(summary).toMatchObject({ hostsVisited: 1, shortestGapMs: undefined })
  })

  test('a short queue is worth one connection only', async () => {
    const server = await web({ pagesPerHost: 30, linksPerPage: 4, bytes: 2500, latencyMs: 5 })
    await quick.seeds(server.url(0)).perHost({ connections: 8, growAt: 1000 }).run()
    expect((await server.report(0)).perHost).toMatchObject({ overlaps: 0, mostOpen: 1 })
  })

  test('each keeps the pause: n connections make at most n visits a pause', async () => {
    const starts: number[] = []
    const page: Route = (_, response) => {
      starts.push(performance.now())
      response.writeHead(200, { 'content-type': 'text/html' }).end('end')
    }
    const { url } = await site({ '/p': page })
    const seeds = Array.from({ length: 16 }, (_, i) => url(`/p?${i}`))
    await direct.delay(150).perHost({ connections: 4, growAt: 1 }).seeds(seeds).run()
    expect(starts).toHaveLength(16)
    for (let i = 4; i < starts.length; i++) expect(starts[i]! - starts[i - 4]!).toBeGreaterThanOrEqual(149)
  })
})

describe('many hosts', () => {
  test('are crawled in parallel, each as politely as if it were alone', async () => {
    const server = await web({ hosts: 50, pagesPerHost: 4, crossHostShare: 0.2, latencyMs: [1, 20] })
    const summary = await quick.allowPrivate('all').delay(100).scope('all').seeds(server.url(0)).run()
    expect(summary).toMatchObject({ pages: 200, failed: 0, robots: 50, hostsVisited: 50 })
    const report = await server.report(0, { gapMs: 100, countRobots: true })
    expect(report).toMatchObject({ distinctPages: 200, duplicates: 0, robotsRequests: 50, strays: 0 })
    expect(report.perHost).toMatchObject({ hosts: 50, overlaps: 0, mostOpen: 1, belowGap: 0 })
    // One after the other the pauses alone would take twenty seconds.
    expect(report.lastEnd! - report.firstStart!).toBeLessThan(15_000)
  })

  test('concurrency bounds them all together', async () => {
    const server = await web({ hosts: 30, pagesPerHost: 3, latencyMs: 10 })
    let open = 0
    let most = 0
    await quick
      .concurrency(5)
      .seeds(server.seeds())
      .use({
        name: 'counter',
        async page() {
          most = Math.max(most, ++open)
          await new Promise((resolve) => setTimeout(resolve, 3))
          open--
        },
      })
      .run()
    expect((await server.report()).distinctPages).toBe(90)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(5)
  })
})
