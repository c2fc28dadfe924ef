/** The simulation of refreshing, against closed forms, against a slow reckoning, and against what cannot be otherwise. */

import {
  describeWorld,
  type RefreshSimulation,
  type RefreshWorld,
  refreshRules,
  simulateRefresh,
  worldOf,
} from 'kumo/sim'
import { describe, expect, test } from 'vitest'
import type { PageRecord, ServerRecord } from '../../../src/refresh/contract.js'
import { ChangingPages } from '../../../src/sim/refresh/changing-pages.js'
import { Punctuality } from '../../../src/sim/refresh/punctuality.js'
import { RefreshRun } from '../../../src/sim/refresh/run.js'
import { seededRandom } from '../../../src/time.js'
import { cpuMs } from '../../cpu-time.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Pages that are all visited at this interval, whatever is learned of them. */
const regular = (everyMs: number) => refreshRules({ min: everyMs, max: everyMs, first: everyMs })

function alike(servers: number, pagesPerServer: number, changeMs: number, downloadMs = 100): RefreshWorld {
  return describeWorld({
    servers,
    pagesPerServer,
    changeMs: { mean: changeMs },
    downloadMs: { mean: downloadMs },
  })
}

const simulation = (given: Partial<RefreshSimulation>): RefreshSimulation => ({
  sockets: 100,
  delayMs: 1000,
  refresh: regular(HOUR),
  learningMs: 2 * HOUR,
  durationMs: 2 * DAY,
  ...given,
})

describe('regular visits to Poisson pages come to what Cho & Garcia-Molina (2003) reckon', () => {
  // Changes between two visits on average.
  test.each([0.1, 1, 5])('%d changes between visits', (x) => {
    const downloadMs = 100
    const world = alike(400, 5, (HOUR + downloadMs) / x, downloadMs)
    const forecast = simulateRefresh(world, simulation({}))
    const caught = (1 - Math.exp(-x)) / x
    expect(forecast.caughtShare).toBeCloseTo(caught, 1.7)
    expect(forecast.freshness).toBeCloseTo(caught, 1.7)
    const age = HOUR * (1 / 2 - 1 / x + (1 - Math.exp(-x)) / (x * x))
    expect(forecast.meanAgeMs / age).toBeGreaterThan(0.97)
    expect(forecast.meanAgeMs / age).toBeLessThan(1.03)
    const changes = (2000 * 2 * DAY * x) / HOUR
    expect(Math.abs(forecast.changes - changes)).toBeLessThan(4 * Math.sqrt(changes) + 1e-4 * changes)
    const visits = (2000 * 2 * DAY) / (HOUR + downloadMs)
    expect(Math.abs(forecast.visits - visits)).toBeLessThan(0.002 * visits + 2000)
    expect(forecast.bytes).toBe(forecast.visits * 22_000)
    expect(forecast.missed).toBe(0)
    expect(forecast.socketsUsed.mean / ((forecast.visits * downloadMs) / (2 * DAY))).toBeCloseTo(1, 2)
  })

  test('a page that never changes is fresh for ever once it was seen', () => {
    const forecast = simulateRefresh(alike(10, 5, Number.POSITIVE_INFINITY), simulation({}))
    expect(forecast).toMatchObject({ changes: 0, caught: 0, caughtShare: 1, freshness: 1, meanAgeMs: 0 })
  })
})

