import { describe, expect, test } from 'vitest'
import type { PollOptions, PollRecord } from '../../../src/feeds/schedule/contract.js'
import { FeedBudget } from '../../../src/feeds/schedule/feed-budget.js'
import { PollSchedule } from '../../../src/feeds/schedule/poll-schedule.js'
import { pollRules } from '../../../src/feeds/schedule/rules.js'
import { seededRandom } from '../../../src/time.js'

const DAY = 86_400_000
const START = Date.UTC(2024, 0, 1)

/** Some feeds that have posted at their rates for 60 days. */
function shard(options: PollOptions, feeds: number, seed = 1): PollSchedule {
  const on = new PollSchedule(pollRules(options), { visitIntervalMs: 1000 })
  const random = seededRandom(seed)
  for (let feed = 0; feed < feeds; feed++) {
    const rate = Math.exp(6 * random.next() - 4)
    on.remember(`host-${feed}.example`, recordOf(rate))
  }
  return on
}

function recordOf(perDay: number): PollRecord {
  const days = [8, 25, 55]
  return {
    at: START,
    seenAt: START,
    due: START + DAY,
    why: 'index',
    window: 10,
    posting: [...days.map((each) => each * perDay), ...days, 0, 0, 0],
    account: new PollSchedule(pollRules(), { visitIntervalMs: 1000 }).report().account,
  }
}

describe('the budget', () => {
  test.each(['100/day', '1000/day', '5000/day'])('of %s has a price at which it is used up', (budget) => {
    const on = shard({ budget }, 1000)
    const controller = new FeedBudget(on.rules)
    controller.report(0, on.report())
    controller.price(START)
    const { pollsPerDay } = controller.feasibility()
    expect(pollsPerDay / on.rules.budgetPerDay!).toBeGreaterThan(0.97)
    expect(pollsPerDay / on.rules.budgetPerDay!).toBeLessThan(1.03)
  })

  test('is the same for one shard and for three that have the same feeds', () => {
    const options = { budget: '900/day' }
    const whole = new FeedBudget(pollRules(options))
    const parts = new FeedBudget(pollRules(options))
    const all = new PollSchedule(pollRules(options), { visitIntervalMs: 1000 })
    for (let part = 0; part < 3; part++) {
      const on = shard(options, 300, part)
      parts.report(part, on.report())
      const random = seededRandom(part)
      for (let feed = 0; feed < 300; feed++)
        all.remember('x.example', recordOf(Math.exp(6 * random.next() - 4)))
    }
    whole.report(0, all.report())
    expect(parts.price(START)).toBeCloseTo(whole.price(START), 3)
    expect(parts.feasibility()).toMatchObject({ feeds: 900 })
  })

  test('is held when the forecast is wrong: shards that spend twice as much get a higher price', () => {
    const on = shard({ budget: '1000/day' }, 1000)
    const controller = new FeedBudget(on.rules)
    const report = on.report()
    controller.report(0, report)
    const first = controller.price(START)
    let price = first
    for (let hour = 1; hour <= 72; hour++) {
      controller.report(0, { ...report, spent: (hour * 2000) / 24 })
      price = controller.price(START + hour * 3_600_000)
    }
    expect(price).toBeGreaterThan(first * 1.5)
    for (let hour = 73; hour <= 400; hour++) {
      controller.report(0, { ...report, spent: 6000 + ((hour - 72) * 200) / 24 })
      price = controller.price(START + hour * 3_600_000)
    }
    expect(price).toBeLessThan(first)
  })

  test('a shard that leaves takes its feeds along, not what it spent', () => {
    const on = shard({ budget: '1000/day' }, 100)
    const controller = new FeedBudget(on.rules)
    controller.report(0, on.report())
    controller.report(1, { ...on.report(), account: { ...on.report().account, polls: 7 } })
    expect(controller.feasibility().feeds).toBe(200)
    controller.left(1)
    controller.left(9)
    expect(controller.feasibility().feeds).toBe(100)
    expect(controller.account().polls).toBe(7)
  })

  test('a clock that goes back, and no reports at all, do no harm', () => {
    const controller = new FeedBudget(pollRules({ budget: '10/day' }))
    expect(controller.price(START)).toBeGreaterThan(0)
    controller.report(0, shard({ budget: '10/day' }, 10).report())
    const price = controller.price(START)
    expect(controller.price(START - DAY)).toBe(price)
    expect(controller.feasibility().feeds).toBe(10)
  })
})

describe('a target instead of a budget', () => {
  test.each(['0.1%', '1%', '10%'])('loses %s of the articles, as far as can be foreseen', (lost) => {
    const on = shard({ lost }, 1000)
    const controller = new FeedBudget(on.rules)
    controller.report(0, on.report())
    controller.price(START)
    const { lostShare, feasible, pollsPerDay, budgetForTarget } = controller.feasibility()
    expect(lostShare / on.rules.lost!).toBeGreaterThan(0.9)
    expect(lostShare / on.rules.lost!).toBeLessThan(1.1)
    expect(feasible).toBe(true)
    expect(pollsPerDay).toBeCloseTo(budgetForTarget, 3)
  })
})

describe('feasibility', () => {
  test('says what is lost, and what it would take to lose less', () => {
    const on = shard({ budget: '300/day' }, 1000)
    const controller = new FeedBudget(on.rules)
    controller.report(0, on.report())
    controller.price(START)
    const report = controller.feasibility()
    expect(report.lostPerDay).toBeGreaterThan(0)
    expect(report.budgetForTarget).toBeGreaterThan(300)
    expect(report.budgetForNone).toBeGreaterThan(report.budgetForTarget)
    expect(report.mostPerDay).toBeGreaterThan(report.budgetForNone)
    const polls = report.front.map((point) => point.polls)
    expect(polls.toSorted((one, other) => one - other)).toEqual(polls)
    const lost = report.front.map((point) => point.lost)
    expect(lost.toSorted((one, other) => other - one)).toEqual(lost)
  })

  test.each<[string, PollOptions, RegExp]>([
    [
      'a budget that is too small for the longest interval',
      { budget: '5/day' },
      /5 polls a day is too small for 1,000 feeds/,
    ],
    [
      'a target that the shortest interval forbids',
      { lost: '0.1%', min: '20d' },
      /even with [\d,]+ polls a day, the most that pay off; allow a shorter feeds\.min/,
    ],
  ])('%s', (_, options, why) => {
    const on = shard(options, 1000)
    const controller = new FeedBudget(on.rules)
    controller.report(0, on.report())
    controller.price(START)
    expect(controller.feasibility()).toMatchObject({ feasible: false, why: expect.stringMatching(why) })
  })

  test('names the host that is crowded', () => {
    const rules = pollRules({ budget: '1000/day' })
    const on = new PollSchedule(rules, { visitIntervalMs: DAY })
    for (let feed = 0; feed < 5; feed++) on.remember('many.example', recordOf(3))
    const controller = new FeedBudget(rules)
    controller.report(0, on.report())
    controller.price(START)
    expect(controller.feasibility().why).toMatch(
      /1 host has .* many\.example has 5 that need 5 polls a day, and allows 1/,
    )
  })
})
