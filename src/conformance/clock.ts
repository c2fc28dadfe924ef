/** Proves a `Clock` and a `Random`, both real and simulated ones. */

import assert from 'node:assert/strict'
import type { Clock, Random } from '../time.js'
import type { MaybePromise } from '../types.js'
import { casesOf, type SuiteOptions } from './suite.js'

/** A clock, and how to let its time pass. */
export interface ClockUnderTest {
  clock: Clock
  /**
   * Lets at least `ms` milliseconds pass on this clock and runs the callbacks that become due: a real clock waits, a
   * virtual one is driven.
   */
  pass(ms: number): MaybePromise<void>
}

/** A difference that even a coarse clock on a busy machine can resolve, in ms. */
const STEP_MS = 20

/** More than setTimeout accepts: it fires immediately when asked for more. */
const FORTY_DAYS_MS = 40 * 86_400_000

/** Registers the cases that every clock must pass. */
export function clockSuite(options: SuiteOptions<ClockUnderTest>): void {
  const check = casesOf(options)

  check('now is a number of milliseconds that never decreases', async ({ clock, pass }) => {
    let last = clock.now()
    const look = () => {
      const now = clock.now()
      assert.ok(Number.isFinite(now), `now is ${now}`)
      assert.ok(now >= last, `the clock went back by ${last - now} ms`)
      last = now
    }
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 1000; i++) look()
      await pass(1)
    }
    look()
  })

  check('time passes', async ({ clock, pass }) => {
    const before = clock.now()
    await pass(STEP_MS)
    assert.ok(clock.now() >= before + STEP_MS, `${clock.now() - before} ms passed instead of ${STEP_MS} ms`)
  })

  check('a callback is called once, never early, and never synchronously', async ({ clock, pass }) => {
    const start = clock.now()
    const instants = [0.25, 1, 1.5, 2, 3.999, 7.3, 10, STEP_MS].map((ms) => start + ms)
    const calls: { at: number; now: number }[] = []
    for (const at of instants) clock.wakeAt(at, () => calls.push({ at, now: clock.now() }))
    assert.equal(calls.length, 0, 'called before wakeAt returned')
    await pass(2 * STEP_MS)
    for (const { at, now } of calls) assert.ok(now >= at, `called ${at - now} ms early`)
    await pass(2 * STEP_MS)
    assert.deepEqual(
      calls.map(({ at }) => at).sort((a, b) => a - b),
      instants,
    )
  })

  check('a time in the past counts as now', async ({ clock, pass }) => {
    const called: string[] = []
    clock.wakeAt(clock.now(), () => called.push('now'))
    clock.wakeAt(clock.now() - 10_000, () => called.push('past'))
    clock.wakeAt(0, () => called.push('epoch'))
    assert.deepEqual(called, [], 'called before wakeAt returned')
    await pass(STEP_MS)
    assert.deepEqual(called.sort(), ['epoch', 'now', 'past'])
  })

  check('no callback is called before its time', async ({ clock, pass }) => {
    let called = 0
    const start = clock.now()
    const timers = [1000 * STEP_MS, FORTY_DAYS_MS].map((ms) => clock.wakeAt(start + ms, () => called++))
    await pass(STEP_MS)
    assert.equal(called, 0)
    for (const timer of timers) timer.cancel()
  })

  check(
    'callbacks are called in the order of their times, not of their registration',
    async ({ clock, pass }) => {
      const start = clock.now()
      const order: number[] = []
      for (const step of [3, 1, 4, 2]) clock.wakeAt(start + step * STEP_MS, () => order.push(step))
      await pass(6 * STEP_MS)
      assert.deepEqual(order, [1, 2, 3, 4])
    },
  )

  check('a cancelled callback is not called', async ({ clock, pass }) => {
    const called: string[] = []
    const start = clock.now()
    const future = clock.wakeAt(start + STEP_MS, () => called.push('future'))
    const past = clock.wakeAt(start - 1, () => called.push('past'))
    clock.wakeAt(start + STEP_MS, () => called.push('kept'))
    future.cancel()
    past.cancel()
    future.cancel()
    await pass(3 * STEP_MS)
    assert.deepEqual(called, ['kept'])
  })

  check('a callback may cancel another one, even if that is overdue', async ({ clock, pass }) => {
    const called: string[] = []
    const start = clock.now()
    const later = clock.wakeAt(start + 3 * STEP_MS, () => called.push('later'))
    clock.wakeAt(start + STEP_MS, () => {
      called.push('sooner')
      later.cancel()
    })
    await pass(6 * STEP_MS)
    assert.deepEqual(called, ['sooner'])
  })

  check('cancelling after the call has no effect, on this timer or on others', async ({ clock, pass }) => {
    let called = 0
    const first = clock.wakeAt(clock.now() + 1, () => {
      called++
      first.cancel()
    })
    await pass(STEP_MS)
    clock.wakeAt(clock.now() + 1, () => called++)
    first.cancel()
    await pass(STEP_MS)
    assert.equal(called, 2)
  })

  check('a callback may set another timer', async ({ clock, pass }) => {
    const woken: number[] = []
    const again = () => {
      woken.push(clock.now())
      if (woken.length < 5) clock.wakeAt(clock.now() + 1, again)
    }
    clock.wakeAt(clock.now() + 1, again)
    for (let i = 0; i < 10; i++) await pass(STEP_MS / 2)
    assert.equal(woken.length, 5)
    for (let i = 1; i < woken.length; i++) assert.ok(woken[i]! >= woken[i - 1]! + 1)
  })

  check('busyShare, if implemented, is between 0 and 1', async ({ clock, pass }) => {
    await pass(STEP_MS)
    const share = clock.busyShare?.()
    assert.ok(share === undefined || (share >= 0 && share <= 1), `busyShare is ${share}`)
  })
}

