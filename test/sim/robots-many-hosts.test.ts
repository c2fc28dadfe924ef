import { expect, it } from 'vitest'
import { seededRandom } from '../../src/adapters.js'
import type { Outcome } from '../../src/fetch/contract.js'
import { robotsGate } from '../../src/fetch/robots/gate.js'
import { Crawler } from '../../src/index.js'
import { virtualClock } from '../../src/sim/index.js'
import type { CrawlRequest } from '../../src/types.js'

/** Hosts take turns. With more of them than there is room for, each could find its rules forgotten at every turn. */

function answer(status: number, body = ''): Outcome {
  const headers = { get: () => undefined, getAll: () => [], entries: () => [] }
  return { ok: true, status, headers, body: Buffer.from(body), wireBytes: 0, skippedBody: false }
}

it('a crawl whose rules outgrow the memory for them ends, and asks for them once a page at most', async () => {
  const hosts = 40
  const pages = ['/', '/two']
  // 19 MB in all, and all of it for us; room is made at 16 MiB.
  const rules = `User-agent: *\n${'Disallow: /closed/of/forty-eight/characters/or-so\n'.repeat(9600)}`
  const clock = virtualClock()
  const fetched = new Map<string, number>()
  const seeds = pages.flatMap((path) =>
    Array.from({ length: hosts }, (_, i) => `https://h${i}.example${path}`),
  )
  const crawler = new Crawler()
    .seeds(seeds)
    .clock(clock)
    .random(seededRandom(1))
    .concurrency(10)
    .fetcher({
      async fetch({ url }) {
        fetched.set(url, (fetched.get(url) ?? 0) + 1)
        await clock.sleep(20)
        return answer(200, url.endsWith('/robots.txt') ? rules : 'a page')
      },
    })
  const summary = await clock.run(crawler.run(), { withinMs: 600_000 })

  expect(summary).toMatchObject({ reason: 'done', pages: seeds.length, pending: 0 })
  for (const url of seeds) expect([url, fetched.get(url)]).toEqual([url, 1])
  for (let i = 0; i < hosts; i++) {
    expect(fetched.get(`https://h${i}.example/robots.txt`)).toBeLessThanOrEqual(pages.length)
  }
})

it('a thousand hosts in turn, with room for a hundred, get their pages after two questions each', async () => {
  const gate = await robotsGate({ userAgent: 'Kumo', maxHosts: 100, random: seededRandom(1) })
  const queue: CrawlRequest[] = Array.from({ length: 2000 }, (_, i) => {
    const host = `h${i % 1000}.example`
    const url = `https://${host}/${i}`
    return { url, host, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
  })
  const asked = new Map<string, number>()
  let allowed = 0
  for (let turn = 0; queue.length > 0 && turn < 10_000; turn++) {
    const request = queue.shift()!
    const verdict = gate.check(request, turn)
    if (verdict === 'allow') {
      allowed++
      continue
    }
    if (typeof verdict !== 'object' || !('fetch' in verdict)) throw new Error('unexpected')
    asked.set(request.host, (asked.get(request.host) ?? 0) + 1)
    gate.learn(new URL(request.url).origin, verdict.fetch, answer(404), turn)
    queue.push(request)
  }
  expect(allowed).toBe(2000)
  expect(Math.max(...asked.values())).toBeLessThanOrEqual(2)
})