describe('the truth about pages', () => {
  test('copies are scored as somebody would who watches all the time', () => {
    const random = seededRandom(5)
    const changeMs = [40, 300, 1500]
    const end = 6000
    const scoredFrom = 1500.5
    // One after the other, and each takes its time.
    const looks = Array.from({ length: 40 }, (_, i) => {
      const askedAt = (i * end) / 40 + random.next() * 50
      return { page: Math.floor(random.next() * 3), askedAt, at: askedAt + random.next() * 90 }
    })
    // Nobody's looks change anything, so another one finds out when pages change.
    const step = 0.05
    const watched = new ChangingPages(9)
    for (const ms of changeMs) watched.add(ms, 0)
    const changesAt: number[][] = changeMs.map((_, page) => {
      const at: number[] = []
      for (let t = 0, seen = 0; t <= end; t += step) {
        for (const now = watched.recordFetch(page, t); seen < now; seen++) at.push(t)
      }
      return at
    })
    let changes = 0
    let caught = 0
    let fresh = 0
    let age = 0
    for (const [page, changed] of changesAt.entries()) {
      const mine = looks.filter((look) => look.page === page)
      changes += changed.filter((at) => at >= scoredFrom).length
      for (const [i, { askedAt, at }] of mine.entries()) {
        const before = mine[i - 1]?.askedAt ?? 0
        if (at >= scoredFrom && changed.some((t) => t > before && t <= askedAt)) caught++
      }
      for (let t = scoredFrom; t < end; t += step) {
        const copied = mine.filter(({ at }) => at <= t).at(-1)?.askedAt
        const staleSince = copied === undefined ? 0 : changed.find((at) => at > copied)
        if (staleSince === undefined || staleSince > t) fresh++
        else age += t - staleSince
      }
    }
    const samples = (3 * (end - scoredFrom)) / step

    const pages = new ChangingPages(9)
    for (const ms of changeMs) pages.add(ms, 0)
    let isScored = false
    for (const { page, askedAt, at } of looks) {
      if (at >= scoredFrom && !isScored) {
        isScored = true
        pages.scoreFrom(scoredFrom)
      }
      pages.recordFetch(page, askedAt, at)
    }
    const score = pages.finish(end)
    expect(changes).toBeGreaterThan(100)
    expect(score).toMatchObject({ changes, caught })
    expect(score.freshness).toBeCloseTo(fresh / samples, 3)
    expect(score.meanAgeMs / (age / samples)).toBeCloseTo(1, 3)
  })

  test('pages that change all the time are counted without being played through', () => {
    const pages = new ChangingPages(1)
    const page = pages.add(1, 0)
    pages.scoreFrom(DAY)
    const before = cpuMs()
    pages.recordFetch(page, 2 * DAY)
    pages.recordFetch(page, 11 * DAY)
    expect(cpuMs() - before).toBeLessThan(5000)
    const { changes, caught } = pages.finish(11 * DAY)
    expect(caught).toBe(2)
    expect(Math.abs(changes - 10 * DAY)).toBeLessThan(6 * Math.sqrt(10 * DAY))
  })
})

describe('chance', () => {
  const world = describeWorld({
    servers: 30,
    pagesPerServer: 10,
    changeMs: { min: HOUR, max: 10 * DAY },
    downloadMs: { median: 500, spread: 1 },
  })
  const rules = { refresh: refreshRules(), downloadSpread: 0.8, durationMs: 5 * DAY }

  test('the same seed gives the same forecast, another one another', () => {
    const forecast = simulateRefresh(world, simulation({ ...rules, seed: 3 }))
    expect(simulateRefresh(world, simulation({ ...rules, seed: 3 }))).toEqual(forecast)
    expect(simulateRefresh(world, simulation({ ...rules, seed: 4 })).changes).not.toBe(forecast.changes)
  })

  test('visits that were wished and not made are told', () => {
    // 500 pages wish a visit every hour, and downloads of a minute would take 8.3 sockets.
    const forecast = simulateRefresh(alike(100, 5, HOUR, 60_000), simulation({ sockets: 2 }))
    const wished = (500 * 2 * DAY) / HOUR
    expect(forecast.missed).toBeGreaterThan(2 * forecast.visits)
    // What is left of a round at the end of a stretched interval counts as neither.
    expect((forecast.visits + forecast.missed) / wished).toBeGreaterThan(0.7)
    expect((forecast.visits + forecast.missed) / wished).toBeLessThan(1.02)
  })

  test('pages change alike whatever the sockets', () => {
    const few = simulateRefresh(world, simulation({ ...rules, sockets: 1 }))
    const many = simulateRefresh(world, simulation({ ...rules, sockets: 50 }))
    expect(few.visits).not.toBe(many.visits)
    expect(few.changes).toBe(many.changes)
  })

  test('downloads that differ take as long on average', () => {
    const same = alike(50, 20, DAY, 2000)
    const forecast = simulateRefresh(same, simulation({ downloadSpread: 0.8, durationMs: 10 * DAY }))
    const meanMs = (forecast.socketsUsed.mean * 10 * DAY) / forecast.visits
    expect(meanMs / 2000).toBeGreaterThan(0.98)
    expect(meanMs / 2000).toBeLessThan(1.02)
  })
})

