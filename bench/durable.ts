/**
 * The Level store at size: ten million pending URLs over a hundred thousand hosts, taken in through a crawl of simulated
 * pages; the store opened again and handed out; and a long crawl, late against early. Each step is a process of its own.
 */

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Bench, median } from './report.js'

const URLS = 10_000_000
const HOSTS = 100_000
const HANDED_OUT = 500_000
const LONG_CRAWL = 1_000_000
const WINDOW = 100_000
/** A neighbour on the machine can slow half of a crawl by more than the bar allows: the middle one of three counts. */
const LONG_CRAWLS = 3

const script = fileURLToPath(new URL('./durable-child.mjs', import.meta.url))

export const durable: Bench = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kumo-bench-'))
  try {
    const store = join(folder, 'pending')
    const admitted = await run('admit', {
      folder: store,
      urls: URLS,
      hosts: HOSTS,
      linksPerPage: 1000,
      linksTogether: 4,
    })
    const bytes = await sizeOf(store)
    const leased = await run('lease', { folder: store, requests: HANDED_OUT, atOnce: 500 })
    const options = { pages: LONG_CRAWL, window: WINDOW, hosts: 1000, kind: 'level' }
    const longs: { rates: number[]; peakMb: number }[] = []
    for (let i = 0; i < LONG_CRAWLS; i++) {
      longs.push(await run('long', { ...options, folder: join(folder, `long-${i}`) }))
    }
    longs.sort((a, b) => lateToEarly(a.rates) - lateToEarly(b.rates))
    const long = longs[Math.floor(LONG_CRAWLS / 2)]!
    const { rates } = long
    const memory = await run('long', { ...options, kind: 'memory' })
    const memoryRates = memory.rates as number[]
    return [
      { what: 'URLs known', value: admitted.known, unit: '', bar: { atLeast: 0.99 * URLS } },
      { what: 'URLs pending', value: admitted.pending, unit: '', bar: { atLeast: 0.98 * URLS } },
      { what: 'admitted', value: admitted.perSecond, unit: 'URLs/s', bar: { atLeast: 100_000 } },
      { what: 'peak memory while admitting', value: admitted.peakMb, unit: 'MB', bar: { atMost: 500 } },
      { what: 'disk', value: bytes / admitted.known, unit: 'B/URL', bar: { atMost: 150 } },
      { what: 'opened again: first lease', value: leased.firstLeaseMs / 1000, unit: 's', bar: { atMost: 5 } },
      { what: 'lease and settle', value: leased.perSecond, unit: '/s', bar: { atLeast: 20_000 } },
      { what: 'peak memory of that', value: leased.peakMb, unit: 'MB', bar: { atMost: 500 } },
      { what: 'counts are exact', value: leased.isExact ? 1 : 0, unit: '', bar: { atLeast: 1 } },
      { what: 'long crawl, first 100,000 pages', value: rates[0]!, unit: 'pages/s' },
      { what: 'long crawl, second half of a million', value: late(rates), unit: 'pages/s' },
      {
        what: 'late ÷ early, middle one of three',
        value: lateToEarly(rates),
        unit: '',
        bar: { atLeast: 0.9 },
      },
      { what: 'late ÷ early, lowest of three', value: lateToEarly(longs[0]!.rates), unit: '' },
      { what: 'late ÷ early, highest of three', value: lateToEarly(longs.at(-1)!.rates), unit: '' },
      { what: 'late ÷ early in memory', value: lateToEarly(memoryRates), unit: '' },
      { what: 'level ÷ memory, whole long crawl', value: mean(rates) / mean(memoryRates), unit: '' },
      { what: 'peak memory of the long crawl', value: long.peakMb, unit: 'MB' },
      { what: 'peak memory of the same in memory', value: memory.peakMb, unit: 'MB' },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function run(step: string, options: object) {
  const args = [script, step, JSON.stringify(options)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** The middle one of the second half's windows: one alone says as much about the machine as about the store. */
function late(rates: readonly number[]): number {
  return median(rates.slice(rates.length / 2))
}

function lateToEarly(rates: readonly number[]): number {
  return late(rates) / rates[0]!
}

/** Of speeds over equal distances: the harmonic mean. */
function mean(rates: readonly number[]): number {
  return rates.length / rates.reduce((sum, rate) => sum + 1 / rate, 0)
}
