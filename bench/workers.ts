/**
 * What worker threads gain, on a wide web whose pages link to other hosts, so that workers have URLs to exchange. The
 * contestants are processes that take turns. Each turn is a new process, because threads begin without compiled code in
 * every crawl, and one that was kept warm would win by that alone; and the bars are on the pace from the moment on when
 * each thread has done so many pages, until some of the pages are left: at the very end one thread may be done before
 * another. That of the whole crawl, the start of the threads included, is told beside it.
 */

import { startWeb } from '../test/loopback/web.js'
import { crawlWhole, idleMb, type Whole } from './crawls.js'
import { type Bench, type Figure, median } from './report.js'

const HOSTS = 2000
/** As in the core bench. */
const PAGE = { linksPerPage: 60, bytes: 14 * 1024 }
const CROSS_HOST_SHARE = 0.1
const TURNS = 5
const CORES = 2
/** Share of the pages up to which the pace is taken. */
const UNTIL = 0.9

interface Contest {
  readonly pagesPerHost: number
  /**
   * A slot for each host, so that every contestant keeps all its connections open. Below that, several threads may keep
   * more of them than one, and the crawl would measure how often connections are made.
   */
  readonly concurrency: number
  readonly dom: boolean
  /** Pages of a thread after which its code is compiled. */
  readonly settledAfter: number
  /** Turns that are not counted: the server's code must be compiled as well. */
  readonly warmUps: number
}

const DOM: Contest = {
  // Building documents takes ten times as long as all else, the server's part included.
  pagesPerHost: 8,
  settledAfter: 2000,
  warmUps: 0,
  concurrency: HOSTS,
  dom: true,
}
const PLAIN: Contest = {
  pagesPerHost: 30,
  settledAfter: 10_000,
  warmUps: 1,
  concurrency: HOSTS,
  dom: false,
}

const IDLE_TURNS = 3
const IDLE_WORKERS = [0, 1, 2, 4] as const
/** Until threads that have nothing to do have come to rest. */
const IDLE_MS = 1000

export const workers: Bench = async () => [
  ...(await documents()),
  ...(await plain()),
  ...(await memoryPerWorker()),
]

async function documents(): Promise<Figure[]> {
  const { rounds } = await contest(DOM, [0, 1, 2])
  const [none, one, two] = rounds as [Whole[], Whole[], Whole[]]
  return [
    pace('DOM, no worker', none),
    pace('DOM, 1 worker', one),
    pace('DOM, 2 workers', two),
    ratio('DOM: 2 workers ÷ 1 worker', two, one, 'settledPerSecond', { atLeast: 1.7 }),
    ratio('DOM: 1 worker ÷ none', one, none, 'settledPerSecond', { atLeast: 0.9 }),
    ratio('DOM, whole crawl: 2 workers ÷ 1 worker', two, one, 'pagesPerSecond'),
    ratio('DOM, whole crawl: 1 worker ÷ none', one, none, 'pagesPerSecond'),
    ratio('DOM, CPU: 2 workers ÷ none', two, none, 'cpuMsPerPage'),
  ]
}

async function plain(): Promise<Figure[]> {
  const { rounds, serverMs } = await contest(PLAIN, [0, 2])
  const [none, two] = rounds as [Whole[], Whole[]]
  const crawlerMs = median(none.map(({ cpuMsPerPage }) => cpuMsPerPage))
  const most = (1000 * CORES) / (crawlerMs + serverMs)
  return [
    pace('plain, no worker', none),
    pace('plain, 2 workers', two),
    { what: 'plain, CPU of the crawler without workers', value: 1000 * crawlerMs, unit: 'µs/page' },
    { what: 'plain, CPU of the server', value: 1000 * serverMs, unit: 'µs/page' },
    // Without workers too, compilers and the garbage collector work on the other core.
    {
      what: 'plain: the most that two cores allow ÷ none',
      value: most / median(none.map(({ settledPerSecond }) => settledPerSecond)),
      unit: '',
    },
    ratio('plain: 2 workers ÷ none', two, none, 'settledPerSecond', { atLeast: 1.3 }),
    ratio('plain, whole crawl: 2 workers ÷ none', two, none, 'pagesPerSecond'),
    ratio('plain, CPU: 2 workers ÷ none', two, none, 'cpuMsPerPage'),
  ]
}

/** All contestants crawl the same web, turn by turn; the server's log must agree that each page was fetched once. */
async function contest(
  { pagesPerHost, settledAfter, warmUps, ...options }: Contest,
  counts: readonly number[],
): Promise<{ rounds: Whole[][]; serverMs: number }> {
  const web = await startWeb({ hosts: HOSTS, pagesPerHost, crossHostShare: CROSS_HOST_SHARE, ...PAGE })
  const rounds: Whole[][] = counts.map(() => [])
  const serverMs: number[] = []
  for (let turn = 0; turn < warmUps + TURNS; turn++) {
    for (const [i, count] of counts.entries()) {
      await web.reset()
      const settledAt = settledAfter * Math.max(1, count)
      const settledUntil = UNTIL * web.totalPages
      const order = { ...options, seeds: web.seeds(1), workers: count, delayMs: 0, settledAt, settledUntil }
      const round = await crawlWhole(order, web.totalPages)
      const { distinctPages, duplicates, cpuMs } = await web.report()
      if (distinctPages !== web.totalPages || duplicates > 0) {
        throw new Error(
          `${count} workers fetched ${distinctPages} different pages, ${duplicates} of them twice`,
        )
      }
      if (turn < warmUps) continue
      rounds[i]!.push(round)
      serverMs.push(cpuMs / distinctPages)
    }
  }
  await web.close()
  return { rounds, serverMs: median(serverMs) }
}

function pace(what: string, rounds: readonly Whole[]): Figure {
  return {
    what,
    value: median(rounds.map(({ settledPerSecond }) => settledPerSecond)),
    unit: 'pages/s',
  }
}

type Measure = 'settledPerSecond' | 'pagesPerSecond' | 'cpuMsPerPage'

function ratio(
  what: string,
  ours: readonly Whole[],
  theirs: readonly Whole[],
  measure: Measure,
  bar?: Figure['bar'],
): Figure {
  const value = median(ours.map((round, turn) => round[measure] / theirs[turn]![measure]))
  return { what, value, unit: '', ...(bar !== undefined && { bar }) }
}

async function memoryPerWorker(): Promise<Figure[]> {
  const web = await startWeb({ hosts: 1, pagesPerHost: 1, linksPerPage: 1, bytes: 2048 })
  const rss: number[][] = IDLE_WORKERS.map(() => [])
  for (let turn = 0; turn < IDLE_TURNS; turn++) {
    for (const [i, count] of IDLE_WORKERS.entries()) {
      const order = { seeds: web.seeds(), workers: count, concurrency: 100, delayMs: 0, waitMs: IDLE_MS }
      rss[i]!.push(await idleMb(order))
    }
  }
  await web.close()
  const [none, one, two, four] = rss.map(median) as [number, number, number, number]
  return [
    { what: 'memory before pages, no worker', value: none, unit: 'MB' },
    { what: 'memory before pages, 1 worker', value: one, unit: 'MB' },
    { what: 'memory before pages, 2 workers', value: two, unit: 'MB' },
    { what: 'memory before pages, 4 workers', value: four, unit: 'MB' },
    { what: 'memory per extra worker', value: (four - one) / 3, unit: 'MB', bar: { atMost: 80 } },
  ]
}
