import { describe, expect, test } from 'vitest'
import type { PollObservation, PollOptions, PollRecord } from '../../../src/feeds/schedule/contract.js'
import { PollSchedule } from '../../../src/feeds/schedule/poll-schedule.js'
import { pollRules } from '../../../src/feeds/schedule/rules.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.UTC(2024, 0, 1)

function schedule(options: PollOptions = {}, visitIntervalMs = 1000): PollSchedule {
  return new PollSchedule(pollRules(options), { visitIntervalMs })
}

function poll(at: number, fresh: number, more: Partial<PollObservation> = {}): PollObservation {
  return {
    at,
    outcome: 'feed',
    first: false,
    fresh,
    recovered: 0,
    window: 10,
    overlaps: fresh < 10,
    unbounded: false,
    published: [],
    ...more,
  }
}

/** A feed that posted `fresh` articles on each of some days. */
function watched(
  on: PollSchedule,
  fresh: number,
  days = 60,
  more: Partial<PollObservation> = {},
): PollRecord {
  let record = on.polled('a.example', undefined, poll(START, 10, { first: true, ...more })).record
  for (let day = 1; day <= days; day++)
    record = on.polled('a.example', record, poll(START + day * DAY, fresh, more)).record
  return record
}

const intervalOf = ({ at, due }: PollRecord) => (due - at) / DAY

describe('when a feed is polled', () => {
  test('a busy one soon, a quiet one later, a silent one after the longest interval', () => {
    const on = schedule()
    const [busy, quiet, silent] = [watched(on, 8), watched(on, 1), watched(on, 0)]
    expect(intervalOf(busy)).toBeLessThan(2)
    expect(intervalOf(quiet)).toBeGreaterThan(intervalOf(busy) * 2)
    expect(silent.why).toBe('max')
    expect(intervalOf(silent)).toBe(30)
    expect(busy.why).toBe('index')
  })

  test('a price that rose delays it, one that fell makes it earlier', () => {
    const on = schedule()
    const record = watched(on, 2)
    const due = on.dueAt(record)
    expect(due).toBe(record.due)
    on.setPrice(on.price * 4)
    expect(on.dueAt(record)).toBeGreaterThan(due)
    expect(on.isDue(record, due)).toBe(false)
    on.setPrice(on.price / 16)
    expect(on.dueAt(record)).toBeLessThan(due)
    expect(on.isDue(record, due)).toBe(true)
  })

  test('it is leased a little earlier, to notice a price that fell', () => {
    const on = schedule()
    const before = watched(on, 2)
    const next = on.polled('a.example', before, poll(before.at + 2 * DAY, 4))
    expect(next.at).toBeLessThan(next.record.due)
    expect(next.at).toBeGreaterThan(next.record.at + (next.record.due - next.record.at) / 2)
  })

  test('a feed about which little is known is not left alone for long', () => {
    const on = schedule()
    let { record, why } = on.polled('a.example', undefined, poll(START, 3, { first: true }))
    expect(why).toBe('learning')
    expect(intervalOf(record)).toBe(1)
    const intervals: number[] = []
    for (let k = 0; k < 8; k++) {
      record = on.polled('a.example', record, poll(record.due, 0)).record
      intervals.push(Math.round(intervalOf(record)))
    }
    expect(intervals[0]).toBe(1)
    expect(intervals.at(-1)).toBe(30)
  })

  test('dates of the first window make learning unnecessary', () => {
    const on = schedule()
    const published = Array.from({ length: 10 }, (_, at) => START - at * 40 * DAY)
    const { record } = on.polled('a.example', undefined, poll(START, 10, { first: true, published }))
    expect(intervalOf(record)).toBeGreaterThan(20)
  })

  test.each<[string, Partial<PollObservation>, string, number]>([
    ['Cache-Control and Retry-After are kept', { notBefore: START + 80 * DAY }, 'notBefore', 20],
    ['but not beyond the longest interval', { notBefore: START + 4000 * DAY }, 'notBefore', 30],
    [
      'a ttl delays a poll, to twice the interval at most',
      { hints: hints({ intervalMs: 90 * DAY }) },
      'hint',
      0,
    ],
    ['and a short one changes nothing', { hints: hints({ intervalMs: HOUR }) }, 'index', 0],
  ])('%s', (_, more, why, days) => {
    const on = schedule()
    const record = watched(on, 3, 59)
    const plain = on.polled('a.example', record, poll(START + 60 * DAY, 3))
    const next = on.polled('a.example', record, poll(START + 60 * DAY, 3, more))
    expect(next.why).toBe(why)
    if (days > 0) expect(intervalOf(next.record)).toBeCloseTo(days, 5)
    else expect(intervalOf(next.record)).toBeLessThanOrEqual(2 * intervalOf(plain.record) + 0.01)
  })

  test('hours and days in which a feed does not change are avoided', () => {
    const on = schedule()
    const before = watched(on, 3, 59)
    // Every day but Wednesday.
    const days = ['Sunday', 'Monday', 'Tuesday', 'Thursday', 'Friday', 'Saturday']
    const { record, why } = on.polled(
      'a.example',
      before,
      poll(START + 60 * DAY, 3, { hints: hints({ skipDays: days }) }),
    )
    if (why === 'hint') expect(new Date(record.due).getUTCDay() === 3 || intervalOf(record) > 2).toBe(true)
    const never = hints({
      skipDays: [...days, 'Wednesday'],
      skipHours: Array.from({ length: 24 }, (_, hour) => hour),
    })
    const all = on.polled('a.example', before, poll(START + 60 * DAY, 3, { hints: never }))
    expect(all.record.skipDays).toBeUndefined()
    expect(all.why).toBe('index')
  })

  test('failures are waited out ever longer, and the feed is never forgotten', () => {
    const on = schedule({ max: '7d' })
    let record = watched(on, 8)
    const waits: number[] = []
    for (let k = 0; k < 20; k++) {
      record = on.polled('a.example', record, poll(record.due, 0, { outcome: 'failed', window: 0 })).record
      waits.push((record.due - record.at) / HOUR)
    }
    expect(record.why).toBe('backoff')
    expect(waits.toSorted((one, other) => one - other)).toEqual(waits)
    expect(waits.at(-1)).toBe(7 * 24)
    expect(record.failures).toBe(20)
    expect(record.window).toBe(10)
    const back = on.polled('a.example', record, poll(record.due, 5))
    expect(back.record.failures).toBeUndefined()
    expect(back.record.account.failed).toBe(20)
  })

  test('the shortest interval is kept by the busiest feed', () => {
    const on = schedule({ min: '6h' })
    expect(intervalOf(watched(on, 10, 60, { overlaps: false }))).toBeGreaterThanOrEqual(0.25)
  })

  test('a feed that shows everything is polled for its delay only', () => {
    const on = schedule()
    const windowed = watched(on, 8)
    const complete = watched(on, 8, 60, { unbounded: true, overlaps: true })
    expect(complete.unbounded).toBe(true)
    expect(intervalOf(complete)).toBeGreaterThan(intervalOf(windowed))
  })
})

