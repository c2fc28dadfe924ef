/** The account of followed feeds against the truth of their server, small: the counts agree, and each entry comes once. */

import { expect, test } from 'vitest'
import { runLiveFeeds } from '../../experiments/feeds-live/index.js'

const WORLD = { windows: [10], slowest: 2, fastest: 30, burst: 2, seed: 5 }

test('in virtual time: polls and futile polls are counted, lost articles estimated', async () => {
  const { truth, counted, missed, repeated } = await runLiveFeeds({
    ...WORLD,
    feeds: 80,
    days: 7,
    learningDays: 3,
    budgetPerDay: 80,
  })
  expect(counted.polls).toBe(truth.polls)
  expect(counted.futile).toBe(truth.futile)
  expect(truth.lost).toBeGreaterThan(100)
  expect(counted.lost / truth.lost).toBeGreaterThan(0.7)
  expect(counted.lost / truth.lost).toBeLessThan(1.3)
  expect({ missed, repeated }).toEqual({ missed: 0, repeated: 0 })
})

test('over sockets, however slow the machine is: what a polled window showed is delivered, once', async () => {
  const { truth, counted, missed, repeated } = await runLiveFeeds({
    ...WORLD,
    feeds: 20,
    days: 4,
    learningDays: 1,
    budgetPerDay: 100,
    speed: 86_400,
  })
  expect(truth.polls).toBeGreaterThan(20)
  expect(counted.polls).toBeGreaterThan(20)
  expect({ missed, repeated }).toEqual({ missed: 0, repeated: 0 })
})