describe('limits', () => {
  test('never more downloads at a time than sockets; too few sockets are all used, and wishes stretched', () => {
    // 60 pages a minute of 4 s each would take 4 sockets.
    const forecast = simulateRefresh(
      alike(60, 1, HOUR, 4000),
      simulation({ sockets: 2, refresh: regular(MINUTE), learningMs: HOUR, durationMs: 5 * HOUR }),
    )
    expect(forecast.socketsUsed.peak).toBe(2)
    expect(forecast.socketsUsed.mean).toBeGreaterThan(1.7)
    expect(forecast.socketsUsed.mean).toBeLessThanOrEqual(2)
    expect(forecast.feasibility).toMatchObject({ feasible: false, socketsNeeded: 4, servers: 60, pages: 60 })
    // 4 sockets for 90 % of 2.
    expect(forecast.feasibility.stretch).toBeCloseTo(4 / 1.8, 1)
    expect(forecast.lateness.starved).toBe(0)
    // An interval begins where a download ends: what is behind is what was added to it.
    const behind = forecast.behindTarget.meanMs / (MINUTE * (forecast.feasibility.stretch - 1))
    expect(behind).toBeGreaterThan(0.95)
    expect(behind).toBeLessThan(1.1)
    expect(forecast.behindTarget.worstToMean).toBeLessThan(1.1)
  })

  test('a server rests after each visit, as long as it asks for itself', () => {
    const pages = Array.from({ length: 100 }, () => ({ changeMs: DAY, bytes: 7 }))
    const visitsWith = (delayMs: number | undefined) => {
      const server = { host: 'a.example', pages, downloadMs: 500 }
      const world = { servers: [delayMs === undefined ? server : { ...server, delayMs }] }
      const forecast = simulateRefresh(
        world,
        simulation({ refresh: regular(MINUTE), learningMs: 0, durationMs: HOUR }),
      )
      expect(forecast.socketsUsed.peak).toBe(1)
      expect(forecast.bytes).toBe(7 * forecast.visits)
      expect(forecast.feasibility.infeasibleServers).toBe(1)
      return forecast.visits
    }
    const plain = visitsWith(undefined)
    expect(plain).toBeLessThanOrEqual(HOUR / 1500 + 1)
    expect(plain).toBeGreaterThan((0.85 * HOUR) / 1500)
    const asked = visitsWith(9500)
    expect(asked).toBeLessThanOrEqual(HOUR / 10_000 + 2)
    expect(asked).toBeGreaterThan((0.85 * HOUR) / 10_000)
  })

  test('servers that nobody comes to starve, and what was learned does not count', () => {
    // One socket, and a first download that is still going on when all is over.
    const slow = simulateRefresh(
      alike(5, 2, DAY, 3 * DAY),
      simulation({ sockets: 1, learningMs: HOUR, durationMs: DAY }),
    )
    expect(slow).toMatchObject({ visits: 0, bytes: 0, caught: 0, freshness: 0 })
    expect(slow.socketsUsed).toEqual({ mean: 1, peak: 1 })
    // The one with a visit under way has a second page that waits.
    expect(slow.lateness).toEqual({ meanMs: 0, worstMs: 0, worstToMean: 1, starved: 5 })
  })

  test('pages that are added later are visited too, and the backlog tells of what waits', () => {
    const options = simulation({ sockets: 1, refresh: regular(MINUTE) })
    const run = new RefreshRun(options)
    const [first, second] = alike(2, 3, DAY, 5000).servers
    run.add(first!)
    run.goTo(run.start + 1)
    expect(run.backlog()).toEqual({ overdue: 0, unseen: 3 })
    run.goTo(run.start + 40_000)
    expect(run.backlog()).toEqual({ overdue: 0, unseen: 0 })
    run.add(second!)
    run.add({ ...first!, pages: first!.pages.slice(1) })
    expect(run.backlog()).toEqual({ overdue: 0, unseen: 5 })
    run.goTo(run.start + 10 * MINUTE)
    expect(run.backlog().unseen).toBe(0)
    expect(run.schedule.feasibility()).toMatchObject({ servers: 2, pages: 8 })
  })
})

