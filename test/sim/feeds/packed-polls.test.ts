import { expect, test } from 'vitest'
import type { PollObservation, PollRecord } from '../../../src/feeds/schedule/contract.js'
import { PollSchedule } from '../../../src/feeds/schedule/poll-schedule.js'
import { pollRules } from '../../../src/feeds/schedule/rules.js'
import { PackedPolls } from '../../../src/sim/feeds/packed-polls.js'

const DAY = 86_400_000

test('a packed record is planned like the record itself, and takes 56 bytes', () => {
  const schedule = new PollSchedule(pollRules(), { visitIntervalMs: 1000 })
  const packed = new PackedPolls(10)
  expect(packed.bytes).toBe(560)
  expect(packed.get(3)).toBeUndefined()
  const poll = (at: number, more: Partial<PollObservation>): PollObservation => ({
    at,
    outcome: 'feed',
    first: false,
    fresh: 0,
    recovered: 0,
    window: 10,
    overlaps: true,
    unbounded: false,
    published: [],
    ...more,
  })
  let record: PollRecord | undefined
  const polls: Partial<PollObservation>[] = [
    { first: true, fresh: 10 },
    { fresh: 2 },
    { fresh: 10, overlaps: false },
    { fresh: 3, notBefore: DAY * 30_000 },
    { outcome: 'failed' },
    { fresh: 1, unbounded: true },
    { hints: { intervalMs: 5, skipHours: [3], skipDays: ['Monday'] } },
  ]
  for (const [day, more] of polls.entries()) {
    record = schedule.polled('a.example', record, poll(DAY * (19_000 + day), more)).record
    packed.set(3, record)
    const { account, ...known } = packed.get(3)!
    const { account: counted, ...stored } = record
    expect(known).toEqual(stored)
    expect(counted.polls).toBeGreaterThan(account.polls)
  }
})
