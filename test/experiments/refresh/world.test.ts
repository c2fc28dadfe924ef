import { describe, expect, it } from 'vitest'
import { DAY_MS, drawWorld, feasibleOf, PUBLISHED, statisticsOf } from '../../../experiments/refresh/world.js'
import { logNormalTable, mixed, normalQuantile } from '../../../src/sim/refresh/chance.js'

describe('drawWorld', () => {
  const world = drawWorld({ servers: PUBLISHED.servers, seed: 1, serverSpread: 0.9 })
  const drawn = statisticsOf(world)

  it('has the statistics that were published', () => {
    const within = (value: number, published: number, share: number) => {
      expect(value / published).toBeGreaterThan(1 - share)
      expect(value / published).toBeLessThan(1 + share)
    }
    within(drawn.meanIntervalMs, PUBLISHED.meanIntervalMs, 0.05)
    within(drawn.underMinute, PUBLISHED.underMinute, 0.05)
    within(drawn.meanDownloadMs, PUBLISHED.meanDownloadMs, 0.02)
    within(drawn.meanLongestMs, PUBLISHED.meanLongestMs, 0.1)
    within(drawn.longestTooLong, PUBLISHED.longestTooLong, 0.15)
    within(drawn.bound, PUBLISHED.bound, 0.05)
    within(drawn.feasibleBound, PUBLISHED.feasibleBound, 0.1)
    within(drawn.feasiblePerDay, PUBLISHED.feasiblePerDay, 0.1)
    expect(drawn.meanTooLong).toBeLessThan(PUBLISHED.meanTooLong)
  })

  it('tells its statistics as they are', () => {
    const few = statisticsOf({
      servers: 3,
      intervalMs: Float64Array.of(1000, 10_000, DAY_MS),
      downloadMs: Float64Array.of(2000, 1000, DAY_MS / 100),
      longestMs: Float64Array.of(4000, 10_000, DAY_MS / 2),
      takesMs: () => 1,
    })
    expect(few.longestTooLong).toBe(1)
    expect(few.meanTooLong).toBe(1)
    expect(few.bound).toBeCloseTo(1 + 0.1 + 0.01)
    expect(few.feasibleBound).toBeCloseTo(0.11)
    expect(few.underMinute).toBeCloseTo(2 / 3)
    expect(few.feasiblePerDay).toBeCloseTo(8640 + 1)
  })

  it('is as typical if it is small', () => {
    const small = statisticsOf(drawWorld({ servers: 8000, seed: 5, serverSpread: 0.9 }))
    const share = PUBLISHED.servers / small.servers
    expect(small.bound * share).toBeGreaterThan(50)
    expect(small.bound * share).toBeLessThan(75)
    expect(small.feasibleBound * share).toBeGreaterThan(24)
    expect(small.feasibleBound * share).toBeLessThan(31)
  })

  it('is drawn again by its seed, and otherwise by another', () => {
    const draw = (seed: number) => drawWorld({ servers: 2000, seed, serverSpread: 0.9 }).downloadMs
    expect(draw(3)).toEqual(draw(3))
    expect(draw(3)).not.toEqual(draw(4))
  })

  it('keeps to its bounds, in whole ms', () => {
    for (let i = 0; i < world.servers; i++) {
      const [interval, mean, longest] = [world.intervalMs[i]!, world.downloadMs[i]!, world.longestMs[i]!]
      if (interval < 1000 || interval > 100 * DAY_MS || longest < mean || mean < 1)
        expect({ interval, mean, longest }).toBe('in bounds')
      if (!Number.isInteger(interval + mean + longest)) expect({ interval, mean, longest }).toBe('whole')
    }
  })

  it('is left with feasible servers only', () => {
    const feasible = feasibleOf(world)
    expect(feasible.servers).toBeLessThanOrEqual(world.servers - drawn.longestTooLong)
    expect(statisticsOf(feasible).longestTooLong).toBe(0)
    for (const server of [0, 1000, feasible.servers - 1]) {
      expect(feasible.longestMs[server]! + 1000).toBeLessThanOrEqual(feasible.intervalMs[server]!)
    }
  })
})

describe('chance', () => {
  it('has the quantiles of tables', () => {
    for (const [share, deviations] of [
      [0.5, 0],
      [0.975, 1.959963985],
      [0.01, -2.326347874],
      [0.999, 3.090232306],
      [1e-9, -5.997807015],
    ] as const) {
      expect(normalQuantile(share)).toBeCloseTo(deviations, 6)
    }
  })

  it('has log-normal numbers of the mean and spread that were asked for', () => {
    const table = logNormalTable(22, 0.8, 65_536)
    const logs = table.map(Math.log)
    const meanOf = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length
    expect(meanOf(table)).toBeCloseTo(22, 1)
    const meanLog = meanOf(logs)
    expect(meanOf(logs.map((log) => (log - meanLog) ** 2))).toBeCloseTo(0.64, 2)
  })

  it('mixes neighbours well', () => {
    const counts = new Uint32Array(256)
    for (let server = 0; server < 256; server++) {
      for (let round = 0; round < 256; round++) counts[mixed(1, server, round) & 255]!++
    }
    // χ² with 255 degrees of freedom has mean 255 and deviation 23.
    const chi = counts.reduce((sum, count) => sum + (count - 256) ** 2 / 256, 0)
    expect(chi).toBeGreaterThan(150)
    expect(chi).toBeLessThan(360)
  })
})
