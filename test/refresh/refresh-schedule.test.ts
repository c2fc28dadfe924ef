/** From what visits show to the instant of the next: the parts of the schedule put together. */

import { describe, expect, it } from 'vitest'
import { refreshOptions } from '../../src/options/check-refresh.js'
import { archiveIntervalMs } from '../../src/refresh/aims.js'
import type { PageObservation, PageRecord } from '../../src/refresh/contract.js'
import { RefreshSchedule } from '../../src/refresh/refresh-schedule.js'
import { seededRandom } from '../../src/time.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 1)

const refresher = (options: Parameters<typeof refreshOptions>[0] = {}, sockets = 100, minIntervalMs = 1000) =>
  new RefreshSchedule(refreshOptions(options).refresh, { sockets, minIntervalMs })

const sight = (at: number, more: Partial<PageObservation> = {}): PageObservation => ({
  status: 200,
  at,
  downloadMs: 200,
  depth: 1,
  digest: 'a',
  conditional: false,
  ...more,
})

describe('a new page', () => {
  it('comes again after `first`, while nothing is known of it or its server', () => {
    const { change, record, at } = refresher({ first: '6h' }).observed('a.example', undefined, sight(START))
    expect(change).toBe('new')
    expect(at).toBe(START + 6 * HOUR)
    expect(record).toMatchObject({ at: START, every: 6 * HOUR, depth: 1, digest: 'a', history: '' })
  })

  it('comes sooner if its sitemap says that it changes often', () => {
    const schedule = refresher()
    const hourly = schedule.observed('a.example', undefined, sight(START, { hint: { changefreq: 'hourly' } }))
    expect(hourly.at - START).toBeLessThan(2 * HOUR)
    const yearly = schedule.observed('b.example', undefined, sight(START, { hint: { changefreq: 'yearly' } }))
    expect(yearly.at - START).toBe(DAY)
  })

  it('comes later if it says itself that it is old', () => {
    const old = new Date(START - 300 * DAY).toUTCString()
    const { at } = refresher().observed('a.example', undefined, sight(START, { modified: old }))
    expect(at - START).toBeGreaterThan(5 * DAY)
    // Or if its sitemap says so.
    const hint = { lastmod: START - 300 * DAY }
    expect(refresher().observed('a.example', undefined, sight(START, { hint })).at).toBe(at)
  })

  it('is taken for a page like those of its server', () => {
    const schedule = refresher({ max: '300d' })
    for (let page = 0; page < 20; page++) {
      let before: PageRecord | undefined
      for (let visit = 0; visit < 8; visit++) {
        const at = START + visit * HOUR
        before = schedule.observed('busy.example', before, sight(at, { digest: `${visit}` })).record
      }
    }
    const { at } = schedule.observed('busy.example', undefined, sight(START + DAY))
    expect(at - START - DAY).toBeLessThan(2 * HOUR)
  })
})

describe('a known page', () => {
  /** Visits a page that changes at random, by the schedule's own times. */
  function follow(changeMs: number, visits: number, options = {}) {
    const schedule = refresher({ min: MINUTE, max: '300d', ...options })
    const random = seededRandom(7)
    const nextChange = () => -Math.log(1 - random.next()) * changeMs
    let changesAt = START + nextChange()
    let version = 0
    let at = START
    let before: PageRecord | undefined
    const seen = { changed: 0, unchanged: 0, new: 0, gone: 0 }
    for (let visit = 0; visit < visits; visit++) {
      while (changesAt <= at) {
        version++
        changesAt += nextChange()
      }
      const planned = schedule.observed('a.example', before, sight(at, { digest: `v${version}` }))
      seen[planned.change!]++
      before = planned.record
      at = planned.at
    }
    return { record: before!, seen }
  }

  it.each([HOUR, DAY, 30 * DAY])('is visited about as often as it changes (%i ms)', (changeMs) => {
    const { record, seen } = follow(changeMs, 60)
    expect(record.change / changeMs).toBeGreaterThan(0.5)
    expect(record.change / changeMs).toBeLessThan(2)
    expect(record.every).toBeCloseTo(archiveIntervalMs(record.change, 0.6), -3)
    expect(seen.new).toBe(1)
    expect(seen.changed).toBeGreaterThan(15)
    expect(seen.unchanged).toBeGreaterThan(5)
  })

  it('is visited no more often than `min` and no more rarely than `max`', () => {
    expect(follow(1000, 30).record.every).toBe(MINUTE)
    expect(follow(1e12, 30, { max: '3d' }).record.every).toBe(3 * DAY)
  })

  it('keeps what a 304 does not repeat', () => {
    const schedule = refresher()
    const first = schedule.observed('a.example', undefined, sight(START, { etag: '"1"', modified: 'then' }))
    const second = schedule.observed('a.example', first.record, {
      ...sight(START + DAY, { status: 304, conditional: true }),
      digest: undefined,
    })
    expect(second.change).toBe('unchanged')
    expect(second.record).toMatchObject({ digest: 'a', etag: '"1"', modified: 'then' })
    // An ETag that is not sent any more is not known any more.
    const third = schedule.observed('a.example', second.record, sight(START + 2 * DAY))
    expect(third.record.etag).toBeUndefined()
  })
})

