/** Statistics are asked for many times a second; looking at a million servers is not for each of them. */

import { Crawler } from 'kumo'
import { virtualClock } from 'kumo/sim'
import { describe, expect, test } from 'vitest'
import { Servers } from '../../../src/refresh/servers.js'

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
        .fetcher(() => {
          const body = Buffer.from('x')
          return { ok: true, status: 200, headers: HEADERS, body, wireBytes: 1, skippedBody: false }
        })
        .on('page', () => {
          if (++pages < hosts) return
          clock.wakeAt(clock.now() + 5000, () => {
            run.stats()
            const before = looked
            for (let i = 0; i < 200; i++) run.stats()
            more = looked - before
          })
        })
      const run = crawler.start()
      const summary = await clock.run(run.done)
      expect(more).toBe(looks)
      expect(summary.feasibility).toMatchObject({ servers: hosts, pages: hosts, feasible: true })
    } finally {
      Servers.prototype.feasibility = original
    }
  },
)

describe('a schedule that hooks hold up', () => {
  const MINUTE = 60_000

  /** Pages of so many hosts change at each visit, which takes 100 ms, and a hook takes `hookMs` for each change. */
  async function refreshed(hosts: number, hookMs: number, delayMs: number) {
    const clock = virtualClock()
    const passing = (ms: number) => new Promise<void>((done) => void clock.wakeAt(clock.now() + ms, done))
    let version = 0
    const crawler = new Crawler()
      .seeds(Array.from({ length: hosts }, (_, i) => `https://h${i}.example/`))
      .clock(clock)
      .robots(false)
      .concurrency(2)
      .delay(`${delayMs}ms`)
      .refresh({ min: '2s', first: '2s', max: '2s', until: 20 * MINUTE })
      .fetcher(async () => {
        await passing(100)
        const body = Buffer.from(`version ${++version}`)
        return { ok: true, status: 200, headers: HEADERS, body, wireBytes: body.length, skippedBody: false }
      })
      .use({ name: 'slow', page: () => passing(hookMs) })
    const summary = await clock.run(crawler.run())
    return { ...summary.feasibility!, donePerSecond: (summary.requests * 1000) / summary.elapsedMs }
  }

  test('is not feasible, says that hooks are short, and asks for what can be done', async () => {
    const told = await refreshed(9, 1000, 0)
    expect(told).toMatchObject({
      feasible: false,
      bottleneck: 'hooks',
      socketsNeeded: 5,
      infeasibleServers: 0,
    })
    expect(told.why).toMatch(/holds its slot for 1\.1 s, 1\.0 s of it for extractors, hooks and listeners/)
    expect(told.wantedPerSecond).toBeCloseTo(4.5, 5)
    // 0.9 of two slots, 1.1 s each.
    expect(told.scheduledPerSecond).toBeCloseTo(1.8 / 1.1, 1)
    expect(told.donePerSecond / told.scheduledPerSecond).toBeCloseTo(1, 1)
  })

  test('a server whose pause is shorter than the hooks is named with that reason', async () => {
    const told = await refreshed(1, 4000, 1000)
    expect(told).toMatchObject({ feasible: false, bottleneck: 'hooks', infeasibleServers: 1 })
    expect(told.worst[0]!.why).toContain('a visit with its extractors and hooks takes')
  })

  test('without them it is feasible; with too many downloads sockets are short', async () => {
    expect(await refreshed(9, 0, 0)).toMatchObject({ feasible: true, bottleneck: undefined, why: undefined })
    const told = await refreshed(60, 0, 0)
    expect(told).toMatchObject({ feasible: false, bottleneck: 'sockets' })
    expect(told.why).toContain('raise concurrency()')
  })

  test('a pause that is too long is politeness', async () => {
    const told = await refreshed(1, 0, 5000)
    expect(told).toMatchObject({ feasible: false, bottleneck: 'politeness', infeasibleServers: 1 })
    expect(told.worst[0]!.why).toContain('a visit and the pause after it take')
  })
})