describe('what may be wrong', () => {
  test.each<[string, Partial<PollObservation>]>([
    ['a window of 0', { window: 0 }],
    ['no time since the last poll', { at: START + 60 * DAY }],
    ['a clock that was set back by an hour', { at: START + 60 * DAY - HOUR }],
    ['a clock that was set back by a year', { at: START - 365 * DAY }],
    ['dates that are no dates', { published: [Number.NaN, Number.POSITIVE_INFINITY, -1e18, 1e18] }],
    ['counts that are no numbers', { fresh: Number.NaN, window: Number.NaN }],
    ['a negative count', { fresh: -5 }],
    ['a time in the past as notBefore', { notBefore: 0 }],
    [
      'hints without sense',
      { hints: hints({ intervalMs: Number.NaN, skipHours: [99, -1, 0.5], skipDays: ['Caturday'] }) },
    ],
    ['a host without interval', { visitIntervalMs: 0 }],
  ])('%s: the next poll is within the bounds', (_, more) => {
    const on = schedule()
    const before = watched(on, 2)
    const next = on.polled('a.example', before, poll(START + 61 * DAY, 2, more))
    const at = more.at ?? START + 61 * DAY
    expect(next.record.due - at).toBeGreaterThanOrEqual(15 * 60_000)
    expect(next.record.due - at).toBeLessThanOrEqual(30 * DAY)
    expect(next.at).toBeGreaterThan(at)
    expect(JSON.parse(JSON.stringify(next.record))).toEqual(next.record)
    for (const value of Object.values(next.record.account)) expect(value).toBeGreaterThanOrEqual(0)
  })

  test('a feed whose clock is an hour ahead or behind has delays that can be true', () => {
    const on = schedule()
    const before = watched(on, 2)
    const at = before.at + DAY
    const ahead = on.polled('a.example', before, poll(at, 1, { published: [at + HOUR] }))
    expect(ahead.record.account).toMatchObject({ delays: 1, delayMs: 0 })
    const behind = on.polled('a.example', before, poll(at, 1, { published: [at - 25 * HOUR] }))
    expect(behind.record.account).toMatchObject({ delays: 1, delayMs: 25 * HOUR })
    const old = on.polled('a.example', before, poll(at, 1, { published: [at - 400 * DAY] }))
    expect(old.record.account.delays).toBe(0)
  })

  test('a clock that was set far back does not stop a feed', () => {
    const on = schedule()
    const record = watched(on, 2)
    expect(on.isDue(record, record.at - 365 * DAY)).toBe(true)
  })
})

