/**
 * What a known URL costs: bytes and time of the fingerprint table, beside a plain `Set` of strings.
 *
 *     node --expose-gc --import tsx bench/micro/seen.ts [urls]
 */

import { pathToFileURL } from 'node:url'
import { fingerprintTable } from '../../src/seen/table.js'

/** A page of ours has 60 links; an exchange carries batches of about 1,000. */
const BATCHES = [60, 1000] as const

/** URLs made, added and looked up at a time; memory is read after each of these steps. */
const STEP = 50_000

/** Sizes below this are not held to the promise of 16 bytes: there a page or two decides. */
const PROMISED_FROM = 1_000_000

/** A set of strings is measured up to this size only: ten million of them fill the heap. */
const LARGEST_SET = 2_000_000

/**
 * Figures of one way to remember URLs. Rates are URLs a CPU second: of new URLs
 * over the last tenth, of known ones at the full size.
 */
export interface SeenFigures {
  urls: number
  /** Buffers or heap at the full size, a URL. */
  bytesPerUrl: number
  /** The worst share met on the way, at any size from a million (or from half the size) on. */
  peakBytesPerUrl: number
  newPerSecond: Record<number, number>
  knownPerSecond: Record<number, number>
}

/** Fills a fingerprint table and a `Set` with made-up URLs; both are measured in this process, one after the other. */
export function measureSeen(urls: number): { table: SeenFigures; set: SeenFigures; falselySeen: number } {
  const table = fingerprintTable()
  const measuredTable = measure(urls, (batch) => table.addAll(batch), 'arrayBuffers')
  const falselySeen = urls - table.size
  table.close()

  const set = new Set<string>()
  const addToSet = (batch: readonly string[]) => {
    const fresh: boolean[] = []
    for (const url of batch) fresh.push(set.size !== set.add(url).size)
    return fresh
  }
  return {
    table: measuredTable,
    set: measure(Math.min(urls, LARGEST_SET), addToSet, 'heapUsed'),
    falselySeen,
  }
}

/** One for all: a buffer for each URL would be counted as memory of the table. */
const flatBytes = Buffer.alloc(256)

type Add = (urls: readonly string[]) => readonly boolean[]

function measure(urls: number, add: Add, memory: 'arrayBuffers' | 'heapUsed'): SeenFigures {
  collectGarbage()
  const before = process.memoryUsage()[memory]
  const newPerSecond: Record<number, number> = {}
  const knownPerSecond: Record<number, number> = {}
  let peakBytesPerUrl = 0
  const timedFrom = urls * 0.9
  const spent = new Map<number, { ms: number; count: number }>()
  for (let from = 0, step = 0; from < urls; from += STEP, step++) {
    const size = BATCHES[step % BATCHES.length]!
    const until = Math.min(from + STEP, urls)
    const batches = batchesOf(from, until, size)
    const ms = timed(add, batches, true)
    if (from >= timedFrom) {
      const sum = spent.get(size) ?? { ms: 0, count: 0 }
      spent.set(size, { ms: sum.ms + ms, count: sum.count + until - from })
    }
    if (until >= Math.min(PROMISED_FROM, urls / 2)) {
      // The heap is full of the made-up URLs of this step; buffers are counted without any collection.
      if (memory === 'heapUsed') collectGarbage()
      peakBytesPerUrl = Math.max(peakBytesPerUrl, (process.memoryUsage()[memory] - before) / until)
    }
  }
  for (const [size, { ms, count }] of spent) newPerSecond[size] = rate(count, ms)
  for (const size of BATCHES) {
    // Every URL of a stride over the whole crawl, so that the lookups do not stay in the processor's cache.
    const stride = Math.max(1, Math.floor(urls / (STEP * 4)))
    const batches = batchesOf(0, Math.floor(urls / stride), size, stride)
    knownPerSecond[size] = rate(Math.floor(urls / stride), timed(add, batches, false))
  }
  collectGarbage()
  const bytesPerUrl = (process.memoryUsage()[memory] - before) / urls
  return { urls, bytesPerUrl, peakBytesPerUrl, newPerSecond, knownPerSecond }
}

/** Milliseconds of CPU, the garbage collector's included: wall time would tell more of the neighbours than of us. */
function timed(add: Add, batches: readonly (readonly string[])[], expected: boolean): number {
  const start = process.cpuUsage()
  let wrong = 0
  for (const batch of batches) for (const fresh of add(batch)) if (fresh !== expected) wrong++
  const { user, system } = process.cpuUsage(start)
  const ms = (user + system) / 1000
  if (wrong > 0) throw new Error(`${wrong} wrong answers`)
  return ms
}

function batchesOf(from: number, until: number, size: number, stride = 1): string[][] {
  const batches: string[][] = []
  for (let i = from; i < until; i += size) {
    const batch: string[] = []
    for (let j = i; j < Math.min(i + size, until); j++) batch.push(flat(urlNumber(j * stride)))
    batches.push(batch)
  }
  return batches
}

/** Structured as the web is: few hosts, dates, running numbers; about 55 characters. */
function urlNumber(i: number): string {
  const host = i % 997
  const month = 1 + (i % 12)
  return `https://www.host${host}.example.com/articles/2024/${month}/${i}.html`
}

/** A URL that was cut from a page is one piece; a template literal is a tree of pieces until it is read. */
function flat(url: string): string {
  return flatBytes.toString('latin1', 0, flatBytes.write(url, 'latin1'))
}

function rate(count: number, ms: number): number {
  return Math.round((count / ms) * 1000)
}

function collectGarbage(): void {
  if (!globalThis.gc) throw new Error('run node with --expose-gc')
  globalThis.gc()
}

function print(name: string, figures: SeenFigures): void {
  const rates = (of: Record<number, number>) =>
    BATCHES.map((size) => `${((of[size] ?? 0) / 1e6).toFixed(2)} M/s in batches of ${size}`).join(', ')
  console.log(`${name}, ${figures.urls.toLocaleString('en')} URLs`)
  console.log(
    `  bytes a URL  ${figures.bytesPerUrl.toFixed(1)} (at most ${figures.peakBytesPerUrl.toFixed(1)} on the way)`,
  )
  console.log(`  new          ${rates(figures.newPerSecond)}`)
  console.log(`  known        ${rates(figures.knownPerSecond)}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { table, set } = measureSeen(Number(process.argv[2] ?? 10_000_000))
  print('fingerprint table', table)
  print('Set<string>', set)
  console.log('table / Set')
  console.log(`  bytes        ${(table.bytesPerUrl / set.bytesPerUrl).toFixed(3)}`)
  for (const size of BATCHES) {
    const fresh = (table.newPerSecond[size]! / set.newPerSecond[size]!).toFixed(2)
    const known = (table.knownPerSecond[size]! / set.knownPerSecond[size]!).toFixed(2)
    console.log(`  speed        new ${fresh}, known ${known} (batches of ${size})`)
  }
}
