/** Planning the polls of a million feeds: CPU time of a decision and of the price, and bytes of schedule state a feed. */

import type { PollObservation } from '../src/feeds/schedule/contract.js'
import { FeedBudget } from '../src/feeds/schedule/feed-budget.js'
import { PollSchedule } from '../src/feeds/schedule/poll-schedule.js'
import { pollRules } from '../src/feeds/schedule/rules.js'
import { PackedPolls } from '../src/sim/feeds/packed-polls.js'
import { seededRandom } from '../src/time.js'
import { type Bench, median } from './report.js'

const FEEDS = 1_000_000
const HOSTS = 100_000
const DAY_MS = 86_400_000
const START = 1_700_000_000_000
const WINDOWS = [5, 10, 15, 20, 25, 30, 50, 100]
const ROUNDS = 5

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export const feedSchedule: Bench = async () => {
  const random = seededRandom(1)
  const rules = pollRules({ budget: '200000/day' })
  const schedule = new PollSchedule(rules, { visitIntervalMs: 1000 })
  const budget = new FeedBudget(rules)
  const records = new PackedPolls(FEEDS)
  const rates = Float64Array.from({ length: FEEDS }, () => Math.exp(8 * random.next() - 6))
  const hosts = Array.from({ length: HOSTS }, (_, at) => `host-${at}.example`)
  const observation = (feed: number, at: number, first: boolean): PollObservation => {
    const window = WINDOWS[feed % WINDOWS.length]!
    const days = first ? 0 : (at - records.get(feed)!.at) / DAY_MS
    const posted = Math.floor(rates[feed]! * days * 2 * random.next() + random.next())
    const age = 1 / rates[feed]!
    return {
      at,
      outcome: 'feed',
      first,
      fresh: first ? window : Math.min(window, posted),
      recovered: 0,
      window,
      overlaps: first || posted < window,
      unbounded: false,
      published: first ? Array.from({ length: Math.min(window, 10) }, (_, n) => at - n * age * DAY_MS) : [],
    }
  }
  for (let feed = 0; feed < FEEDS; feed++)
    records.set(feed, schedule.polled(hosts[feed % HOSTS]!, undefined, observation(feed, START, true)).record)

  const prices: number[] = []
  const setPrice = (now: number) => {
    const before = cpuMs()
    budget.report(0, schedule.report())
    schedule.setPrice(budget.price(now))
    prices.push(cpuMs() - before)
  }
  // The first computes the tables.
  setPrice(START)
  const decisions: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const now = START + round * DAY_MS
    const observed = Array.from({ length: FEEDS / ROUNDS }, (_, k) => {
      const feed = (k * ROUNDS + round - 1) % FEEDS
      return [feed, observation(feed, now, false)] as const
    })
    const before = cpuMs()
    for (const [feed, seen] of observed) {
      const record = records.get(feed)!
      schedule.isDue(record, now)
      records.set(feed, schedule.polled(hosts[feed % HOSTS]!, record, seen).record)
    }
    decisions.push(((cpuMs() - before) * 1000) / observed.length)
    setPrice(now)
  }
  return [
    {
      what: 'a decision (unpack, is it due, learn, plan, pack)',
      value: median(decisions),
      unit: 'µs',
      bar: { atMost: 10 },
    },
    { what: 'the price of a million feeds', value: median(prices.slice(1)), unit: 'ms', bar: { atMost: 50 } },
    { what: 'the same with all tables to compute', value: prices[0]!, unit: 'ms' },
    { what: 'schedule state a feed', value: records.bytes / FEEDS, unit: 'B', bar: { atMost: 64 } },
  ]
}
