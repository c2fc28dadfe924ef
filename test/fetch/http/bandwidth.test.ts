import { expect, it } from 'vitest'
import { Bandwidth, bandwidthMemory } from '../../../src/fetch/http/bandwidth.js'

/** An instant in ms. */
const NOW = 1_700_000_000_000

it('makes each claim wait for those before it, over all threads', () => {
  const memory = bandwidthMemory()
  const [one, other] = [new Bandwidth(1000, memory), new Bandwidth(1000, memory)]
  expect(one.claim(500, NOW)).toBeLessThanOrEqual(0)
  expect(other.claim(500, NOW)).toBeCloseTo(480)
  expect(one.claim(100, NOW)).toBeCloseTo(980)
  expect(one.claim(100, NOW + 1000)).toBeCloseTo(80)
})

it('saves no more than a moment for later', () => {
  const line = new Bandwidth(1000)
  line.claim(1, NOW)
  const waits = Array.from({ length: 10 }, () => line.claim(100, NOW + 60_000))
  expect(waits.filter((ms) => ms <= 0).length).toBe(1)
})

it('returns what did not come, and expects as much as came', () => {
  const line = new Bandwidth(1000)
  line.claim(1000, NOW)
  line.settle(1000, 200)
  expect(line.claim(1, NOW)).toBeCloseTo(180)
  for (let i = 0; i < 100; i++) line.settle(0, 5000)
  expect(line.expectedBytes).toBeCloseTo(5000, -2)
})

it('is full if more than a second is claimed', () => {
  const line = new Bandwidth(1000)
  expect(line.isFull(NOW)).toBe(false)
  line.claim(1500, NOW)
  expect(line.isFull(NOW)).toBe(true)
  expect(line.isFull(NOW + 600)).toBe(false)
})