describe('a page that is not there', () => {
  it('is gone after two tries, is tried ever more rarely, and comes back as new', () => {
    const schedule = refresher({ min: HOUR, max: '4d', first: '1d' })
    const first = schedule.observed('a.example', undefined, sight(START))
    const once = schedule.missed('a.example', first.record, 'not-found', START + DAY)
    expect(once.change).toBeUndefined()
    expect(once.at - START - DAY).toBe(3 * HOUR)
    let gone = schedule.missed('a.example', once.record, 'not-found', once.at)
    expect(gone.change).toBe('gone')
    expect(schedule.conditionOf(gone.record, 0.99)).toBeUndefined()
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      const again = schedule.missed('a.example', gone.record, 'not-found', gone.at)
      expect(again.change).toBeUndefined()
      waits.push((again.at - gone.at) / DAY)
      gone = again
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 64, 64])
    const back = schedule.observed('a.example', gone.record, sight(gone.at))
    expect(back.change).toBe('new')
    expect(back.record).not.toHaveProperty('gone')
    expect(back.record).not.toHaveProperty('misses')
  })

  it('is given more tries if nobody answers, and none are lost if it was only put off', () => {
    const schedule = refresher()
    let { record } = schedule.observed('a.example', undefined, sight(START))
    const changes = [1, 2, 3, 4].map((day) => {
      const planned = schedule.missed('a.example', record, 'failed', START + day * DAY)
      record = planned.record
      return planned.change
    })
    expect(changes).toEqual([undefined, undefined, undefined, 'gone'])
    const known = schedule.observed('b.example', undefined, sight(START)).record
    expect(schedule.missed('b.example', known, 'put-off', START)).toEqual({
      change: undefined,
      record: known,
      at: START + DAY,
    })
  })

  it.each([
    ['failed', 1],
    ['not-found', 2],
    ['gone', 2],
  ] as const)(
    'and never was (%s): is asked for after %i days, ever more rarely, and is new then',
    (miss, days) => {
      const schedule = refresher({ min: HOUR, max: '8d', first: '1d' })
      let planned = schedule.failed('a.example', 3, miss, START)
      expect([schedule.pages, schedule.serverOf('a.example')!.pages]).toEqual([1, 1])
      const waits = [(planned.at - START) / DAY]
      for (let i = 0; i < 5; i++) {
        const { record, at } = planned
        planned = schedule.missed('a.example', record, miss, at)
        expect(planned.change).toBeUndefined()
        waits.push((planned.at - at) / DAY)
      }
      expect(waits).toEqual([days, 4, 8, 16, 32, 64])
      const there = schedule.observed('a.example', planned.record, sight(planned.at))
      const unknown = refresher({ min: HOUR, max: '8d', first: '1d' }).observed(
        'a.example',
        undefined,
        sight(planned.at),
      )
      expect(there).toEqual(unknown)
      expect(schedule.pages).toBe(1)
    },
  )

  it('no longer counts for its server at its old pace', () => {
    const schedule = refresher({ first: HOUR, max: '10d' })
    const { record } = schedule.observed('a.example', undefined, sight(START))
    expect(1 / schedule.serverOf('a.example')!.load).toBeCloseTo(HOUR, 3)
    schedule.missed('a.example', record, 'gone', START + HOUR)
    expect(1 / schedule.serverOf('a.example')!.load).toBeCloseTo(2.5 * DAY, 0)
  })
})

