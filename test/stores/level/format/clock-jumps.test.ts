/**
 * A system clock that is set between two runs. True time goes on all the same, and pauses are kept in true time: where
 * the machine has a clock that nobody can set (`steady`), exactly; elsewhere as well as can be.
 */

import type { CrawlRequest } from 'kumo'
import { type Clock, type Settlement, systemClock } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { ORDINARY } from '../../../../src/conformance/frontier/fixtures.js'
import { sleep } from '../../../crawler/support.js'
import { requestFor } from '../../../fetch/support.js'
import { sample } from '../../../thorough.js'
import { folder } from '../folders.js'
import { left } from '../opening/damage-fixture.js'
import { type Opened, openStore, takeIn } from '../support.js'

const HOUR_MS = 3_600_000
const DELAY_MS = ORDINARY.delayMs
/** Instants may be kept in whole milliseconds. */
const SLACK_MS = 2

const real = systemClock()

interface Jump {
  /** How far the clock stands from true time. */
  readonly shiftMs: number
  /** The name of the steady scale; undefined: the machine has none. */
  readonly boot?: string | undefined
}

/** A clock that is wrong by an amount that stays the same while it runs. */
function clockOf({ shiftMs, boot }: Jump): Clock {
  return {
    now: () => real.now() + shiftMs,
    wakeAt: (at, callback) => real.wakeAt(at - shiftMs, callback),
    ...(boot !== undefined && { steady: () => ({ scale: boot, ms: real.now() - 1_000_000 }) }),
  }
}

/** The next life, by a clock that was set meanwhile. */
type Next = (opened: Opened, path: string, jump: Jump) => ReturnType<typeof life>

const afterCrash: Next = async (opened, path, jump) => {
  await opened.flush()
  const { path: copy } = await left(path)
  await opened.close()
  return life(copy, jump)
}

const afterClose: Next = async (opened, path, jump) => {
  await opened.close()
  return life(path, jump)
}

async function life(path: string, jump: Jump) {
  const clock = clockOf(jump)
  const opened = await openStore(path, {}, { clock, politeness: ORDINARY })
  return { path, clock, opened }
}

/** Longer than any machine takes; only a request that never comes runs into it. */
const PATIENCE_MS = 300_000

/**
 * In true time: when a request of the first host is handed out at last, and when it was last refused. Upper bounds are
 * on the refusal: a busy machine may ask late, but must not be refused late.
 */
async function handedOut({ opened, clock }: Awaited<ReturnType<typeof life>>) {
  const deadline = real.now() + PATIENCE_MS
  let refusedAt = Number.NEGATIVE_INFINITY
  for (let askedAt = real.now(); askedAt < deadline; askedAt = real.now()) {
    const leases = await opened.frontier.lease(2, clock.now())
    if (leases.some(({ host }) => host === 'a.example')) return { at: real.now(), refusedAt }
    refusedAt = askedAt
    await sleep(1)
  }
  return { at: Number.POSITIVE_INFINITY, refusedAt }
}

type Ending = (lease: CrawlRequest, now: number) => Settlement

/** Each keeps the second request of a host waiting for a second of true time from `now` on. */
const WAITS: readonly (readonly [string, Ending])[] = [
  ['the pause after a visit', (request, now) => ({ request, visitedAt: now })],
  ['a backoff', (request, now) => ({ request, visitedAt: undefined, hostNotBefore: now + DELAY_MS })],
]

const STEADY: readonly (readonly [string, number])[] = [
  ['an hour forward', HOUR_MS],
  ['an hour back', -HOUR_MS],
  ['not at all', 0],
]

/** One visit in a first life, which crashes right after it. */
async function firstLife(boot: string | undefined, requests: readonly string[], ending: Ending) {
  const path = await folder()
  const first = await life(path, { shiftMs: 0, boot })
  await takeIn(first.opened, requests.map(requestFor))
  const [lease] = await first.opened.frontier.lease(1, first.clock.now())
  const visitedAt = real.now()
  await first.opened.frontier.settle([ending(lease!, first.clock.now())])
  return { ...first, dueAt: visitedAt + DELAY_MS }
}

const TWO = ['https://a.example/1', 'https://a.example/2']

const ENDS: readonly (readonly [string, Next])[] = [
  ['was closed', afterClose],
  ['crashed', afterCrash],
]

const CASES = STEADY.flatMap(([how, shiftMs]) =>
  ENDS.map(([end, next]) => [how, end, shiftMs, next] as const),
)

