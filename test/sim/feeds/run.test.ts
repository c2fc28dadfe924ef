import { describe, expect, test } from 'vitest'
import { pollRules } from '../../../src/feeds/schedule/rules.js'
import type { FeedWorld } from '../../../src/sim/feeds/contract.js'
import { describeFeeds } from '../../../src/sim/feeds/described.js'
import { simulateFeeds } from '../../../src/sim/feeds/run.js'

const DAY = 86_400_000
const STEADY = { steadyDays: Number.POSITIVE_INFINITY, spread: 0, pauses: 0, burst: 1 }

const world = describeFeeds({
  feeds: 400,
  perDay: 0.3,
  spread: 0.8,
  silent: 0.3,
  window: 5,
  days: 120,
  seed: 4,
})
const poll = (of: FeedWorld, budget: string, more = {}) =>
  simulateFeeds(of, {
    rules: pollRules({ budget, min: '1d' }),
    learnDays: 40,
    watch: true,
    stepMs: DAY,
    ...more,
  })

describe('a simulation', () => {
  test('keeps the budget, and loses fewer articles with a larger one', () => {
    const [little, much] = [poll(world, '40/day'), poll(world, '120/day')]
    expect(little.polls / (80 * 40)).toBeGreaterThan(0.9)
    expect(little.polls / (80 * 40)).toBeLessThan(1.1)
    expect(much.polls / (80 * 120)).toBeLessThan(1.1)
    expect(much.lost).toBeLessThan(little.lost / 2)
    expect(much.futile).toBeGreaterThan(little.futile)
    expect(much.delayMs).toBeLessThan(little.delayMs)
  })

  test('counts every article: seen, lost or still to be seen', () => {
    const { articles, account, lost, feeds } = poll(world, '80/day')
    expect(feeds).toBe(400)
    expect(account.fresh + lost).toBeLessThanOrEqual(articles)
    expect(account.fresh + lost).toBeGreaterThan(articles * 0.85)
  })

  test('loses fewer articles than the same number of polls in turn', () => {
    const ours = poll(world, '80/day')
    const inTurn = simulateFeeds(world, {
      rules: pollRules({ budget: '80/day', min: '5d', max: '5d' }),
      learnDays: 40,
      watch: true,
      stepMs: DAY,
    })
    expect(ours.polls).toBeLessThan(inTurn.polls * 1.05)
    expect(ours.lost).toBeLessThan(inTurn.lost * 0.6)
  })

  test('estimates what is lost by dates', () => {
    const { lost, lostEstimate } = poll(world, '30/day')
    expect(lost).toBeGreaterThan(200)
    expect(lostEstimate / lost).toBeGreaterThan(0.7)
    expect(lostEstimate / lost).toBeLessThan(1.4)
  })

  test('steady feeds lose as much as was forecast', () => {
    const steady = describeFeeds({
      feeds: 400,
      perDay: 0.4,
      spread: 0.8,
      window: 5,
      days: 160,
      habits: STEADY,
      seed: 2,
    })
    const { lost, days, feasibility, polls, futile } = poll(steady, '50/day', { learnDays: 80 })
    expect(lost / days / feasibility.lostPerDay).toBeGreaterThan(0.6)
    expect(lost / days / feasibility.lostPerDay).toBeLessThan(1.6)
    expect(futile / polls / (feasibility.futilePerDay / feasibility.pollsPerDay)).toBeGreaterThan(0.8)
    expect(futile / polls / (feasibility.futilePerDay / feasibility.pollsPerDay)).toBeLessThan(1.25)
  })

  test('is the same for the same seed', () => {
    const again = describeFeeds({
      feeds: 400,
      perDay: 0.3,
      spread: 0.8,
      silent: 0.3,
      window: 5,
      days: 120,
      seed: 4,
    })
    expect(poll(again, '40/day')).toEqual(poll(world, '40/day'))
  })
})