/** Options of the suite for sources of randomness. */
export interface RandomSuiteOptions extends SuiteOptions<Random> {
  /** Creates a source from a seed, if it supports seeds: the same seed must give the same numbers. */
  seeded?: (seed: number) => Random
}

const DRAWS = 200_000

/** How many standard deviations statistics may be off: by chance this happens once in hundreds of millions. */
const DEVIATIONS = 6

/** Registers the cases that every source of randomness must pass. */
export function randomSuite(options: RandomSuiteOptions): void {
  const check = casesOf(options)

  check('numbers are in [0, 1)', (random) => {
    for (let i = 0; i < DRAWS; i++) {
      const x = random.next()
      assert.ok(x >= 0 && x < 1, `drew ${x}`)
    }
  })

  check('mean and variance are those of a uniform distribution', (random) => {
    const drawn = draw(random, DRAWS)
    const mean = average(drawn)
    const variance = average(drawn.map((x) => (x - 0.5) ** 2))
    // A uniform number has the variance 1/12; its squared distance from 1/2 has the variance 1/180.
    near('the mean', mean, 1 / 2, Math.sqrt(1 / 12 / DRAWS))
    near('the variance', variance, 1 / 12, Math.sqrt(1 / 180 / DRAWS))
  })

  check('all parts of the range are equally likely', (random) => {
    const parts = 64
    const counts = new Uint32Array(parts)
    for (const x of draw(random, DRAWS)) counts[Math.floor(x * parts)]!++
    for (const [part, count] of counts.entries()) {
      near(`the share of part ${part}`, count, DRAWS / parts, Math.sqrt(DRAWS / parts))
    }
  })

  check('successive numbers are uncorrelated', (random) => {
    const drawn = draw(random, DRAWS)
    for (const lag of [1, 2, 3, 10]) {
      const products = drawn.slice(lag).map((x, i) => 12 * (x - 0.5) * (drawn[i]! - 0.5))
      near(`the correlation at distance ${lag}`, average(products), 0, 1 / Math.sqrt(products.length))
    }
  })

  const { seeded } = options
  if (!seeded) return
  const checkSeeded = casesOf({ it: options.it, create: () => seeded })

  checkSeeded('the same seed gives the same numbers', (from) => {
    for (const seed of [0, 1, 42, -1, 2 ** 31, 2 ** 32 - 1]) {
      assert.deepEqual(draw(from(seed), 1000), draw(from(seed), 1000))
    }
  })

  checkSeeded('two sources with the same seed do not share their state', (from) => {
    const expected = draw(from(7), 100)
    const [a, b] = [from(7), from(7)]
    for (const x of expected) assert.deepEqual([a.next(), b.next()], [x, x])
  })

  checkSeeded('neighbouring seeds give unrelated numbers', (from) => {
    const firsts = Array.from({ length: 10_000 }, (_, seed) => from(seed).next())
    assert.equal(new Set(firsts).size > 9990, true, 'many seeds start with the same number')
    near('the mean of first numbers', average(firsts), 1 / 2, Math.sqrt(1 / 12 / firsts.length))
    const products = firsts.slice(1).map((x, i) => 12 * (x - 0.5) * (firsts[i]! - 0.5))
    near('the correlation of neighbours', average(products), 0, 1 / Math.sqrt(products.length))
  })
}

function near(what: string, value: number, expected: number, deviation: number): void {
  const off = Math.abs(value - expected) / deviation
  assert.ok(off <= DEVIATIONS, `${what} is ${value}, ${off.toFixed(1)} standard deviations from ${expected}`)
}

function draw(random: Random, count: number): number[] {
  return Array.from({ length: count }, () => random.next())
}

function average(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}