describe.for(sample(CASES, 3))('the clock is set %s after a run that %s', ([, , shiftMs, next]) => {
  test.for(WAITS)('%s ends when it should', async ([, ending]) => {
    const { opened, path, dueAt } = await firstLife('boot', TWO, ending)
    const second = await next(opened, path, { shiftMs, boot: 'boot' })
    const { at, refusedAt } = await handedOut(second)
    expect(at).toBeGreaterThanOrEqual(dueAt - SLACK_MS)
    expect(refusedAt).toBeLessThan(dueAt + DELAY_MS)
  })

  test("a request's own time comes when it should", async () => {
    const again: Ending = (request, now) => ({
      request,
      visitedAt: undefined,
      again: { at: now + DELAY_MS, attempt: 1 },
    })
    const { opened, path, dueAt } = await firstLife('boot', TWO.slice(0, 1), again)
    const second = await next(opened, path, { shiftMs, boot: 'boot' })
    const { at, refusedAt } = await handedOut(second)
    expect(at).toBeGreaterThanOrEqual(dueAt - SLACK_MS)
    expect(refusedAt).toBeLessThan(dueAt + DELAY_MS)
  })

  test('the pause of a host without requests is kept for those to come', async () => {
    const ending: Ending = (request, now) => ({ request, visitedAt: now })
    const { opened, path, dueAt } = await firstLife('boot', TWO.slice(0, 1), ending)
    const second = await next(opened, path, { shiftMs, boot: 'boot' })
    await takeIn(second.opened, [requestFor(TWO[1]!)])
    const { at, refusedAt } = await handedOut(second)
    expect(at).toBeGreaterThanOrEqual(dueAt - SLACK_MS)
    expect(refusedAt).toBeLessThan(dueAt + DELAY_MS)
  })

  test('and again before a third run, back to the right time', async () => {
    const ending: Ending = (request, now) => ({ request, visitedAt: now })
    const { opened, path, dueAt } = await firstLife('boot', TWO, ending)
    const second = await next(opened, path, { shiftMs, boot: 'boot' })
    await takeIn(second.opened, [requestFor('https://other.example/')])
    const third = await next(second.opened, second.path, { shiftMs: 0, boot: 'boot' })
    const { at, refusedAt } = await handedOut(third)
    expect(at).toBeGreaterThanOrEqual(dueAt - SLACK_MS)
    expect(refusedAt).toBeLessThan(dueAt + DELAY_MS)
  })
})

/** No scale at all, or the machine was started anew between the runs. */
const UNSTEADY: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ['no steady clock', undefined, undefined],
  ['a restart of the machine', 'boot', 'another boot'],
]

describe.for(UNSTEADY)('with %s', ([, before, after]) => {
  test.for(WAITS)('a clock set forward is believed, so that %s is cut short', async ([, ending]) => {
    const { opened, path } = await firstLife(before, TWO, ending)
    const second = await afterClose(opened, path, { shiftMs: HOUR_MS, boot: after })
    const from = real.now()
    expect((await handedOut(second)).refusedAt - from).toBeLessThan(DELAY_MS / 2)
  })

  test.for(WAITS)('a clock set back leaves nothing stuck: %s is at most begun anew', async ([, ending]) => {
    const { opened, path, dueAt } = await firstLife(before, TWO, ending)
    const second = await afterClose(opened, path, { shiftMs: -HOUR_MS, boot: after })
    const from = real.now()
    const { at, refusedAt } = await handedOut(second)
    expect(at).toBeGreaterThanOrEqual(dueAt - SLACK_MS)
    expect(refusedAt - from).toBeLessThan(2 * DELAY_MS)
  })

  test.for(WAITS)('a clock that was not set keeps %s', async ([, ending]) => {
    const { opened, path, dueAt } = await firstLife(before, TWO, ending)
    const second = await afterClose(opened, path, { shiftMs: 0, boot: after })
    const { at, refusedAt } = await handedOut(second)
    expect(at).toBeGreaterThanOrEqual(dueAt - SLACK_MS)
    expect(refusedAt).toBeLessThan(dueAt + DELAY_MS)
  })
})

test('a jump in the past that a steady clock saw through does not count when the machine starts anew', async () => {
  const path = await folder()
  const first = await life(path, { shiftMs: 0, boot: 'boot' })
  await takeIn(first.opened, TWO.map(requestFor))
  // The clock is set forward by an hour while nobody runs, and stays so.
  const second = await afterClose(first.opened, path, { shiftMs: HOUR_MS, boot: 'boot' })
  let lease: CrawlRequest | undefined
  // What is on disk is brought in beside the loop.
  while (lease === undefined) {
    await sleep(1)
    lease = (await second.opened.frontier.lease(1, second.clock.now()))[0]
  }
  const dueAt = real.now() + DELAY_MS
  await second.opened.frontier.settle([{ request: lease, visitedAt: second.clock.now() }])
  const third = await afterClose(second.opened, second.path, { shiftMs: HOUR_MS, boot: 'another boot' })
  const { at, refusedAt } = await handedOut(third)
  expect(at).toBeGreaterThanOrEqual(dueAt - SLACK_MS)
  expect(refusedAt).toBeLessThan(dueAt + DELAY_MS)
})
