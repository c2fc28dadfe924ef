import { describe, expect, it } from 'vitest'
import type { RefreshPolicy, ServerRecord } from '../../src/refresh/contract.js'
import { ServerTable } from '../../src/refresh/server-table.js'
import { Servers } from '../../src/refresh/servers.js'
import { type Random, seededRandom } from '../../src/time.js'

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR
/** A November afternoon: instants as large as those of a real crawl. */
const NOW = 1_795_000_000_000

function servers(sockets = 10, minIntervalMs = SECOND, policy: RefreshPolicy = 'auto'): Servers {
  return new Servers({ sockets, minIntervalMs, policy })
}

/** The interval at which a server of a table with the policy `freq` is visited. */
function intervalOf(table: Servers, host: string): number {
  return table.policy({ host, readyAt: 0 })
}

/** The deadline of a server that begins to wait at `readyAt`, in a table with the policy `edf`. */
function deadlineOf(table: Servers, host: string, readyAt: number): number {
  return table.policy({ host, readyAt })
}

/** A server whose pages wish a visit every so many ms between them. */
function record(accessMs: number, download = 100, more: Partial<ServerRecord> = {}): ServerRecord {
  return { pages: 10, load: 1 / accessMs, download, ...more }
}

/** What the table should know, kept as lists and reckoned anew each time. */
interface Model {
  readonly pages: number[]
  download: number
  delay: number
}

function meanDownload(models: readonly Model[]): number {
  const known = models.filter(({ download }) => download > 0)
  return known.length === 0 ? SECOND : known.reduce((sum, { download }) => sum + download, 0) / known.length
}

class Reckoning {
  readonly #rows: { load: number; download: number; shortest: number }[]

  constructor(models: Iterable<Model>, minIntervalMs: number) {
    const all = [...models]
    const mean = meanDownload(all)
    this.#rows = all.map(({ pages, download, delay }) => {
      const time = download || mean
      const load = pages.reduce((sum, every) => sum + 1 / every, 0)
      return { load, download: time, shortest: Math.max(minIntervalMs, delay) + time }
    })
  }

  /** Eq. 4 as it is written, with eq. 2–3 for intervals that are lengthened. */
  sockets(stretch: number): number {
    return this.#rows.reduce((sum, { load, download, shortest }) => {
      return load === 0 ? sum : sum + Math.min(download / Math.max(stretch / load, shortest), 1)
    }, 0)
  }

  least(available: number): number {
    if (this.sockets(1) <= available) return 1
    let [low, high] = [1, 1e12]
    for (let i = 0; i < 200; i++) {
      const middle = Math.sqrt(low * high)
      if (this.sockets(middle) > available) low = middle
      else high = middle
    }
    return high
  }

  get infeasible(): number {
    return this.#rows.filter(({ load, shortest }) => load * shortest > 1 + 1e-9).length
  }
}

function spread(random: Random, from: number, to: number): number {
  return from * (to / from) ** random.next()
}