describe('the account', () => {
  test('counts polls, new entries, futile ones and 304s', () => {
    const on = schedule()
    let record = on.polled('a.example', undefined, poll(START, 10, { first: true })).record
    for (const [day, fresh, outcome] of [
      [1, 2, 'feed'],
      [2, 0, 'feed'],
      [3, 0, 'not-modified'],
      [4, 0, 'failed'],
      [5, 3, 'delta'],
    ] as const)
      record = on.polled('a.example', record, poll(START + day * DAY, fresh, { outcome })).record
    expect(record.account).toMatchObject({
      polls: 5,
      failed: 1,
      fresh: 5,
      futile: 1,
      notModified: 1,
      gaps: 0,
    })
    expect(on.report()).toMatchObject({ feeds: 1, spent: 5, firstPolls: 1, account: record.account })
    expect(on.outlook(record)).toMatchObject({ lost: 0, window: 10, delayMs: undefined, nextAt: record.due })
  })

  test('a window that was overrun is an estimated loss, which the next poll corrects', () => {
    const on = schedule()
    const before = watched(on, 2)
    const gap = on.polled('a.example', before, poll(before.at + 3 * DAY, 10, { overlaps: false })).record
    expect(gap.account.gaps).toBe(1)
    expect(gap.account.lostByRate).toBeGreaterThan(0)
    const busy = on.polled('a.example', gap, poll(gap.at + DAY / 4, 9)).record
    const calm = on.polled('a.example', gap, poll(gap.at + 4 * DAY, 1)).record
    expect(busy.account.lostByRate).toBeGreaterThan(calm.account.lostByRate)
    expect(busy.gap).toBeUndefined()
  })

  test('dates say how long the gap was', () => {
    const on = schedule()
    const before = watched(on, 2)
    const at = before.at + 3 * DAY
    const loss = { overlap: 0, possible: true, estimate: 12, basis: 'dates', gapMs: 2 * DAY } as const
    const gap = on.polled('a.example', before, poll(at, 10, { overlaps: false, loss })).record
    const next = on.polled('a.example', gap, poll(at + DAY, 9)).record
    // Two a day before, nine a day after: two days lie in between.
    expect(next.account.lostByDates).toBeGreaterThan(8)
    expect(next.account.lostByDates).toBeLessThan(18)
    expect(next.account.lostByRate).toBe(0)
  })

  test('where nobody can say, nothing is counted', () => {
    const on = schedule()
    const before = watched(on, 2)
    const loss = { overlap: 0, possible: false, estimate: 0, basis: 'unknown', gapMs: undefined } as const
    const next = on.polled('a.example', before, poll(before.at + DAY, 10, { overlaps: false, loss }))
    expect(next.record.account).toMatchObject({ lostByDates: 0, lostByRate: 0 })
  })
})

describe('all feeds together', () => {
  test('are counted once, whether they are remembered, polled or forgotten', () => {
    const on = schedule()
    const record = watched(on, 2)
    const other = schedule()
    other.remember('a.example', record)
    expect(other.feeds).toBe(1)
    expect(other.report().perDay).toBeCloseTo(on.report().perDay, 6)
    const next = other.polled('a.example', record, poll(record.at + DAY, 2)).record
    expect(other.feeds).toBe(1)
    other.forget('a.example', next)
    expect(other.feeds).toBe(0)
    expect(other.report().curve.polls.every((polls) => polls === 0)).toBe(true)
  })

  test('the curve falls with the price in polls and rises in losses', () => {
    const on = schedule()
    for (const fresh of [0, 1, 2, 5, 9]) watched(on, fresh)
    const { polls, lost, futile } = on.report().curve
    for (let at = 1; at < polls.length; at++) {
      expect(polls[at]!).toBeLessThanOrEqual(polls[at - 1]! * (1 + 1e-9))
      expect(lost[at]!).toBeGreaterThanOrEqual(lost[at - 1]! * (1 - 1e-3) - 1e-9)
    }
    expect(futile[0]!).toBeLessThanOrEqual(polls[0]!)
  })

  test('hosts whose feeds need more polls than the visit interval allows are reported', () => {
    const on = schedule({ min: '15m' }, 6 * HOUR)
    const record = watched(on, 9)
    for (let feed = 0; feed < 9; feed++) on.remember('a.example', record)
    const { crowded, crowdedHosts, refusedPerDay } = on.report()
    expect(crowdedHosts).toBe(1)
    expect(crowded[0]).toMatchObject({ host: 'a.example', feeds: 10, possiblePerDay: 4 })
    expect(refusedPerDay).toBeCloseTo(crowded[0]!.wantedPerDay - 4, 6)
  })
})

function hints(given: Partial<NonNullable<PollObservation['hints']>>): NonNullable<PollObservation['hints']> {
  return { intervalMs: undefined, skipHours: [], skipDays: [], ...given }
}
