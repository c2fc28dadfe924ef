import { expect, it } from 'vitest'
import { idleAfter } from '../../../experiments/refresh/idle-time.js'
import { POLICIES } from '../../../src/refresh/policies.js'
import { type Random, seededRandom } from '../../../src/time.js'

const SECOND = 1000
const DAY = 86_400 * SECOND
/** Instants as large as those of a real crawl. */
const NOW = 1_795_000_000_000

/** Between `from` and `to`, all orders of magnitude alike. */
function spread(random: Random, from: number, to: number): number {
  return from * (to / from) ** random.next()
}

it('is that of the paper (eq. 6)', () => {
  expect(idleAfter(60_000, SECOND, 70_000)).toBe(50_000)
  expect(idleAfter(60_000, SECOND, 119_500)).toBe(1000)
  expect(idleAfter(60_000, SECOND, 120_000)).toBe(1000)
})

it('is the visit interval for a server without pages', () => {
  expect(idleAfter(Number.POSITIVE_INFINITY, 1500, NOW)).toBe(1500)
})

it.each([1, 2, 3])('one download a period, none in the past, never too soon (seed %i)', (seed) => {
  const random = seededRandom(seed)
  for (let round = 0; round < 60; round++) {
    const least = spread(random, 1, 20_000)
    const download = spread(random, 1, 5000)
    const interval = Math.max(least + download, spread(random, 300, 10 * DAY))
    let now = NOW + random.next() * DAY
    let begunIn = -1
    for (let visit = 0; visit < 100; visit++) {
      const deadline = POLICIES.edf(interval, download, now)
      // A download that begins at the deadline ends with the period, and the period is the present one.
      expect(deadline + download).toBeGreaterThan(now)
      expect(deadline + download).toBeLessThanOrEqual(now + interval * (1 + 1e-6) + 0.01)
      // Now and then there is no socket for a long time: whole rounds are missed.
      now += random.next() < 0.1 ? random.next() * 5 * interval : random.next() * 0.1 * interval
      const period = Math.floor((now + 0.01) / interval)
      expect(period).toBeGreaterThan(begunIn)
      begunIn = period
      const ended = now + download * (0.5 + random.next())
      const idle = idleAfter(interval, least, ended)
      expect(idle).toBeGreaterThanOrEqual(least)
      expect(idle).toBeLessThanOrEqual(Math.max(least, interval) * (1 + 1e-6) + 0.01)
      now = ended + idle
    }
  }
})

it('leaves a server that idled until a period begins that whole period', () => {
  const random = seededRandom(21)
  for (let i = 0; i < 5000; i++) {
    const interval = spread(random, 200, 30 * DAY)
    const ended = NOW + random.next() * DAY
    const wakes = ended + idleAfter(interval, 0, ended)
    expect(Math.abs(POLICIES.edf(interval, 10, wakes) + 10 - (wakes + interval))).toBeLessThan(0.01)
  }
})
