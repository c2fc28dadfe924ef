/** The correction of forecasts follows what comes of polls, and a single poll does not decide it. */

import { expect, test } from 'vitest'
import { ForecastMeter } from '../../../src/feeds/posting/forecast-meter.js'

function after(polls: number, expected: number, actual: number, meter = new ForecastMeter()): ForecastMeter {
  for (let poll = 0; poll < polls; poll++) meter.observed(expected, actual)
  return meter
}

test('without experience the forecast is believed', () => {
  expect(new ForecastMeter().correction).toBe(1)
  expect(after(5, 0.1, 0).correction).toBeGreaterThan(0.9)
})

test('what comes of many polls is what is expected of the next', () => {
  expect(after(5000, 0.2, 0.1).correction).toBeCloseTo(0.5, 1)
  expect(after(5000, 0.2, 0.6).correction).toBeCloseTo(3, 0)
})

test('old experience fades', () => {
  const meter = after(20_000, 0.2, 0.6)
  expect(after(20_000, 0.2, 0.2, meter).correction).toBeCloseTo(1, 1)
})

test('one poll that lost thousands does not make all others forgotten for ever', () => {
  const meter = after(5000, 0.2, 0.2)
  meter.observed(1, 50_000)
  expect(meter.correction).toBeLessThanOrEqual(20)
  expect(after(100_000, 0.2, 0.2, meter).correction).toBeCloseTo(1, 0)
})

test('with another burst term, new experience counts more', () => {
  const [same, other] = [after(2000, 0.2, 0.6), after(2000, 0.2, 0.6)]
  other.otherwise()
  expect(after(500, 0.2, 0.2, other).correction).toBeLessThan(after(500, 0.2, 0.2, same).correction)
})

test('estimates that are taken back do not make a forecast negative', () => {
  expect(after(100, 0.1, -5).correction).toBeGreaterThan(0)
})
