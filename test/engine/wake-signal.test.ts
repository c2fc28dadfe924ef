/** The loop's sleep: no call is missed, and no alarm is left behind. */

import { describe, expect, test } from 'vitest'
import { WakeSignal } from '../../src/engine/wake-signal.js'
import { ManualClock } from './manual-clock.js'

function setUp() {
  const clock = new ManualClock(0)
  return { clock, wake: new WakeSignal(clock) }
}

/** Whether the sleep is over, once everything that can happen now has happened. */
async function isOver(sleep: Promise<void>): Promise<boolean> {
  let over = false
  void sleep.then(() => (over = true))
  for (let i = 0; i < 5; i++) await Promise.resolve()
  return over
}

describe('sleep', () => {
  test('lasts until roused', async () => {
    const { wake } = setUp()
    const sleep = wake.sleep(Number.POSITIVE_INFINITY)
    expect(await isOver(sleep)).toBe(false)
    wake.wakeUp()
    expect(await isOver(sleep)).toBe(true)
  })

  test('a call that comes before it makes it end at once, but only once', async () => {
    const { wake } = setUp()
    wake.wakeUp()
    wake.wakeUp()
    wake.wakeUp()
    expect(await isOver(wake.sleep(Number.POSITIVE_INFINITY))).toBe(true)
    expect(await isOver(wake.sleep(Number.POSITIVE_INFINITY))).toBe(false)
  })

  test.each([
    [0, true],
    [-5, true],
    [100, false],
  ])('until the instant %i: over at once: %s', async (until, over) => {
    const { wake } = setUp()
    expect(await isOver(wake.sleep(until))).toBe(over)
  })

  test('ends when the instant has come', async () => {
    const { wake, clock } = setUp()
    const sleep = wake.sleep(100)
    clock.advance(99)
    expect(await isOver(sleep)).toBe(false)
    clock.advance(1)
    expect(await isOver(sleep)).toBe(true)
    expect(clock.alarms).toEqual([])
  })

  test('an alarm for earlier is kept, one for later is replaced', async () => {
    const { wake, clock } = setUp()
    void wake.sleep(100)
    wake.wakeUp()
    void wake.sleep(200)
    expect(clock.alarms).toEqual([100])
    wake.wakeUp()
    await wake.sleep(0)
    void wake.sleep(50)
    expect(clock.alarms).toEqual([50])
  })

  test('an alarm that rings while nobody sleeps counts as a call', async () => {
    const { wake, clock } = setUp()
    const sleep = wake.sleep(100)
    wake.wakeUp()
    await sleep
    clock.advance(100)
    expect(await isOver(wake.sleep(Number.POSITIVE_INFINITY))).toBe(true)
  })

  test('close leaves no alarm', () => {
    const { wake, clock } = setUp()
    void wake.sleep(100)
    wake.close()
    wake.close()
    expect(clock.alarms).toEqual([])
  })
})
