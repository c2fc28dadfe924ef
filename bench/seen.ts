/** The seen-set at ten million URLs, beside a Set of strings. Rates are per CPU second: a busy machine is no excuse. */

import { measureSeen } from './micro/seen.js'
import type { Bench } from './report.js'

const URLS = 10_000_000
/** URLs a call: a page's links, and a batch from another shard. */
const BATCHES = [60, 1000]

export const seen: Bench = async () => {
  const { table, set, falselySeen } = measureSeen(URLS)
  const rates = BATCHES.flatMap((batch) => [
    {
      what: `new URLs, batches of ${batch}`,
      value: table.newPerSecond[batch]!,
      unit: 'URLs/s',
      bar: { atLeast: 1e6 },
    },
    {
      what: `known URLs, batches of ${batch}`,
      value: table.knownPerSecond[batch]!,
      unit: 'URLs/s',
      bar: { atLeast: 1e6 },
    },
    {
      what: `÷ Set<string>, new, ${batch}`,
      value: table.newPerSecond[batch]! / set.newPerSecond[batch]!,
      unit: '',
    },
  ])
  return [
    { what: 'RAM a URL at 10 M', value: table.bytesPerUrl, unit: 'B', bar: { atMost: 16 } },
    { what: 'the most on the way there', value: table.peakBytesPerUrl, unit: 'B', bar: { atMost: 16 } },
    { what: 'Set<string>', value: set.bytesPerUrl, unit: 'B' },
    { what: 'new URLs taken for known ones', value: falselySeen, unit: '', bar: { atMost: 0 } },
    ...rates,
  ]
}
