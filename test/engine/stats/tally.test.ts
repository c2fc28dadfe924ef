/** Counting is easily done wrong by one. */

import { describe, expect, test } from 'vitest'
import { Tally } from '../../../src/engine/stats/tally.js'

describe('hosts and gaps', () => {
  test.each<[string, [event: 'start' | 'end', host: string, at: number][], number, number | undefined]>([
    ['nothing', [], 0, undefined],
    [
      'one visit',
      [
        ['start', 'a', 0],
        ['end', 'a', 10],
      ],
      1,
      undefined,
    ],
    [
      'two visits',
      [
        ['start', 'a', 0],
        ['end', 'a', 10],
        ['start', 'a', 25],
      ],
      1,
      15,
    ],
    [
      'the shortest of three gaps',
      [
        ['start', 'a', 0],
        ['end', 'a', 1],
        ['start', 'a', 31],
        ['end', 'a', 32],
        ['start', 'a', 52],
        ['end', 'a', 53],
        ['start', 'a', 93],
      ],
      1,
      20,
    ],
    [
      'hosts do not mix',
      [
        ['start', 'a', 0],
        ['end', 'a', 10],
        ['start', 'b', 11],
        ['end', 'b', 12],
        ['start', 'c', 12],
      ],
      3,
      undefined,
    ],
    [
      'a second visit before the first has ended',
      [
        ['start', 'a', 0],
        ['start', 'a', 1],
        ['end', 'a', 2],
        ['end', 'a', 5],
      ],
      1,
      undefined,
    ],
    [
      'a gap of nothing',
      [
        ['start', 'a', 0],
        ['end', 'a', 3],
        ['start', 'a', 3],
      ],
      1,
      0,
    ],
  ])('%s', (_, story, hostsVisited, shortestGapMs) => {
    const tally = new Tally()
    for (const [event, host, at] of story) {
      if (event === 'start') tally.visitStarts(host, at)
      else tally.visitEnds(host, at)
    }
    expect(tally).toMatchObject({ hostsVisited, shortestGapMs })
  })

  test('beyond a hundred thousand hosts the longest unvisited is forgotten, not the latest', () => {
    const tally = new Tally()
    for (let i = 0; i < 100_001; i++) {
      tally.visitStarts(`h${i}`, i)
      tally.visitEnds(`h${i}`, i)
    }
    tally.visitStarts('h100000', 100_007)
    expect(tally.shortestGapMs).toBe(7)
    tally.visitStarts('h0', 100_008)
    expect(tally.hostsVisited).toBe(100_002)
  })
})

describe('counts by word', () => {
  test('failures, skips and statuses', () => {
    const tally = new Tally()
    for (const code of ['timeout', 'http-status', 'timeout'] as const) tally.failure(code)
    for (const reason of ['scope', 'scope', 'depth'] as const) tally.skip(reason)
    for (const status of [200, 404, 200]) tally.status(status)
    expect(tally).toMatchObject({
      failed: 3,
      failures: { timeout: 2, 'http-status': 1 },
      skipped: 3,
      skips: { scope: 2, depth: 1 },
      statuses: { 200: 2, 404: 1 },
    })
  })
})

describe('the recent rate', () => {
  test.each<[string, (tally: Tally) => void, number, number]>([
    ['nothing yet', () => {}, 10_000, 0],
    ['too early to tell', (tally) => tally.page(0), 400, 0],
    ['steady', (tally) => pages(tally, 0, 10_000, 100), 10_000, 10],
    ['steady, then nothing: it sinks', (tally) => pages(tally, 0, 10_000, 100), 20_000, 3.5],
    [
      'slow, then fast: it follows',
      (tally) => {
        pages(tally, 0, 60_000, 1000)
        pages(tally, 60_000, 70_000, 10)
      },
      70_000,
      100,
    ],
  ])('%s', (_, live, now, rate) => {
    const tally = new Tally()
    live(tally)
    const measured = tally.recentPagesPerSecond(now)
    expect(measured).toBeGreaterThanOrEqual(rate * 0.85)
    expect(measured).toBeLessThanOrEqual(rate * 1.15)
  })
})

/** A page every so many ms. */
function pages(tally: Tally, from: number, to: number, every: number): void {
  for (let at = from; at < to; at += every) tally.page(at)
}