describe('Servers against brute force', () => {
  const walks = [
    { seed: 1, sockets: 2, minIntervalMs: SECOND, unknown: 0 },
    { seed: 2, sockets: 20, minIntervalMs: 10 * SECOND, unknown: 0 },
    { seed: 3, sockets: 5, minIntervalMs: 0, unknown: 0 },
    { seed: 4, sockets: 8, minIntervalMs: SECOND, unknown: 0.3 },
    { seed: 5, sockets: 1000, minIntervalMs: SECOND, unknown: 0.5 },
  ]
  it.each(walks)('any changes, seed $seed', ({ seed, sockets, minIntervalMs, unknown }) => {
    const random = seededRandom(seed)
    const table = servers(sockets, minIntervalMs, 'freq')
    const models = new Map<string, Model>()
    // The mean that stands in for unknown downloads may be out of date by two per cent.
    const slack = unknown > 0 ? 1.03 : 1 + 1e-6
    let stretched = 0
    for (let step = 1; step <= 6000; step++) {
      const host = `host-${Math.floor(random.next() * 300)}.example`
      const model = models.get(host) ?? { pages: [], download: 0, delay: 0 }
      const dice = random.next()
      if (unknown === 0 && !models.has(host)) {
        models.set(host, model)
        model.download = spread(random, 10, 20 * SECOND)
        table.downloaded(host, model.download)
      }
      if (dice < 0.03) {
        expect(table.remove(host) !== undefined).toBe(models.delete(host))
      } else if (dice < 0.5) {
        models.set(host, model)
        const now = spread(random, 100, 30 * DAY)
        const place = model.pages.length > 0 && random.next() < 0.3 ? 0 : -1
        table.updateInterval(host, place < 0 ? undefined : model.pages[0], now)
        model.pages.splice(Math.max(place, 0), place < 0 ? 0 : 1, now)
      } else if (dice < 0.7 && model.pages.length > 0) {
        table.updateInterval(host, model.pages.pop(), undefined)
      } else if (random.next() >= unknown) {
        models.set(host, model)
        const delay = random.next() < 0.1 ? spread(random, 1, 60 * SECOND) : undefined
        model.download = spread(random, 10, 20 * SECOND)
        model.delay = delay === undefined || delay <= minIntervalMs ? 0 : delay
        const { pages = 0, load = 0 } = table.get(host) ?? {}
        table.put(host, { pages, load, download: model.download, delay })
      }
      if (step % 200 !== 0) continue
      const truth = new Reckoning(models.values(), minIntervalMs)
      const { stretch, socketsNeeded, infeasibleServers, socketsScheduled } = table.pressure()
      const exact = truth.least(sockets)
      if (exact > 1) stretched++
      expect(truth.sockets(stretch)).toBeLessThanOrEqual(sockets * slack)
      if (stretch > 1) expect(truth.sockets(stretch / 1.0101)).toBeGreaterThanOrEqual(sockets / slack)
      if (unknown === 0) {
        expect(socketsNeeded).toBe(Math.ceil(truth.sockets(1)))
        expect(infeasibleServers).toBe(truth.infeasible)
        expect(stretch).toBeGreaterThanOrEqual(exact * (1 - 1e-6))
        expect(stretch).toBeLessThanOrEqual(exact * 1.0101)
      }
      expect(socketsScheduled).toBeLessThanOrEqual(sockets)
      expect(table.size).toBe(models.size)
      const mean = meanDownload([...models.values()])
      for (const [name, { pages, download, delay }] of models) {
        const shortest = Math.max(minIntervalMs, delay) + (download || mean)
        const load = pages.reduce((sum, every) => sum + 1 / every, 0)
        const own = Math.max(stretch, load * shortest)
        expect(table.stretchOf(name) / own).toBeCloseTo(1, unknown > 0 ? 1 : 8)
        const interval = load === 0 ? Number.POSITIVE_INFINITY : Math.max(stretch / load, shortest)
        if (load === 0) expect(intervalOf(table, name)).toBe(interval)
        else expect(intervalOf(table, name) / interval).toBeCloseTo(1, unknown > 0 ? 1 : 8)
        expect(table.get(name)!.pages).toBe(pages.length)
      }
    }
    if (sockets < 1000) expect(stretched).toBeGreaterThan(0)
  })
})

