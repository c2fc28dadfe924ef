/** The account of followed feeds against the truth of their server, small: the counts agree, and each entry comes once. */

import { expect, test } from 'vitest'
import { runLiveFeeds } from '../../experiments/feeds-live/index.js'

const WORLD = { window: 10, slowest: 2, fastest: 30, burst: 2, seed: 5 }

test('in virtual time: polls and futile polls are counted, lost articles estimated', async () => {
  const { truth, counted, missed, repeated } = await runLiveFeeds({
    ...WORLD,
    feeds: 40,
    days: 5,
    learningDays: 2,
    budgetPerDay: 50,
  })
  expect(counted.polls).toBe(truth.polls)
  expect(counted.futile).toBe(truth.futile)
  expect(truth.lost).toBeGreaterThan(50)
  expect(counted.lost / truth.lost).toBeGreaterThan(0.6)
  expect(counted.lost / truth.lost).toBeLessThan(1.4)
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
