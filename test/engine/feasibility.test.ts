/** Statistics are asked for many times a second; looking at a million servers is not for each of them. */

import { Crawler } from 'kumo'
import { virtualClock } from 'kumo/sim'
import { expect, test } from 'vitest'
import { Servers } from '../../src/refresh/servers.js'

const HEADERS = {
  get: (name: string) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [],
}

test.each([
  [50, 200],
  [1500, 0],
])(
  'of %i servers all are looked at %i times more, if 200 questions follow one at the same instant',
  async (hosts, looks) => {
    const original = Servers.prototype.feasibility
    let looked = 0
    let more: number | undefined
    Servers.prototype.feasibility = function (this: Servers) {
      looked++
      return original.call(this)
    }
    try {
      const clock = virtualClock()
      let pages = 0
      const crawler = new Crawler()
        .seeds(Array.from({ length: hosts }, (_, i) => `https://h${i}.example/`))
        .clock(clock)
        .robots(false)
        .refresh({ first: '1h', until: '10m' })
        .fetch(() => {
          const body = Buffer.from('x')
          return { ok: true, status: 200, headers: HEADERS, body, wireBytes: 1, skippedBody: false }
        })
        .on('page', () => {
          if (++pages < hosts) return
          clock.wakeAt(clock.now() + 5000, () => {
            crawler.stats()
            const before = looked
            for (let i = 0; i < 200; i++) crawler.stats()
            more = looked - before
          })
        })
      const summary = await clock.run(crawler.run())
      expect(more).toBe(looks)
      expect(summary.feasibility).toMatchObject({ servers: hosts, pages: hosts, feasible: true })
    } finally {
      Servers.prototype.feasibility = original
    }
  },
)
