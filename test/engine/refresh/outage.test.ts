/** In virtual time: a server that is down for hours, whose pages are known. */

import { Crawler } from 'kumo'
import { virtualClock } from 'kumo/sim'
import { expect, test } from 'vitest'

const HOUR = 3_600_000
const HEADERS = {
  get: (name: string) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [],
}

test('a server that was down is visited again once it is back, and its pages were not given up', async () => {
  const clock = virtualClock()
  const start = clock.now()
  const outage = { from: start + 10 * HOUR, to: start + 13 * HOUR }
  const asked: number[] = []
  const crawler = new Crawler()
    .seeds('https://a.example/')
    .clock(clock)
    .random({ next: () => 0.5 })
    .robots(false)
    .refresh({ min: '30m', max: '2h', first: '30m', until: '5d' })
    .fetcher((request) => {
      const now = clock.now()
      asked.push(now)
      if (now >= outage.from && now < outage.to) return { ok: false, code: 'timeout', message: 'no answer' }
      const links = request.url.endsWith('/')
        ? [1, 2, 3, 4, 5].map((i) => `<a href="/${i}">x</a>`).join('')
        : ''
      const body = Buffer.from(`${links} ${request.url}`)
      return { ok: true, status: 200, headers: HEADERS, body, wireBytes: body.length, skippedBody: false }
    })
  const summary = await clock.run(crawler.run())
  const during = asked.filter((at) => at >= outage.from && at < outage.to).length
  const after = asked.filter((at) => at >= outage.to)
  // A few looks, not hundreds.
  expect(during).toBeGreaterThan(2)
  expect(during).toBeLessThan(40)
  expect(after[0]! - outage.to).toBeLessThan(2 * HOUR)
  expect(after.length).toBeGreaterThan(100)
  expect(summary.changes.new).toBe(6)
})
