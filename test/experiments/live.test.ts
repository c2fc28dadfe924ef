/** The live experiment, small: a forecast comes true over real sockets, and the score of a log is what it should be. */

import { describe, expect, test } from 'vitest'
import { type Answer, runLive, scoreOf } from '../../experiments/live.js'
import { seededRandom } from '../../src/time.js'

describe('the score of a log', () => {
  const answer = (page: number, version: number, at: number, status = 200): Answer => ({
    page,
    version,
    at,
    status,
  })

  test('counts what was served before the next change, by hand', () => {
    // Scored from 100 to 200. Page 0 changes at 90 (too early to count), 110, 150 and 190; page 1 never does.
    const changes = [[90, 110, 150, 190], []]
    const answers = [
      answer(0, 0, 50),
      answer(1, 0, 60),
      answer(0, 2, 120),
      answer(0, 2, 140),
      answer(0, 3, 180),
    ]
    const score = scoreOf(changes, answers, 100, 200)
    expect(score.changes).toBe(3)
    expect(score.caughtShare).toBeCloseTo(2 / 3, 12)
    // Page 0 is current from 120 to 150 and from 180 to 190, page 1 all the time.
    expect(score.freshness).toBeCloseTo((30 + 10 + 100) / 200, 12)
    expect(score.visitsPerSecond).toBeCloseTo(30, 12)
  })

  test('leaves out what comes after the end', () => {
    const score = scoreOf([[150, 250]], [answer(0, 1, 210), answer(0, 2, 260)], 100, 200)
    expect(score).toEqual({ changes: 1, caughtShare: 0, freshness: 0, visitsPerSecond: 0 })
  })

  test('counts a change when it is served', () => {
    // Made before the scored time and served in it; made and served before it; never changed.
    const changes = [[90], [80], []]
    const answers = [answer(0, 1, 110), answer(1, 1, 95), answer(1, 1, 120), answer(2, 0, 130)]
    const { changes: counted, caughtShare } = scoreOf([...changes, [150, 160]], answers, 100, 200)
    expect(counted).toBe(2)
    expect(caughtShare).toBe(1 / 2)
  })

  test('does not take the word of a server that says that nothing has changed', () => {
    const score = scoreOf([[150]], [answer(0, 0, 50), answer(0, 1, 160, 304)], 100, 200)
    expect(score).toEqual({ changes: 1, caughtShare: 0, freshness: 0.5, visitsPerSecond: 10 })
  })

  test('is what closed forms say of visits at regular intervals', () => {
    // (1 - e^-x) / x is both the share of changes caught and of time up to date (Cho & Garcia-Molina 2003).
    const random = seededRandom(5)
    const every = 100
    const end = 20_000
    const changes = Array.from({ length: 200 }, () => {
      const instants: number[] = []
      for (let at = 0; (at -= Math.log(1 - random.next()) * 80) < end; ) instants.push(at)
      return instants
    })
    const answers = changes.flatMap((instants, page) =>
      Array.from({ length: end / every }, (_, i) => {
        const at = (i + page / 200) * every
        return answer(page, instants.filter((instant) => instant <= at).length, at)
      }),
    )
    const score = scoreOf(changes, answers, 1000, end)
    const expected = (1 - Math.exp(-every / 80)) / (every / 80)
    expect(score.caughtShare).toBeGreaterThan(0.98 * expected)
    expect(score.caughtShare).toBeLessThan(1.02 * expected)
    expect(score.freshness).toBeGreaterThan(0.98 * expected)
    expect(score.freshness).toBeLessThan(1.02 * expected)
  })
})

test('a crawl over real sockets catches what was forecast', async () => {
  const { live, forecast, confirmed, shown, told } = await runLive({
    hosts: 10,
    pagesPerHost: 20,
    fastestMs: 500,
    slowestMs: 10_000,
    latencyMs: 2,
    delayMs: 2,
    sockets: 20,
    refresh: { min: '100ms', max: '20s', first: '500ms', target: 0.6 },
    learningMs: 4000,
    scoredMs: 6000,
    seed: 3,
    forecasts: 5,
  })
  // The score is of something: as many changes as were to be expected, and visits of both kinds.
  expect(live.changes).toBeGreaterThan(600)
  expect(confirmed).toBeGreaterThan(50)
  expect(told).toBeLessThanOrEqual(shown)
  // What is under way at the end may be left unread.
  expect(told).toBeGreaterThanOrEqual(shown - 20)
  const caught = live.caughtShare / forecast.caughtShare
  const fresh = live.freshness / forecast.freshness
  expect(caught).toBeGreaterThan(0.85)
  expect(caught).toBeLessThan(1.15)
  expect(fresh).toBeGreaterThan(0.85)
  expect(fresh).toBeLessThan(1.15)
})
