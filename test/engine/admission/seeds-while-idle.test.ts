/** In virtual time: hosts that rest, and seeds that are read meanwhile. */

import { Crawler, type Fetcher } from 'kumo'
import { virtualClock } from 'kumo/sim'
import { describe, expect, test } from 'vitest'

const HEADERS = {
  get: (name: string) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [],
}
const LINKS_PER_PAGE = 4

/** Every page links to others of its host, so that what is pending grows. */
const fetcher: Fetcher['fetch'] = async ({ url }) => {
  const links = Array.from(
    { length: LINKS_PER_PAGE },
    (_, i) => `<a href="${new URL(url).pathname}${i}/">x</a>`,
  )
  const body = Buffer.from(`${url} ${links.join('')}`)
  return { ok: true, status: 200, headers: HEADERS, body, wireBytes: body.length, skippedBody: false }
}

function crawl(clock: ReturnType<typeof virtualClock>) {
  return new Crawler()
    .clock(clock)
    .random({ next: () => 0.5 })
    .robots(false)
    .delay('10s')
    .concurrency(20)
    .fetcher(fetcher)
}

describe('seeds are read while hosts rest', () => {
  test('every host of a long list is visited within a few pauses', async () => {
    const clock = virtualClock()
    const seeds = Array.from({ length: 2500 }, (_, i) => `https://host${i}.example/`)
    const visited = new Set<string>()
    const run = crawl(clock)
      .seeds(seeds)
      .limit({ time: '15s' })
      .on('page', ({ host }) => void visited.add(host))
      .run()
    await clock.run(run)
    expect(visited.size).toBe(seeds.length)
  })

  test('a source of one host is read in proportion to the visits', async () => {
    const clock = virtualClock()
    let read = 0
    const source = function* () {
      for (; read < 1_000_000; read++) yield `https://host.example/page${read}`
    }
    const { pages } = await clock.run(crawl(clock).seeds(source()).limit({ time: '5m' }).run())
    expect(pages).toBe(30)
    expect(read).toBeLessThanOrEqual(1000 + 100 * (pages + 1) + 1000)
  })
})
