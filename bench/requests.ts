/**
 * Requests with a label and data against bare URLs, in the Level store: what they take on disk, and how fast they are
 * admitted. Each run is a process of its own, and the two kinds take turns.
 */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Bench, median } from './report.js'

const REQUESTS = 1_000_000
const HOSTS = 10_000
const LABEL = 'detail'
const DATA_BYTES = 100
/** A neighbour on the machine slows one run of a pair: the middle one counts. */
const PAIRS = 5
/** What a request may take on disk beyond its label and data. */
const MORE_BYTES = 16

const script = fileURLToPath(new URL('./requests-child.mjs', import.meta.url))

interface Run {
  readonly perSecond: number
  readonly cpuMicros: number
  readonly bytes: number
  readonly isWhole: boolean
}

export const requests: Bench = async () => {
  const bare: Run[] = []
  const full: Run[] = []
  for (let i = 0; i < PAIRS; i++) {
    bare.push(await run({ requests: REQUESTS, hosts: HOSTS }))
    full.push(await run({ requests: REQUESTS, hosts: HOSTS, label: LABEL, dataBytes: DATA_BYTES }))
  }
  const sizes = [bare, full].map((runs) => median(runs.map(({ bytes }) => bytes)) / REQUESTS)
  const [less, more] = [sizes[0]!, sizes[1]!]
  return [
    { what: 'disk, bare URLs', value: less, unit: 'B/request' },
    { what: 'disk, with a label and data', value: more, unit: 'B/request' },
    {
      what: 'more than bare, beyond label and data',
      value: more - less - LABEL.length - DATA_BYTES,
      unit: 'B/request',
      bar: { atMost: MORE_BYTES },
    },
    { what: 'admitted, bare URLs', value: median(bare.map(({ perSecond }) => perSecond)), unit: '/s' },
    {
      what: 'admitted with label and data ÷ bare',
      value: median(full.map(({ perSecond }, i) => perSecond / bare[i]!.perSecond)),
      unit: '',
      bar: { atLeast: 0.7 },
    },
    {
      what: 'CPU of a bare request ÷ one with label and data',
      value: median(full.map(({ cpuMicros }, i) => bare[i]!.cpuMicros / cpuMicros)),
      unit: '',
    },
    {
      what: 'all come back as they were',
      value: [...bare, ...full].every(({ isWhole }) => isWhole) ? 1 : 0,
      unit: '',
      bar: { atLeast: 1 },
    },
  ]
}

async function run(options: object): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'kumo-bench-'))
  try {
    const args = [script, JSON.stringify({ ...options, folder })]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    return JSON.parse(stdout) as Run
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
