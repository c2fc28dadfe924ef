/** Where the time of a crawl goes, measured on a clock that the test moves. */

import { describe, expect, test } from 'vitest'
import { bottleneckOf, Meters } from '../../../src/engine/stats/meters.js'
import type { Bottleneck, StageName, StageStats } from '../../../src/engine/stats/stats.js'
import { ManualClock } from '../manual-clock.js'

function setUp(slots: number) {
  const clock = new ManualClock()
  const meters = new Meters(clock, slots)
  return { clock, meters }
}

describe('slot time', () => {
  test('a stage has the share of the slots that pages spent in it', () => {
    const { clock, meters } = setUp(4)
    meters.enter('fetch', clock.now())
    meters.enter('fetch', clock.now())
    clock.advance(100)
    meters.leave('fetch', clock.now())
    meters.enter('hooks', clock.now())
    clock.advance(100)
    const { fetch, hooks, extract } = meters.stages(undefined, 0)
    // Of 4 × 200 ms: two pages for 100 ms and one for another 100.
    expect(fetch).toMatchObject({ slotShare: 300 / 800, queue: 1, done: 1, perSecond: 5 })
    expect(hooks).toMatchObject({ slotShare: 100 / 800, queue: 1, done: 0 })
    expect(extract).toMatchObject({ slotShare: 0, queue: 0, done: 0 })
    expect(meters.elapsedMs).toBe(200)
  })

  test('empty slots are counted by their reason', () => {
    const { clock, meters } = setUp(10)
    meters.setIdle('discovery', 10, clock.now())
    clock.advance(100)
    meters.setIdle('politeness', 5, clock.now())
    clock.advance(100)
    meters.setIdle('paused', 10, clock.now())
    clock.advance(200)
    meters.setIdle('store', 8, clock.now())
    clock.advance(100)
    const shares = {
      discovery: 1000 / 5000,
      politeness: 500 / 5000,
      schedule: 0,
      paused: 2000 / 5000,
      store: 800 / 5000,
      queue: 0,
    }
    expect(meters.idle).toEqual(shares)
    // Asking does not change the answer.
    expect(meters.idle).toEqual(shares)
  })

  test('before any time has passed nothing is divided by zero', () => {
    const { meters } = setUp(1)
    const numbers = Object.values(meters.stages(undefined, 0)).flatMap((stage) => Object.values(stage))
    expect([...numbers, ...Object.values(meters.idle)].every((n) => n === 0)).toBe(true)
  })
})

describe('busy time', () => {
  test('a stage has the share of the thread that it kept, and fetch what is left', () => {
    const { clock, meters } = setUp(2)
    meters.addBusy('extract', 30, 2)
    meters.addBusy('extract', 10)
    meters.addBusy('admit', 20, 60)
    clock.advance(100)
    const { extract, admit, fetch, frontier } = meters.stages(0.8, 0)
    expect(extract).toMatchObject({ busyShare: 0.4, done: 2 })
    expect(admit).toMatchObject({ busyShare: 0.2, done: 60, perSecond: 600 })
    expect(fetch.busyShare).toBeCloseTo(0.2)
    expect(frontier.busyShare).toBe(0)
  })

  test('fetch never has less than nothing', () => {
    const { clock, meters } = setUp(2)
    meters.addBusy('extract', 90)
    clock.advance(100)
    expect(meters.stages(0.5, 0).fetch.busyShare).toBe(0)
    expect(meters.stages(undefined, 0).fetch.busyShare).toBe(0)
  })

  test('the thread is as busy as it was on average, however often one asks', () => {
    const { clock, meters } = setUp(1)
    clock.busy = 1
    clock.advance(100)
    expect(meters.threadBusy).toBe(1)
    clock.busy = 0
    clock.advance(300)
    expect(meters.threadBusy).toBe(0.25)
    expect(meters.threadBusy).toBe(0.25)
  })

  test('a clock that does not know says so', () => {
    const { meters } = setUp(1)
    expect(meters.threadBusy).toBeUndefined()
  })
})

describe('the bottleneck', () => {
  type Shares = Partial<Record<Bottleneck, number>>

  function name(slot: Shares, busy: Shares, threadBusy: number | undefined): Bottleneck {
    const stage = (name: StageName): StageStats => {
      return { done: 0, perSecond: 0, queue: 0, slotShare: slot[name] ?? 0, busyShare: busy[name] ?? 0 }
    }
    const stages = {
      frontier: stage('frontier'),
      fetch: stage('fetch'),
      extract: stage('extract'),
      hooks: stage('hooks'),
      admit: stage('admit'),
    }
    const { politeness = 0, schedule = 0, discovery = 0, paused = 0, store = 0 } = slot
    return bottleneckOf(stages, { politeness, schedule, discovery, queue: 0, paused, store }, threadBusy)
  }

  test('names the bandwidth if nearly all that is allowed was used, unless the thread is full', () => {
    const meters = new Meters(new ManualClock(), 1)
    const read = (threadBusy: number, lineShare: number) =>
      bottleneckOf(meters.stages(threadBusy, 0), meters.idle, threadBusy, {}, lineShare)
    expect(read(0.2, 0.95)).toBe('bandwidth')
    expect(read(0.2, 0.5)).not.toBe('bandwidth')
    expect(read(0.95, 0.95)).not.toBe('bandwidth')
  })

  test.each<[string, Shares, Shares, number | undefined, Bottleneck]>([
    ['pages wait for servers', { fetch: 0.8, hooks: 0.1 }, { extract: 0.5 }, 0.6, 'fetch'],
    ['pages wait for hooks', { fetch: 0.2, hooks: 0.7 }, {}, 0.1, 'hooks'],
    ['hosts rest', { fetch: 0.1, politeness: 0.9 }, { extract: 0.1 }, 0.2, 'politeness'],
    ['nothing is due yet', { schedule: 0.9, politeness: 0.1 }, {}, 0.01, 'schedule'],
    ['nothing to fetch', { discovery: 0.9, politeness: 0.1 }, {}, 0.01, 'discovery'],
    ['paused', { paused: 0.6, fetch: 0.3 }, {}, undefined, 'paused'],
    ['the store cannot write', { store: 0.5, politeness: 0.4, fetch: 0.1 }, {}, 0.1, 'store'],
    [
      'the thread is full of extraction',
      { fetch: 0.9 },
      { extract: 0.5, admit: 0.2, fetch: 0.2 },
      0.95,
      'extract',
    ],
    ['the thread is full, and slots stand empty', { politeness: 0.9 }, { admit: 0.6 }, 0.9, 'admit'],
    ['virtual time knows no busy thread', { fetch: 0.6 }, { extract: 0.9 }, undefined, 'fetch'],
  ])('%s', (_, slot, busy, threadBusy, expected) => {
    expect(name(slot, busy, threadBusy)).toBe(expected)
  })
})
