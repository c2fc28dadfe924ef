/**
 * The scaling experiment (system A, figures 4–6; system B's multiplicity curve): pages a second over the number of visits
 * at the same time, over worker threads, and over connections to one server, with a server that takes as long over a page
 * as servers on the web do. Prints the tables of docs/scaling.md and draws its chart.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startWeb } from '../test/loopback/web.js'
import { crawlWindow } from './crawls.js'
import { startNarrowSite } from './narrow-site.js'
import type { Bench } from './report.js'
import { type Chart, svgOf } from './svg.js'

/** From the first byte of the request to the answer: servers near and far, quick and slow. */
const LATENCY_MS: [number, number] = [50, 300]
const MEAN_S = (LATENCY_MS[0] + LATENCY_MS[1]) / 2 / 1000
const CONCURRENCIES = [1, 5, 20, 50, 100, 200, 500]
/** Up to here a crawl leaves the machine to others, and is measured beside them. */
const QUIET = 50
const WORKERS = [1, 2, 3]
const PER_WORKER = [50, 500] as const
const CONNECTIONS = [1, 2, 4, 8, 16, 32]
/** System B's servers gave no more beyond so many downloads at a time. */
const PLACES = 16
/** So many that a second between two visits to a host never holds up a crawl, with as many pages as can be fetched. */
const HOSTS = 8000
const DELAY_MS = 1000
const PAGES_PER_HOST = 10
const CROSS_HOST_SHARE = 0.1
/** Until the code is compiled and, at one host, enough links are found. */
const SETTLE_MS = 3000
const WINDOW_MS = 4000
/** Where only a few pages come in a second, it takes longer until they are a fair sample. */
const LONG_WINDOW_MS = 8000

const chartFile = fileURLToPath(new URL('../docs/scaling.svg', import.meta.url))

export const scaling: Bench = async () => {
  const { overConcurrency, overWorkers } = await wideCrawls()
  const unbounded = await oneHost({ pages: 20_000, growAt: 1 })
  const byBacklog = await oneHost({ pages: 1600, growAt: 100 })
  const narrow = await narrowHosts()

  console.log(
    `\n${table(
      ['concurrency, one thread', ...CONCURRENCIES],
      [
        ['pages/s', ...overConcurrency],
        ['what the latency allows', ...CONCURRENCIES.map(allowed)],
      ],
    )}`,
  )
  console.log(
    `\n${table(
      ['workers', ...WORKERS],
      overWorkers.map((line, i) => [`${PER_WORKER[i]} visits each`, ...line]),
    )}`,
  )
  console.log(
    `\n${table(
      ['connections to one server', ...CONNECTIONS],
      [
        ['a server without bounds', ...unbounded],
        [`a server with ${PLACES} places`, ...narrow],
        ['one for each 100 waiting URLs, 1,600 pages', ...byBacklog],
      ],
    )}`,
  )
  writeFileSync(
    chartFile,
    svgOf('Pages a second over concurrency, workers and connections', [
      {
        title: 'One thread',
        xLabel: 'visits at the same time',
        yLabel: 'pages/s',
        scale: 'log',
        xTicks: CONCURRENCIES,
        lines: [
          { label: 'kumo', points: points(CONCURRENCIES, overConcurrency) },
          {
            label: 'what the latency allows',
            points: points(CONCURRENCIES, CONCURRENCIES.map(allowed)),
            isReference: true,
          },
        ],
      },
      {
        title: 'Worker threads',
        xLabel: 'workers',
        yLabel: 'pages/s',
        scale: 'linear',
        xTicks: [0, ...WORKERS],
        lines: overWorkers.map((line, i) => ({
          label: `${PER_WORKER[i]} visits each`,
          points: points(WORKERS, line),
        })),
      },
      {
        title: 'One server',
        xLabel: 'connections',
        yLabel: 'pages/s',
        scale: 'linear',
        xTicks: [0, 8, 16, 24, 32],
        lines: [
          { label: 'a server without bounds', points: points(CONNECTIONS, unbounded) },
          { label: `a server with ${PLACES} places`, points: points(CONNECTIONS, narrow) },
          { label: 'one for each 100 waiting URLs', points: points(CONNECTIONS, byBacklog) },
        ],
      },
    ] satisfies Chart[]),
  )

  return [
    ...CONCURRENCIES.map((concurrency, i) => ({
      what: `concurrency ${concurrency} ÷ what the latency allows`,
      value: overConcurrency[i]! / allowed(concurrency),
      unit: '',
    })),
    ...overWorkers.map((line, i) => ({
      what: `${PER_WORKER[i]} visits each: ${WORKERS.at(-1)} workers ÷ 1`,
      value: line.at(-1)! / line[0]!,
      unit: '',
    })),
  ]
}

