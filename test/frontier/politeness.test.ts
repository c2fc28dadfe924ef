import { describe, expect, it } from 'vitest'
import { allowance, restUntil } from '../../src/frontier/politeness.js'

describe('allowance', () => {
  const cases: [waiting: number, connections: number, growAt: number, allowed: number][] = [
    [1, 1, 10, 1],
    [1_000_000, 1, 10, 1],
    [0, 16, 10, 1],
    [9, 16, 10, 1],
    [10, 16, 10, 2],
    [19, 16, 10, 2],
    [149, 16, 10, 15],
    [150, 16, 10, 16],
    [1_000_000, 16, 10, 16],
    [3, 16, 1, 4],
    [1_000_000, 16, Number.POSITIVE_INFINITY, 1],
  ]
  it.for(cases)(
    '%i waiting, at most %i, one more for each %d: %i',
    ([waiting, connections, growAt, allowed]) => {
      expect(allowance(waiting, { delayMs: 0, connections, growAt })).toBe(allowed)
    },
  )
})

describe('restUntil', () => {
  const cases: [visitedAt: number, hostDelayMs: number, delayMs: number, until: number][] = [
    [1000, 0, 0, 1000],
    [1000, 0, 250, 1250],
    [1000, 100, 250, 1250],
    [1000, 400, 250, 1400],
  ]
  it.for(cases)(
    'ended at %i, the host asks %i ms, the crawl %i ms: %i',
    ([at, hostDelayMs, delayMs, until]) => {
      expect(restUntil(at, hostDelayMs, { delayMs, connections: 1, growAt: 1 })).toBe(until)
    },
  )
})
