import { expect, it } from 'vitest'
import { Allowance } from '../../../src/fetch/http/allowance.js'
import { ManualClock } from '../../engine/manual-clock.js'

it('falls to what could be held, less a reserve; many refusals at once count as one', () => {
  const allowance = new Allowance(1000, new ManualClock())
  expect(allowance.most).toBe(1000)
  // Five hundred begin at once and all but fifty are refused, one after the other.
  for (let held = 499; held >= 50; held--) allowance.shrink(held)
  expect(allowance.most).toBe(40)
  allowance.shrink(100)
  expect(allowance.most).toBe(40)
})

it('is one at least', () => {
  const allowance = new Allowance(10, new ManualClock())
  allowance.shrink(0)
  expect(allowance.most).toBe(1)
})

it('rises again by itself, and not beyond what it was', () => {
  const clock = new ManualClock()
  const allowance = new Allowance(100, clock)
  allowance.shrink(50)
  clock.advance(29_999)
  expect(allowance.most).toBe(40)
  clock.advance(1)
  expect(allowance.most).toBe(60)
  allowance.shrink(50)
  clock.advance(29_999)
  expect(allowance.most).toBe(40)
  clock.advance(3_600_000)
  expect(allowance.most).toBe(100)
})