describe('a server', () => {
  it('comes back as it was put', () => {
    const table = servers()
    const full: ServerRecord = { pages: 3, load: 0.001, download: 250, delay: 5000, habit: [17.5, 12] }
    const bare: ServerRecord = { pages: 0, load: 0, download: 0 }
    table.put('full.example', full)
    table.put('bare.example', bare)
    expect(table.get('full.example')).toEqual(full)
    expect(table.get('bare.example')).toEqual(bare)
    expect(JSON.parse(JSON.stringify(table.get('full.example')))).toEqual(full)
    expect([...table.hosts()]).toEqual(['full.example', 'bare.example'])
    expect(table.remove('full.example')).toEqual(full)
    expect(table.remove('full.example')).toBeUndefined()
    expect(table.get('full.example')).toBeUndefined()
    expect(table.size).toBe(1)
  })

  it('leaves nothing to whoever gets its row', () => {
    const table = servers(1)
    table.put('old.example', record(10, 900, { delay: 9000, habit: [9, 9] }))
    table.remove('old.example')
    expect(table.pressure()).toEqual({
      stretch: 1,
      socketsNeeded: 0,
      socketsScheduled: 0,
      infeasibleServers: 0,
    })
    table.updateInterval('new.example', undefined, HOUR)
    expect(table.get('new.example')).toEqual({ pages: 1, load: 1 / HOUR, download: 0 })
    expect(table.typicalChangeMs('new.example')).toBeUndefined()
  })

  it('asks for what its pages wish, as far as it can take it, whatever the sockets here allow', () => {
    const table = servers(1)
    table.put('1-slow.example', record(30 * DAY, 200))
    table.put('2-often.example', record(2 * SECOND, 500))
    table.put('2-too-often.example', record(SECOND / 10, 500))
    table.put('3-idle.example', { pages: 0, load: 0, download: 100 })
    expect(table.pressure().stretch).toBeGreaterThanOrEqual(1)
    const demand = table.demandBy((host) => Number.parseInt(host, 10))
    expect([...demand.keys()]).toEqual([1, 2])
    expect(demand.get(1)).toBeCloseTo(1 / (30 * 86_400), 12)
    // Once in two seconds, and once in a download and the pause after it.
    expect(demand.get(2)).toBeCloseTo(1 / 2 + 1 / 1.5, 12)
  })

  it('gives its row up when it goes, so that coming and going takes no memory', () => {
    const table = new ServerTable()
    const rows = new Set<number>()
    for (let i = 0; i < 1000; i++) {
      rows.add(table.add(`${i}.example`))
      if (i >= 3) table.delete(`${i - 3}.example`)
    }
    expect(table.size).toBe(3)
    expect(rows.size).toBe(4)
  })

  it('is replaced as a whole', () => {
    const table = servers(1)
    table.put('a.example', record(10, 900, { delay: 9000, habit: [9, 9] }))
    table.put('a.example', record(HOUR, 200))
    expect(table.get('a.example')).toEqual(record(HOUR, 200))
    expect(table.pressure().stretch).toBe(1)
  })

  it('is not made by what says nothing', () => {
    const table = servers()
    table.updateInterval('a.example', undefined, undefined)
    table.updateInterval('a.example', DAY, undefined)
    table.downloaded('a.example', Number.NaN)
    table.addChangeInterval('a.example', Number.POSITIVE_INFINITY)
    table.addChangeInterval('a.example', 0)
    expect(table.size).toBe(0)
    expect(table.get('a.example')).toBeUndefined()
  })

  it('that is unknown is scheduled for nothing', () => {
    const table = servers(10, 1500, 'freq')
    expect(intervalOf(table, 'a.example')).toBe(Number.POSITIVE_INFINITY)
    expect(table.stretchOf('a.example')).toBe(1)
    table.downloaded('a.example', 300, 4000)
    expect(intervalOf(table, 'a.example')).toBe(Number.POSITIVE_INFINITY)
  })

  it('has no load left when its last page goes', () => {
    const random = seededRandom(3)
    const table = servers()
    const pages = Array.from({ length: 500 }, () => spread(random, SECOND, 400 * DAY))
    for (const every of pages) table.updateInterval('a.example', undefined, every)
    const load = pages.reduce((sum, every) => sum + 1 / every, 0)
    expect(table.get('a.example')!.load).toBeCloseTo(load, 12)
    for (const every of pages.toReversed()) table.updateInterval('a.example', every, undefined)
    expect(table.get('a.example')).toEqual({ pages: 0, load: 0, download: 0 })
    expect(table.pressure().socketsNeeded).toBe(0)
  })

  it('is not harmed by a store that holds nonsense', () => {
    const table = servers(1)
    table.put('a.example', {
      pages: Number.NaN,
      load: Number.NaN,
      download: -5,
      delay: Number.NaN,
      habit: [Number.NaN, 3],
    })
    table.put('b.example', { pages: 3, load: Number.POSITIVE_INFINITY, download: Number.NaN })
    table.put('c.example', record(100, 50))
    expect(table.pressure()).toEqual({
      stretch: 1,
      socketsNeeded: 1,
      socketsScheduled: 1,
      infeasibleServers: 1,
    })
    expect(table.get('a.example')).toEqual({ pages: 0, load: 0, download: 0 })
  })
})

