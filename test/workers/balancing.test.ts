/** Hosts go from the worker that has much to do to the one that has nothing, and the servers do not notice. */

import { Crawler, level } from 'kumo'
import { byHost } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { linksTo, site } from '../crawler/support.js'
import type { Route } from '../loopback/site.js'
import { folder } from '../stores/level/folders.js'

const HOSTS = 10
const PAGES = 40
const DELAY_MS = 20

/** Hosts that static assignment gives to the first of two workers, all of them. */
function unfairHosts(port: number): string[] {
  const { partition } = byHost()
  const all = Array.from({ length: 250 }, (_, i) => `127.0.9.${i + 1}`)
  return all.filter((host) => partition(`${host}:${port}`) % 2 === 0).slice(0, HOSTS)
}

describe.each(['memory', 'level'])('with the %s store', (kind) => {
  test('an idle worker gets its share, each page comes once, and every pause is kept', async () => {
    const visits = new Map<string, { start: number; end: number }[]>()
    const served = new Map<string, number>()
    const page: Route = (request, response) => {
      const host = request.headers.host!
      const visit = { start: performance.now(), end: Number.POSITIVE_INFINITY }
      visits.set(host, [...(visits.get(host) ?? []), visit])
      served.set(`${host}${request.url}`, (served.get(`${host}${request.url}`) ?? 0) + 1)
      setTimeout(() => {
        visit.end = performance.now()
        response.writeHead(200, { 'content-type': 'text/html' }).end(LINKS)
      }, 25)
    }
    const paths = Array.from({ length: PAGES }, (_, i) => (i === 0 ? '/' : `/${i}`))
    const LINKS = linksTo(...paths)
    const { url, port } = await site(Object.fromEntries(paths.map((path) => [path, page])))
    const crawler = new Crawler()
      .robots(false)
      .delay(DELAY_MS)
      .concurrency(6)
      .workers(2)
      .seeds(unfairHosts(port).map((host) => url('/', host)))
    const stored = kind === 'level' ? crawler.store(level(await folder())) : crawler
    const summary = await stored.run()
    expect(summary).toMatchObject({ reason: 'done', pages: HOSTS * PAGES, failed: 0, pending: 0 })
    expect(served.size).toBe(HOSTS * PAGES)
    expect([...served.values()].filter((times) => times > 1)).toEqual([])
    const [first, second] = summary.workers
    expect(second!.pages).toBeGreaterThan(0)
    expect(first!.partitions + second!.partitions).toBe(1024)
    expect(second!.partitions).toBeGreaterThan(512)
    for (const [host, log] of visits) {
      for (const [i, visit] of log.slice(1).entries()) {
        expect(visit.start - log[i]!.end, host).toBeGreaterThanOrEqual(DELAY_MS - 1)
      }
    }
  })
})
