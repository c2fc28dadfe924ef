/** How long a host that fails is left alone, as a table. */

import { describe, expect, test } from 'vitest'
import { backOff, type HealthRules, isDown } from '../../../src/engine/visit/host-health.js'
import type { HostTrouble } from '../../../src/types.js'

const rules: HealthRules = {
  backoffMs: 1000,
  maxBackoffMs: 5000,
  maxRetryAfterMs: 20_000,
  cooldownAfter: 4,
  cooldownMs: 100_000,
  cooldowns: 2,
}
const NO_LUCK = 0.999_999_9

/** Incidents one after another, each when the wait for the one before is over. */
function incidents(count: number, chance: number): { waits: number[]; trouble: HostTrouble | undefined } {
  const waits: number[] = []
  let trouble: HostTrouble | undefined
  let at = 0
  for (let i = 0; i < count; i++) {
    const back = backOff(trouble, { startedAt: at, endedAt: at + 10 }, rules, chance)
    waits.push(Math.round(back.hostNotBefore - at - 10))
    trouble = back.trouble
    at = back.hostNotBefore
  }
  return { waits, trouble }
}

describe('a host that keeps failing', () => {
  test('waits twice as long each time, then is set aside, each time twice as long', () => {
    expect(incidents(5, NO_LUCK).waits).toEqual([1000, 2000, 4000, 100_000, 200_000])
  })

  test('waits at least half of that, as chance wants it', () => {
    expect(incidents(4, 0).waits).toEqual([500, 1000, 2000, 50_000])
  })

  test('is given up after it was set aside as often as allowed', () => {
    expect([4, 5, 6].map((count) => isDown(incidents(count, 0).trouble, rules))).toEqual([false, false, true])
    expect(isDown(undefined, rules)).toBe(false)
  })

  test('that is given up makes nobody wait any longer', () => {
    expect(incidents(6, NO_LUCK).waits.at(-1)).toBe(0)
  })

  test('is never set aside for longer than a day', () => {
    const patient = { ...rules, cooldowns: 1000 }
    const { hostNotBefore } = backOff(
      { incidents: 900, since: 0 },
      { startedAt: 1, endedAt: 2 },
      patient,
      NO_LUCK,
    )
    expect(hostNotBefore).toBeCloseTo(2 + 86_400_000, -2)
  })

  test('lets its other URLs have a turn before the one that failed', () => {
    const { hostNotBefore, retryAt } = backOff(undefined, { startedAt: 0, endedAt: 0 }, rules, NO_LUCK)
    expect(retryAt).toBeCloseTo(2 * hostNotBefore, 0)
  })
})

describe('a burst', () => {
  test('of visits that were under way together is one incident', () => {
    let trouble: HostTrouble | undefined
    for (let i = 0; i < 10; i++) {
      trouble = backOff(trouble, { startedAt: i, endedAt: 100 + i }, rules, 0).trouble
    }
    expect(trouble).toEqual({ incidents: 1, since: 100 })
    expect(backOff(trouble, { startedAt: 101, endedAt: 200 }, rules, 0).trouble.incidents).toBe(2)
  })
})

describe('Retry-After', () => {
  test.each([
    [undefined, 500],
    [0, 500],
    [400, 500],
    [7000, 7000],
    [20_000, 20_000],
    [3_600_000, 20_000],
  ])('of %s ms makes the host wait %i ms', (retryAfterMs, wait) => {
    const visit = { startedAt: 0, endedAt: 50, retryAfterMs }
    expect(backOff(undefined, visit, rules, 0).hostNotBefore).toBe(50 + wait)
  })
})