describe('what is learned of a server', () => {
  it('the time of a download: a mean at first, and then one that forgets', () => {
    const table = servers()
    for (const ms of [100, 200, 600]) table.downloaded('a.example', ms)
    expect(table.get('a.example')!.download).toBeCloseTo(300, 9)
    for (let i = 0; i < 100; i++) table.downloaded('a.example', 300)
    table.downloaded('a.example', 1900)
    expect(table.get('a.example')!.download).toBeCloseTo(300 + 1600 / 6, 6)
    // Slow from now on: after 6 more, about two thirds of the way.
    for (let i = 0; i < 6; i++) table.downloaded('a.example', 1900)
    expect(table.get('a.example')!.download).toBeGreaterThan(1200)
  })

  it('what was remembered is not overthrown by the first download after a restart', () => {
    const table = servers()
    table.put('a.example', record(DAY, 320))
    table.downloaded('a.example', 3520)
    expect(table.get('a.example')!.download).toBeCloseTo(320 + 3200 / 6, 9)
  })

  it('a download that took no time is a known one', () => {
    const table = servers()
    table.downloaded('a.example', 0)
    expect(table.get('a.example')!.download).toBeGreaterThan(0)
    expect(table.get('a.example')!.download).toBeLessThan(0.01)
  })

  it('the pause that it asks for, until it asks for another', () => {
    const table = servers(10, SECOND)
    table.downloaded('a.example', 100, 5000)
    table.downloaded('a.example', 100)
    expect(table.get('a.example')!.delay).toBe(5000)
    table.downloaded('a.example', 100, 1000)
    expect(table.get('a.example')).not.toHaveProperty('delay')
  })

  it('its habit is the geometric mean', () => {
    const table = servers()
    expect(table.typicalChangeMs('a.example')).toBeUndefined()
    const seen = [HOUR, 4 * HOUR, 2 * DAY, 90 * DAY]
    for (const ms of seen) table.addChangeInterval('a.example', ms)
    const product = seen.reduce((all, ms) => all * (ms / HOUR), 1)
    expect(table.typicalChangeMs('a.example')! / HOUR).toBeCloseTo(product ** (1 / 4), 6)
    expect(table.get('a.example')!.habit![1]).toBe(4)
  })

  it('e_i is the time that a visit holds a slot, and a pause runs meanwhile', () => {
    const table = servers(1, SECOND, 'freq')
    const byDeadline = servers(1, SECOND, 'edf')
    for (const each of [table, byDeadline]) {
      each.updateInterval('a.example', undefined, 100)
      for (let visit = 0; visit < 3; visit++) {
        each.downloaded('a.example', 200)
        each.held('a.example', 300)
      }
    }
    // The pause of a second begins when the download ends, and the hooks are done before it is over.
    expect(intervalOf(table, 'a.example')).toBe(1200)
    expect(deadlineOf(byDeadline, 'a.example', 0)).toBe(1200 - 500)
    for (let visit = 0; visit < 200; visit++) {
      table.downloaded('a.example', 200)
      table.held('a.example', 5000)
    }
    expect(intervalOf(table, 'a.example')).toBeCloseTo(5200, -2)
    const kept = table.get('a.example')!
    const restored = servers(1)
    restored.put('a.example', kept)
    expect(restored.get('a.example')).toEqual(kept)
    expect(restored.pressure()).toEqual(table.pressure())
    table.remove('a.example')
    expect(table.pressure().socketsNeeded).toBe(0)
  })

  it('unknown downloads are taken for the mean of the others', () => {
    const table = servers(10, SECOND, 'freq')
    table.updateInterval('a.example', undefined, 100)
    // Nothing known anywhere: a second, and another for the pause.
    expect(intervalOf(table, 'a.example')).toBe(2000)
    // Now 2 s, the mean of the others, and the pause.
    table.put('b.example', record(DAY, 1000))
    table.put('c.example', record(DAY, 3000))
    expect(intervalOf(table, 'a.example')).toBe(3000)
    expect(table.get('a.example')!.download).toBe(0)
    expect(table.pressure().socketsNeeded).toBe(1)
  })
})