describe('what cannot be done', () => {
  it('is stretched: a server by its own measure, and all by the sockets', () => {
    const schedule = refresher({ min: MINUTE, first: MINUTE, max: '30d', share: 0.5 }, 2, 1000)
    for (let page = 0; page < 100; page++) schedule.observed('big.example', undefined, sight(START))
    // 100 pages a minute wish a visit every 0.6 s; half of what the server allows is one in 2.4 s.
    const stretch = 2.4 / 0.6
    const { at } = schedule.missed(
      'big.example',
      { ...schedule.observed('big.example', undefined, sight(START)).record },
      'put-off',
      START,
    )
    expect((at - START) / MINUTE).toBeGreaterThan(stretch * 0.98)
    expect((at - START) / MINUTE).toBeLessThan(stretch * 1.05)
    const { feasible, infeasibleServers, socketsAvailable } = schedule.feasibility()
    expect({ feasible, infeasibleServers, socketsAvailable }).toEqual({
      feasible: false,
      infeasibleServers: 1,
      socketsAvailable: 1,
    })
    for (let server = 0; server < 1000; server++) {
      for (let page = 0; page < 2; page++) schedule.observed(`${server}.example`, undefined, sight(START))
    }
    const told = schedule.feasibility()
    expect(told.socketsNeeded).toBeGreaterThan(5)
    expect(told.stretch).toBeGreaterThan(5)
    expect(told.socketsScheduled).toBeLessThanOrEqual(1)
  })
})

describe('servers that move to another shard', () => {
  it('take what is known of them along', () => {
    const here = refresher()
    here.observed('a.example', undefined, sight(START))
    here.observed('b.example', undefined, sight(START))
    const left = here.release((host) => host === 'a.example')
    expect(left.map(([host]) => host)).toEqual(['a.example'])
    expect(here.serverOf('a.example')).toBeUndefined()
    const there = refresher()
    for (const [host, record] of left) there.restore(host, record)
    expect(there.serverOf('a.example')).toEqual(left[0]![1])
    expect(there.feasibility().pages).toBe(1)
  })
})

describe('the aim `fresh`', () => {
  it('deals the same visits out anew: more for pages that can be followed, fewer for those that cannot', () => {
    const kinds = [
      { host: 'fast.example', changeMs: 2 * MINUTE, pages: 5 },
      { host: 'slow.example', changeMs: 5 * DAY, pages: 50 },
    ]
    const everyOf = (aim: 'archive' | 'fresh') => {
      const schedule = refresher({ aim, min: MINUTE, max: '30d', first: HOUR })
      const pages = kinds.flatMap(({ pages, ...kind }) =>
        Array.from({ length: pages }, () => ({
          ...kind,
          at: START,
          before: undefined as PageRecord | undefined,
        })),
      )
      for (let visit = 0; visit < 25; visit++) {
        for (const page of pages) {
          const digest = String(Math.floor((page.at - START) / page.changeMs))
          const { record, at } = schedule.observed(page.host, page.before, sight(page.at, { digest }))
          Object.assign(page, { before: record, at })
        }
      }
      const mean = (host: string) => {
        const all = pages.filter((page) => page.host === host).map(({ before }) => before!.every)
        return all.reduce((sum, every) => sum + every, 0) / all.length
      }
      return { fast: mean('fast.example'), slow: mean('slow.example') }
    }
    const archive = everyOf('archive')
    const fresh = everyOf('fresh')
    expect(fresh.slow).toBeLessThan(archive.slow / 2)
    expect(fresh.fast).toBeGreaterThan(archive.fast)
  })
})
