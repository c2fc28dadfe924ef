/**
 * Crawling and indexing in one, end to end: two workers against one, and uneven hosts with pages handed over by their
 * cost and without. All times are of whole crawls in one run, alternating.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler } from 'kumo'
import { openIndex, searchIndex } from 'kumo/search'
import type { Bench, Figure } from './report.js'
import { type IndexingWeb, indexingWeb } from './search-web.js'

const ROUNDS = 3
const HOSTS = 16
/** Pages, of real sites if they are there: so many that starting threads and compiling their code is a small part. */
const PAGES = 1600
/** The share of the text on the hosts of one worker. */
const UNEVEN = 0.8

export interface Crawled {
  readonly seconds: number
  /** CPU time of the thread that worked most: what a crawl takes at least, however many cores are free. */
  readonly busiestSeconds: number
  readonly documentsPerSecond: number
}

/** Crawls and indexes these pages into a fresh index. */
export async function crawlAndIndex(
  seeds: readonly string[],
  workers: number,
  balance: boolean,
  folder: string,
): Promise<Crawled> {
  const index = mkdtempSync(join(folder, 'index-'))
  const threads = new ThreadTimes()
  const startedAt = performance.now()
  // What moves here is pages on their way into the index, and not hosts.
  const crawler = new Crawler().seeds(seeds).robots(false).delay(0).depth(0).concurrency(32)
  const { pages } = await crawler
    .workers(workers, { balance: false })
    .use(searchIndex(index, { sync: false, balance }))
    .run()
  const seconds = (performance.now() - startedAt) / 1000
  const busiestSeconds = threads.stop()
  const reader = await openIndex(index)
  const { documents } = await reader.stats()
  await reader.close()
  rmSync(index, { recursive: true, force: true })
  if (pages !== seeds.length || documents !== seeds.length)
    throw new Error(`${documents} documents and ${pages} pages of ${seeds.length}`)
  return { seconds, busiestSeconds, documentsPerSecond: pages / seconds }
}

/** Reads the CPU times of this process's threads, again and again: a thread that has ended has none. Only on Linux. */
class ThreadTimes {
  readonly #before = threadTicks()
  readonly #ticks = new Map<string, number>()
  readonly #timer = setInterval(() => this.#read(), 20)

  stop(): number {
    clearInterval(this.#timer)
    this.#read()
    // The kernel counts a hundred ticks a second.
    return Math.max(0, ...this.#ticks.values()) / 100
  }

  #read(): void {
    for (const [thread, ticks] of threadTicks())
      this.#ticks.set(thread, Math.max(this.#ticks.get(thread) ?? 0, ticks - (this.#before.get(thread) ?? 0)))
  }
}

function threadTicks(): Map<string, number> {
  const ticks = new Map<string, number>()
  try {
    for (const thread of readdirSync('/proc/self/task')) {
      const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1').split(') ')[1]!.split(' ')
      ticks.set(thread, Number(fields[11]) + Number(fields[12]))
    }
  } catch {
    // A thread ended meanwhile, or this is not Linux.
  }
  return ticks
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!

/** The shortest time that uneven work can take, as a part of what it takes without sharing. */
function floorOf(cores: number, uneven: number): number {
  return Math.max(1 / Math.min(cores, 2), 0.5) / uneven
}

export const searchCrawl: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-search-crawl-'))
  const web = await indexingWeb(HOSTS, PAGES)
  try {
    return [...(await scaling(web, folder)), ...(await sharing(web, folder))]
  } finally {
    await web.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function scaling(web: IndexingWeb, folder: string): Promise<Figure[]> {
  const seeds = web.even(2)
  const speeds: Record<number, number[]> = { 1: [], 2: [] }
  const busiest: Record<number, number[]> = { 1: [], 2: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const workers of [1, 2]) {
      const crawled = await crawlAndIndex(seeds, workers, true, folder)
      speeds[workers]!.push(crawled.documentsPerSecond)
      busiest[workers]!.push(crawled.busiestSeconds)
    }
  }
  const ratios = speeds[2]!.map((speed, round) => speed / speeds[1]![round]!)
  const busiestRatios = busiest[2]!.map((seconds, round) => busiest[1]![round]! / seconds)
  return [
    { what: 'documents/s with 1 worker', value: median(speeds[1]!), unit: '/s' },
    { what: 'documents/s with 2 workers', value: median(speeds[2]!), unit: '/s' },
    { what: '2 workers ÷ 1 worker', value: median(ratios), unit: '×', bar: { atLeast: 1.7 } },
    { what: 'the same by the CPU of the busiest thread', value: median(busiestRatios), unit: '×' },
  ]
}

async function sharing(web: IndexingWeb, folder: string): Promise<Figure[]> {
  const seeds = web.uneven(2, UNEVEN)
  const ratios: number[] = []
  const busiest: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const without = await crawlAndIndex(seeds, 2, false, folder)
    const shared = await crawlAndIndex(seeds, 2, true, folder)
    ratios.push(shared.seconds / without.seconds)
    busiest.push(shared.busiestSeconds / without.busiestSeconds)
  }
  return [
    { what: 'uneven: time with ÷ without sharing', value: median(ratios), unit: '', bar: { atMost: 0.72 } },
    { what: 'the same by the CPU of the busiest thread', value: median(busiest), unit: '' },
    { what: 'the floor for these cores', value: floorOf(availableParallelism(), UNEVEN), unit: '' },
  ]
}