test('lateness is that of servers, each as one', () => {
  const punctuality = new Punctuality()
  for (let server = 0; server < 4; server++) punctuality.add()
  for (const ms of [0, 10, 20]) punctuality.late(0, ms)
  punctuality.late(1, 100)
  for (const server of [0, 1]) punctuality.visited(server)
  punctuality.waits(2, 49)
  punctuality.waits(2, 70)
  punctuality.waits(3, 50)
  expect(punctuality.lateness(50)).toEqual({
    meanMs: 130 / 4,
    worstMs: 100,
    worstToMean: 100 / 55,
    starved: 1,
  })
})

describe('worlds', () => {
  const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b)
  const quantile = (values: readonly number[], share: number) =>
    sorted(values)[Math.floor(share * values.length)]!

  test('are drawn as described', () => {
    const world = describeWorld({
      servers: 2000,
      pagesPerServer: 5,
      changeMs: { median: DAY, spread: 1.5 },
      downloadMs: { min: 10, max: 100_000 },
    })
    expect(new Set(world.servers.map(({ host }) => host)).size).toBe(2000)
    const changes = world.servers.flatMap(({ pages }) =>
      pages.map(({ changeMs }) => Math.log(changeMs / DAY) / 1.5),
    )
    expect(changes).toHaveLength(10_000)
    // Where a normal distribution has its quantiles.
    for (const [share, at] of [
      [0.1587, -1],
      [0.5, 0],
      [0.8413, 1],
    ] as const) {
      expect(Math.abs(quantile(changes, share) - at)).toBeLessThan(0.06)
    }
    const downloads = world.servers.map(({ downloadMs }) => Math.log10(downloadMs))
    expect(Math.min(...downloads)).toBeGreaterThanOrEqual(1)
    expect(Math.max(...downloads)).toBeLessThanOrEqual(5)
    for (const share of [0.1, 0.5, 0.9])
      expect(Math.abs(quantile(downloads, share) - 1 - 4 * share)).toBeLessThan(0.15)
    expect(describeWorld({ ...figures, seed: 7 })).toEqual(describeWorld({ ...figures, seed: 7 }))
    expect(describeWorld({ ...figures, seed: 7 })).not.toEqual(describeWorld({ ...figures, seed: 8 }))
  })

  const figures = { servers: 2, pagesPerServer: 2, changeMs: { min: 1, max: 9 }, downloadMs: { mean: 5 } }

  test.each([
    { mean: 0 },
    { mean: Number.NaN },
    { median: -1, spread: 1 },
    { median: 1, spread: -1 },
    { min: 2, max: 1 },
  ])('not as %j', (changeMs) => {
    expect(() => describeWorld({ ...figures, changeMs })).toThrow('changeMs: got ')
  })

  const page = (change: number, more: Partial<PageRecord> = {}): PageRecord => ({
    at: 1,
    every: 2,
    depth: 0,
    history: '',
    change,
    ...more,
  })
  const server = (download: number, delay?: number): ServerRecord => ({
    pages: 1,
    load: 1,
    download,
    ...(delay !== undefined && { delay }),
  })

  test('are what a crawl has learned, without what is gone', async () => {
    const pages: [string, PageRecord][] = [
      ['https://a.example/1', page(10)],
      ['https://b.example:8080/', page(20)],
      ['https://a.example/2', page(30)],
      ['https://a.example/3', page(40, { gone: 2 })],
      ['https://c.example/', page(50)],
      ['https://gone.example/', page(60, { gone: 0 })],
    ]
    async function* servers(): AsyncGenerator<[string, ServerRecord]> {
      yield ['a.example', server(200, 5000)]
      yield ['b.example:8080', server(400)]
      yield ['c.example', server(0)]
      yield ['gone.example', server(10_000)]
    }
    expect(await worldOf({ servers: servers(), pages, bytesPerPage: 9 })).toEqual({
      servers: [
        {
          host: 'a.example',
          downloadMs: 200,
          delayMs: 5000,
          pages: [
            { changeMs: 10, bytes: 9 },
            { changeMs: 30, bytes: 9 },
          ],
        },
        { host: 'b.example:8080', downloadMs: 400, pages: [{ changeMs: 20, bytes: 9 }] },
        // Nobody knows, so as the others.
        { host: 'c.example', downloadMs: 300, pages: [{ changeMs: 50, bytes: 9 }] },
      ],
    })
    const [bare] = (await worldOf({ servers: [], pages: [pages[0]!] })).servers
    expect(bare).toEqual({ host: 'a.example', downloadMs: 1000, pages: [{ changeMs: 10 }] })
  })
})
