import { describe, expect, it } from 'vitest'
import { explainOverload, LoadHistogram, ownStretch, roundUpSockets } from '../../src/refresh/stretch.js'
import { type Random, seededRandom } from '../../src/time.js'

interface Need {
  readonly need: number
  readonly most: number
}

/** Σ min(u / s, c), server by server. */
function sockets(servers: readonly Need[], stretch: number): number {
  return servers.reduce((sum, { need, most }) => sum + Math.min(need / stretch, most), 0)
}

/** The least stretch, by halving an interval: knows nothing of classes, breakpoints or sums. */
function leastByHalving(servers: readonly Need[], available: number): number {
  if (sockets(servers, 1) <= available) return 1
  let [low, high] = [1, 2]
  while (sockets(servers, high) > available) high *= 2
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2
    if (sockets(servers, middle) > available) low = middle
    else high = middle
  }
  return high
}

/** Between `from` and `to`, all orders of magnitude alike. */
function spread(random: Random, from: number, to: number): number {
  return from * (to / from) ** random.next()
}

function someServer(random: Random): Need {
  const most = random.next() < 0.2 ? 1 : spread(random, 1e-4, 1)
  return { most, need: most * spread(random, 1e-5, 1e5) }
}

describe('LoadClasses', () => {
  it('needs nothing without servers', () => {
    const classes = new LoadHistogram()
    expect([classes.needed, classes.overloaded, classes.minStretch(1)]).toEqual([0, 0, 1])
  })

  it.each([1, 2, 3, 4, 5, 6])('finds what brute force finds, after any changes (seed %i)', (seed) => {
    const random = seededRandom(seed)
    const classes = new LoadHistogram()
    const servers: Need[] = []
    for (let step = 0; step < 3000; step++) {
      if (servers.length > 0 && random.next() < (step < 1500 ? 0.3 : 0.55)) {
        const place = Math.floor(random.next() * servers.length)
        const [gone] = servers.splice(place, 1)
        classes.remove(gone!.need, gone!.most)
      } else {
        const server = someServer(random)
        servers.push(server)
        classes.add(server.need, server.most)
      }
      if (step % 50 !== 0) continue
      expect(classes.overloaded).toBe(servers.filter(({ need, most }) => need > most).length)
      expect(classes.needed).toBeCloseTo(sockets(servers, 1), 6)
      for (const available of [1, 3, 20, 200]) {
        const exact = leastByHalving(servers, available)
        const found = classes.minStretch(available)
        // Never too small, and at most by the width of a class too large.
        expect(found).toBeGreaterThanOrEqual(exact * (1 - 1e-6))
        expect(found).toBeLessThanOrEqual(exact * 1.0101)
        expect(sockets(servers, found)).toBeLessThanOrEqual(available * (1 + 1e-6))
      }
    }
  })

  it('is exact where all servers are alike', () => {
    const classes = new LoadHistogram()
    for (let i = 0; i < 100; i++) classes.add(0.5, 1)
    expect(classes.needed).toBe(50)
    expect(classes.minStretch(50)).toBe(1)
    expect(classes.minStretch(25)).toBeCloseTo(2, 9)
    expect(classes.minStretch(1)).toBeCloseTo(50, 9)
  })

  it('does not stretch beyond what capped servers leave over', () => {
    const classes = new LoadHistogram()
    // Takes its whole socket up to a stretch of 1000; the others need one between them.
    classes.add(1000, 1)
    for (let i = 0; i < 10; i++) classes.add(0.1, 0.5)
    expect(classes.needed).toBeCloseTo(2, 9)
    expect(classes.minStretch(2)).toBe(1)
    // 1 + 1 / s = 1.5
    expect(classes.minStretch(1.5)).toBeCloseTo(2, 6)
    // 1001 / s = 1, for s > 1000
    expect(classes.minStretch(1)).toBeCloseTo(1001, 4)
  })

  it('holds servers beyond its last class', () => {
    const classes = new LoadHistogram()
    classes.add(1e12, 1)
    classes.add(1e13, 1)
    expect(classes.needed).toBe(2)
    const found = classes.minStretch(1)
    expect(
      sockets(
        [
          { need: 1e12, most: 1 },
          { need: 1e13, most: 1 },
        ],
        found,
      ),
    ).toBeLessThanOrEqual(1 + 1e-6)
    expect(found).toBeLessThan(2e13)
    classes.remove(1e13, 1)
    classes.remove(1e12, 1)
    expect(classes.minStretch(1)).toBe(1)
  })

  it('depends on what is there, not on what was', () => {
    const random = seededRandom(11)
    const stay = Array.from({ length: 300 }, () => someServer(random))
    const pass = Array.from({ length: 20_000 }, () => someServer(random))
    const [plain, eventful] = [new LoadHistogram(), new LoadHistogram()]
    for (const { need, most } of stay) plain.add(need, most)
    for (const { need, most } of pass) eventful.add(need, most)
    for (const { need, most } of stay.toReversed()) eventful.add(need, most)
    for (const { need, most } of pass) eventful.remove(need, most)
    expect(eventful.needed).toBe(plain.needed)
    expect(eventful.overloaded).toBe(plain.overloaded)
    for (const available of [1, 7, 50])
      expect(eventful.minStretch(available)).toBe(plain.minStretch(available))
    for (const { need, most } of stay) eventful.remove(need, most)
    expect([eventful.needed, eventful.minStretch(1e-9), eventful.overloaded]).toEqual([0, 1, 0])
  })

  it('is not fooled by sums of reciprocals', () => {
    let load = 0
    for (let i = 0; i < 10; i++) load += 1 / 10_000
    for (const download of [100, 300, 700, 999]) {
      expect(ownStretch(download * load, download / 1000)).toBe(1)
    }
    expect(ownStretch(0.22, 0.2)).toBeCloseTo(1.1, 12)
    expect([roundUpSockets(0), roundUpSockets(3), roundUpSockets(3 + 1e-12), roundUpSockets(3.01)]).toEqual([
      0, 3, 3, 4,
    ])
  })
})

describe('whyOverloaded', () => {
  it('says it in a sentence', () => {
    expect(explainOverload(5000, 900, 1000)).toBe(
      '5,000 pages need a visit every 0.9 s, but a visit and the pause after it take 1.0 s',
    )
    expect(explainOverload(1, 2000, 3200)).toBe(
      '1 page needs a visit every 2.0 s, but a visit and the pause after it take 3.2 s',
    )
  })

  it('does not say that a second is less than a second', () => {
    expect(explainOverload(70, 996, 1000)).toContain(
      'every 0.996 s, but a visit and the pause after it take 1.000 s',
    )
    expect(explainOverload(70, 2, 1000)).toContain(
      'every 0.002 s, but a visit and the pause after it take 1.000 s',
    )
  })
})
