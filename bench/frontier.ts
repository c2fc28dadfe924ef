/** The memory frontier with a million requests pending: how fast, and how the cost grows with the number of hosts. */

import { measureFrontier } from './micro/frontier.js'
import type { Bench } from './report.js'

const PENDING = 1_000_000

export const frontier: Bench = async () => {
  const few = measureFrontier(1000, PENDING)
  const many = measureFrontier(100_000, PENDING)
  const fewResting = measureFrontier(1000, PENDING, { delayMs: 1000 })
  const manyResting = measureFrontier(100_000, PENDING, { delayMs: 1000 })
  return [
    {
      what: '100,000 hosts, no delay',
      value: many.opsPerSecond,
      unit: 'lease+settle/s',
      bar: { atLeast: 200_000 },
    },
    {
      what: '100,000 hosts, delay 1 s',
      value: manyResting.opsPerSecond,
      unit: 'lease+settle/s',
      bar: { atLeast: 200_000 },
    },
    {
      what: 'cost at 100,000 ÷ 1,000 hosts',
      value: many.nsPerOp / few.nsPerOp,
      unit: '',
      bar: { atMost: 2 },
    },
    {
      what: 'the same with delay',
      value: manyResting.nsPerOp / fewResting.nsPerOp,
      unit: '',
      bar: { atMost: 2 },
    },
  ]
}