describe('the stretch', () => {
  it('is 1 where sockets and servers suffice', () => {
    const table = servers(2)
    for (let i = 0; i < 20; i++) table.put(`${i}.example`, record(10_000, 1000))
    expect(table.pressure()).toEqual({
      stretch: 1,
      socketsNeeded: 2,
      socketsScheduled: 2,
      infeasibleServers: 0,
    })
    expect(table.feasibility().scheduledPerSecond).toBeCloseTo(20 / 10, 9)
    expect(table.feasibility()).toMatchObject({ feasible: true, tight: true, policy: 'edf', worst: [] })
  })

  it('lengthens all alike where sockets are scarce, and relaxes when pages leave', () => {
    const table = servers(2, SECOND, 'freq')
    for (let i = 0; i < 60; i++) table.updateInterval(`${i}.example`, undefined, 10_000)
    for (let i = 0; i < 60; i++) table.downloaded(`${i}.example`, 1000)
    expect(table.pressure().socketsNeeded).toBe(6)
    expect(table.pressure().socketsScheduled).toBe(2)
    expect(table.stretchOf('0.example')).toBeCloseTo(3, 9)
    expect(intervalOf(table, '0.example')).toBeCloseTo(30_000, 5)
    for (let i = 20; i < 40; i++) table.updateInterval(`${i}.example`, 10_000, undefined)
    expect(table.pressure().stretch).toBeCloseTo(2, 9)
    for (let i = 40; i < 60; i++) table.remove(`${i}.example`)
    expect(table.pressure()).toEqual({
      stretch: 1,
      socketsNeeded: 2,
      socketsScheduled: 2,
      infeasibleServers: 0,
    })
  })

  it('is tight where sockets suffice on average only', () => {
    const load = (sockets: number) => {
      const table = servers(sockets)
      for (let i = 0; i < 20; i++) table.put(`${i}.example`, record(10_000, 1000))
      return table.feasibility()
    }
    expect(load(1)).toMatchObject({ feasible: false, tight: false })
    expect(load(2)).toMatchObject({ feasible: true, tight: true })
    expect(load(3)).toMatchObject({ feasible: true, tight: false })
  })

  it('is not tight with a socket for each server', () => {
    const table = servers(2, 0)
    for (let i = 0; i < 2; i++) table.put(`${i}.example`, record(1000, 800))
    expect(table.feasibility()).toMatchObject({ feasible: true, tight: false })
  })

  it('of one server that wishes too much is its own affair', () => {
    const table = servers(10, SECOND, 'freq')
    table.put('eager.example', record(250, 100, { pages: 5000 }))
    table.put('slow.example', record(2000, 3200, { pages: 1 }))
    table.put('shy.example', record(10_000, 100, { delay: 30_000 }))
    table.put('calm.example', record(DAY, 100))
    expect(table.stretchOf('eager.example')).toBeCloseTo(4.4, 9)
    expect(table.stretchOf('slow.example')).toBeCloseTo(2.1, 9)
    expect(table.stretchOf('shy.example')).toBeCloseTo(3.01, 9)
    expect(table.stretchOf('calm.example')).toBe(1)
    expect(intervalOf(table, 'eager.example')).toBe(1100)
    const told = table.feasibility()
    expect(told).toMatchObject({ feasible: false, stretch: 1, infeasibleServers: 3, servers: 4, pages: 5021 })
    expect(told.socketsNeeded).toBe(1)
    expect(told.wantedPerSecond).toBeCloseTo(4 + 0.5 + 0.1 + 1 / 86_400, 9)
    expect(told.scheduledPerSecond).toBeCloseTo(1 / 1.1 + 1 / 4.2 + 1 / 30.1 + 1 / 86_400, 9)
    expect(told.worst.map(({ host, why }) => `${host}: ${why}`)).toEqual([
      'eager.example: 5,000 pages need a visit every 0.3 s, but a visit and the pause after it take 1.1 s',
      'shy.example: 10 pages need a visit every 10.0 s, but a visit and the pause after it take 30.1 s',
      'slow.example: 1 page needs a visit every 2.0 s, but a visit and the pause after it take 4.2 s',
    ])
    expect(told.worst[2]).toMatchObject({ pages: 1, wantedMs: 2000, possibleMs: 4200 })
  })

  it('tells of the ten worst', () => {
    const table = servers(100)
    const random = seededRandom(8)
    const intervals = Array.from({ length: 50 }, () => spread(random, 10, 900))
    for (const [i, every] of intervals.entries()) table.put(`${i}.example`, record(every))
    const worst = table.feasibility().worst.map(({ wantedMs }) => Math.round(wantedMs * 1e6))
    const truth = intervals.toSorted((a, b) => a - b).slice(0, 10)
    expect(worst).toEqual(truth.map((every) => Math.round(every * 1e6)))
    expect(table.feasibility().infeasibleServers).toBe(50)
  })
})

