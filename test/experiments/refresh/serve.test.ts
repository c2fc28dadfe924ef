import { describe, expect, it } from 'vitest'
import { type ServeRules, simulateServers } from '../../../experiments/refresh/serve.js'
import {
  DAY_MS,
  drawWorld,
  feasibleOf,
  statisticsOf,
  type World,
} from '../../../experiments/refresh/world.js'
import type { ResolvedPolicy } from '../../../src/refresh/policies.js'

const world = drawWorld({ servers: 20_000, seed: 1, serverSpread: 0.9 })
const feasible = feasibleOf(world)
const bound = Math.ceil(statisticsOf(feasible).bound)

function served(policy: ResolvedPolicy, sockets: number, more: Partial<ServeRules> = {}) {
  return simulateServers(feasible, { policy, sockets, days: 0.1, seed: 1, ...more })
}

function worldOf(...servers: [intervalMs: number, downloadMs: number][]): World {
  return {
    servers: servers.length,
    intervalMs: Float64Array.from(servers, ([interval]) => interval),
    downloadMs: Float64Array.from(servers, ([, download]) => download),
    longestMs: Float64Array.from(servers, ([, download]) => download),
    takesMs: (server) => servers[server]![1],
  }
}

describe('simulateServers', () => {
  it('misses nothing by EDF and FREQ with three times the bound, where others do', () => {
    expect(served('edf', 3 * bound).misses).toBe(0)
    expect(served('freq', 3 * bound).misses).toBe(0)
    for (const policy of ['fcfs', 'sjf'] as const) {
      expect(served(policy, 3 * bound).misses, policy).toBeGreaterThan(0)
    }
  })

  it('misses least by SJF where sockets are scarce, and most by FCFS', () => {
    const misses = (policy: ResolvedPolicy) => served(policy, Math.floor(bound / 2)).misses
    for (const policy of ['edf', 'freq', 'fcfs', 'rm'] as const) {
      expect(misses(policy), policy).toBeGreaterThan(misses('sjf'))
      if (policy !== 'fcfs') expect(misses('fcfs'), policy).toBeGreaterThan(misses(policy))
    }
  })

  it('uses as many sockets as the bound says, when nobody waits', () => {
    const { meanSockets, peakSockets, misses, downloads } = served('fcfs', 1000, {
      start: 'apart',
      days: 0.5,
    })
    expect(misses).toBe(0)
    expect(meanSockets / statisticsOf(feasible).bound).toBeGreaterThan(0.95)
    expect(meanSockets / statisticsOf(feasible).bound).toBeLessThan(1.05)
    expect(peakSockets).toBeLessThan(1000)
    expect(downloads / (statisticsOf(feasible).feasiblePerDay / 2)).toBeCloseTo(1, 1)
  })

  it('never uses more sockets than there are', () => {
    const ends: number[] = []
    let most = 0
    served('edf', 5, {
      onDownload: (_server, beganMs, endsMs) => {
        for (let i = ends.length - 1; i >= 0; i--) if (ends[i]! <= beganMs) ends.splice(i, 1)
        most = Math.max(most, ends.push(endsMs))
      },
    })
    expect(most).toBe(5)
  })

  it('counts misses as a look at the log of downloads does, with at most one download in a period', () => {
    for (const start of ['together', 'apart'] as const) {
      for (const policy of ['edf', 'sjf'] as const) {
        const small = drawWorld({ servers: 1000, seed: 7, serverSpread: 0.9 })
        const log = Array.from({ length: small.servers }, () => [] as [number, number][])
        const days = 0.1
        const result = simulateServers(small, {
          policy,
          start,
          sockets: 2,
          days,
          seed: 7,
          onDownload: (server, beganMs, endsMs) => log[server]!.push([beganMs, endsMs]),
        })
        const origin = start === 'together' ? 0 : 1_234_567_890_123
        let misses = 0
        let rounds = 0
        for (const [server, downloads] of log.entries()) {
          const interval = small.intervalMs[server]!
          const periods = new Set(downloads.map(([began]) => Math.floor(began / interval)))
          expect(periods.size).toBe(downloads.length)
          for (const [i, [began, ends]] of downloads.entries()) {
            expect(ends - began).toBeLessThanOrEqual(small.longestMs[server]!)
            if (i > 0) expect(began - downloads[i - 1]![1]).toBeGreaterThanOrEqual(1000)
          }
          for (let period = Math.ceil(origin / interval); ; period++) {
            if ((period + 1) * interval > origin + days * DAY_MS) break
            rounds++
            if (!periods.has(period)) misses++
          }
        }
        expect(result.rounds).toBe(rounds)
        expect(result.misses).toBe(misses)
        expect(misses).toBeGreaterThan(0)
        expect(result.downloads).toBe(log.reduce((sum, { length }) => sum + length, 0))
      }
    }
  })

  it('serves in the order of its policy', () => {
    //                    I       e
    const three = worldOf([60_000, 3000], [50_000, 1000], [90_000, 5000])
    const order = (policy: ResolvedPolicy) => {
      const servers: number[] = []
      const onDownload = (server: number) => servers.push(server)
      simulateServers(three, { policy, sockets: 1, days: 40_000 / DAY_MS, seed: 1, onDownload })
      return servers.join('')
    }
    expect(order('edf')).toBe('102')
    expect(order('freq')).toBe('102')
    expect(order('fcfs')).toBe('012')
    expect(order('rm')).toBe('201')
    expect(order('sjf')).toBe('102')
  })

  it('replays the log of a server in order, and again from its beginning', () => {
    const log = [300, 900, 500]
    const one: World = { ...worldOf([5000, 500]), takesMs: (_server, download) => log[download % 3]! }
    const took: number[] = []
    simulateServers(one, {
      policy: 'edf',
      sockets: 1,
      days: 25_000 / DAY_MS,
      seed: 1,
      onDownload: (_server, beganMs, endsMs) => took.push(endsMs - beganMs),
    })
    expect(took).toEqual([300, 900, 500, 300, 900])
  })

  it('misses rounds of a server whose downloads outlast its interval, and of no other', () => {
    const two = worldOf([5000, 8000], [60_000, 500])
    const { misses, serversMissed } = simulateServers(two, { policy: 'edf', sockets: 2, days: 0.01, seed: 1 })
    expect(misses).toBeGreaterThan(80)
    expect(serversMissed).toBe(1)
  })

  it('gives the same again for the same seed', () => {
    expect(served('edf', 4)).toEqual(served('edf', 4))
    expect(served('edf', 4, { seed: 2 })).not.toEqual(served('edf', 4))
  })

  it('downloads pages of 22 KB on average', () => {
    const { bytes, downloads } = served('edf', 1000)
    expect(bytes / downloads / 22_000).toBeGreaterThan(0.97)
    expect(bytes / downloads / 22_000).toBeLessThan(1.03)
  })
})
