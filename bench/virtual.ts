/** The politeness bound at 100,000 hosts, in virtual time: what the engine's decisions cost, whatever the machine. */

import { measureVirtualPoliteness } from './micro/virtual-politeness.js'
import type { Bench } from './report.js'

const HOSTS = 100_000

export const virtual: Bench = async () => {
  const { ratio, pages, virtualSeconds, realSeconds } = await measureVirtualPoliteness(HOSTS)
  return [
    { what: 'hosts', value: HOSTS, unit: '' },
    { what: 'pages', value: pages, unit: '' },
    { what: 'virtual time', value: virtualSeconds, unit: 's' },
    { what: 'real time', value: realSeconds, unit: 's' },
    { what: 'pages/s ÷ (hosts ÷ delay)', value: ratio, unit: '', bar: { atLeast: 0.95 } },
  ]
}