describe('deadlines (eq. 5)', () => {
  it('are those of the paper', () => {
    const table = servers(10, SECOND, 'edf')
    table.put('a.example', record(60_000, 2000))
    expect(deadlineOf(table, 'a.example', 0)).toBe(58_000)
    expect(deadlineOf(table, 'a.example', 59_999)).toBe(58_000)
    expect(deadlineOf(table, 'a.example', 60_000)).toBe(118_000)
    expect(deadlineOf(table, 'a.example', 130_000)).toBe(178_000)
  })
})

describe('policies', () => {
  /** Access interval, download time, since when it waits: chosen so that each policy has another favourite. */
  const waiting = [
    { host: 'deadline.example', every: 7000, download: 400, readyAt: 13_900 },
    { host: 'often.example', every: 2000, download: 300, readyAt: 14_100 },
    { host: 'longest.example', every: 100_000, download: 350, readyAt: 10 },
    { host: 'busy.example', every: 40_000, download: 18_000, readyAt: 14_500 },
    { host: 'short.example', every: 90_000, download: 5, readyAt: 14_000 },
  ]

  function order(policy: RefreshPolicy, sockets = 10): string[] {
    const table = servers(sockets, SECOND, policy)
    for (const { host, every, download } of waiting) table.put(host, record(every, download))
    return waiting
      .map(({ host, readyAt }) => ({ host, key: table.policy({ host, readyAt }) }))
      .sort((a, b) => a.key - b.key)
      .map(({ host }) => host.split('.')[0]!)
  }

  it('each has its own order', () => {
    // 14 000 − 400; 16 000 − 300; 40 000 − 18 000; 90 000 − 5; 100 000 − 350
    expect(order('edf')).toEqual(['deadline', 'often', 'busy', 'short', 'longest'])
    expect(order('freq')).toEqual(['often', 'deadline', 'busy', 'short', 'longest'])
    expect(order('fcfs')).toEqual(['longest', 'deadline', 'short', 'often', 'busy'])
    expect(order('rm')).toEqual(['busy', 'often', 'deadline', 'longest', 'short'])
    expect(order('sjf')).toEqual(['short', 'often', 'longest', 'deadline', 'busy'])
  })

  it('auto is EDF where sockets suffice, and SJF where they do not', () => {
    // 0.45 + 0.15 + 0.06 + … < 1
    expect(order('auto', 1)).toEqual(order('edf', 1))
    expect(order('auto', 0.5)).toEqual(order('sjf', 0.5))
    const table = servers(1)
    table.put('a.example', record(2000, 1000))
    expect(table.feasibility().policy).toBe('edf')
    table.put('b.example', record(2000, 1500))
    expect(table.feasibility().policy).toBe('sjf')
    expect(table.policy({ host: 'b.example', readyAt: NOW })).toBe(1500)
    table.updateInterval('b.example', 2000, undefined)
    table.remove('b.example')
    expect(table.policy({ host: 'a.example', readyAt: NOW })).toBe(
      Math.floor(NOW / 2000) * 2000 + 2000 - 1000,
    )
  })

  it.each(['auto', 'edf', 'freq', 'fcfs', 'rm', 'sjf'] as const)(
    '%s: unknown servers come last',
    (policy) => {
      const table = servers(10, SECOND, policy)
      table.downloaded('met.example', 5)
      for (const host of ['never.example', 'met.example']) {
        expect(table.policy({ host, readyAt: 1 })).toBe(Number.POSITIVE_INFINITY)
      }
      table.updateInterval('met.example', undefined, DAY)
      expect(table.policy({ host: 'met.example', readyAt: 1 })).toBeLessThan(Number.POSITIVE_INFINITY)
    },
  )
})