/** A polite crawl of more hosts than it can be at: the axes of system A. */
async function wideCrawls() {
  const web = await startWeb({
    hosts: HOSTS,
    pagesPerHost: PAGES_PER_HOST,
    crossHostShare: CROSS_HOST_SHARE,
    latencyMs: LATENCY_MS,
  })
  const measure = (workers: number, concurrency: number, windowMs = WINDOW_MS) =>
    crawlWindow({
      seeds: web.seeds(),
      workers,
      concurrency,
      delayMs: DELAY_MS,
      // Otherwise half of the first visits would go there, and the figures were those of a crawl that has just begun.
      robots: false,
      settleMs: SETTLE_MS,
      windowMs,
    })
  const quiet = CONCURRENCIES.filter((concurrency) => concurrency <= QUIET)
  const overConcurrency = await Promise.all(
    quiet.map((concurrency) => measure(0, concurrency, LONG_WINDOW_MS)),
  )
  for (const concurrency of CONCURRENCIES.slice(quiet.length)) {
    overConcurrency.push(await measure(0, concurrency))
  }
  const overWorkers: number[][] = []
  for (const each of PER_WORKER) {
    const line: number[] = []
    for (const workers of WORKERS) line.push(await measure(workers, workers * each))
    overWorkers.push(line)
  }
  await web.close()
  return { overConcurrency, overWorkers }
}

/** One host of the loopback web for each number of connections, all at the same time: they hardly keep a core busy. */
async function oneHost({ pages, growAt }: { pages: number; growAt: number }): Promise<number[]> {
  const web = await startWeb({ hosts: CONNECTIONS.length, pagesPerHost: pages, latencyMs: LATENCY_MS })
  const rates = await Promise.all(CONNECTIONS.map((n, host) => multiplied(web.url(host), n, growAt)))
  await web.close()
  return rates
}

async function narrowHosts(): Promise<number[]> {
  const options = { places: PLACES, latencyMs: LATENCY_MS, pages: 20_000, linksPerPage: 60 }
  const sites = await Promise.all(CONNECTIONS.map(() => startNarrowSite(options)))
  const rates = await Promise.all(CONNECTIONS.map((n, i) => multiplied(sites[i]!.url, n, 1)))
  await Promise.all(sites.map((site) => site.close()))
  return rates
}

function multiplied(seed: string, connections: number, growAt: number): Promise<number> {
  return crawlWindow({
    seeds: [seed],
    workers: 0,
    concurrency: connections,
    delayMs: 0,
    robots: false,
    perHost: { connections, growAt },
    settleMs: SETTLE_MS,
    windowMs: WINDOW_MS,
  })
}

/** Pages a second if every slot always waits for a server. */
function allowed(concurrency: number): number {
  return concurrency / MEAN_S
}

function points(xs: readonly number[], ys: readonly number[]): [number, number][] {
  return xs.map((x, i) => [x, ys[i]!])
}

function table(head: readonly (string | number)[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

function cell(value: string | number): string {
  if (typeof value === 'string') return value
  return (value < 100 ? Number(value.toPrecision(3)) : Math.round(value)).toLocaleString('en')
}
