/**
 * Many processes on one Redis, as figure 6 of system A has machines: a web whose latency, and not any processor, is the
 * limit, 16 downloads for each process, and 1 to 9 processes. A formula for the throughput is fitted on some of them and
 * checked on the others.
 */

import { Cluster } from '../../test/cluster/cluster.js'
import { type Claim, printTable } from '../table.js'

/** As system A has for each machine. */
const DOWNLOADS = 16
const LATENCY_MS: [number, number] = [800, 1200]
const HOSTS = 600
const PAGE_BYTES = 10_000
const FITTED = [1, 5, 9]
const CHECKED = [2, 3, 7]
/** Partitions settle before the measurement. */
const SETTLE_MS = 5000
const WINDOW_MS = 10_000
const BAR_THREE = 2.8
/** The formula must foresee the others this well. */
const TOLERANCE = 0.1

interface Measured {
  readonly nodes: number
  readonly pagesPerSecond: number
  /** Deviation of the pages of the processes, as a part of their mean. */
  readonly deviation: number
  /** Letters with links for other processes, for each page. */
  readonly letters: number
  /** CPU time of Redis, and bytes that it received, for each page. */
  readonly redisMicros: number
  readonly redisBytes: number
}

export async function cluster(): Promise<readonly Claim[]> {
  const measured: Measured[] = []
  for (const nodes of [...FITTED, ...CHECKED].sort((a, b) => a - b)) measured.push(await measure(nodes))
  const of = (nodes: number) => measured.find((each) => each.nodes === nodes)!
  const single = of(1).pagesPerSecond
  const loss = lossOf(FITTED.map(of), single)
  const foreseen = (nodes: number) => (single * nodes) / (1 + loss * (nodes - 1))
  printTable(
    ['processes', ...measured.map(({ nodes }) => String(nodes))],
    [
      ['pages/s', ...measured.map(({ pagesPerSecond }) => pagesPerSecond)],
      ['times one process', ...measured.map(({ pagesPerSecond }) => pagesPerSecond / single)],
      ['formula', ...measured.map(({ nodes }) => foreseen(nodes))],
      ['Mbps', ...measured.map(({ pagesPerSecond }) => (pagesPerSecond * PAGE_BYTES * 8) / 1e6)],
      ['deviation of load', ...measured.map(({ deviation }) => deviation)],
      ['letters a page', ...measured.map(({ letters }) => letters)],
      ['Redis, µs of CPU a page', ...measured.map(({ redisMicros }) => redisMicros)],
      ['Redis, bytes a page', ...measured.map(({ redisBytes }) => redisBytes)],
    ],
  )
  console.log(`pages/s(n) = ${single.toFixed(1)} n / (1 + ${loss.toFixed(4)} (n - 1)), fitted on ${FITTED}\n`)
  const three = of(3).pagesPerSecond / single
  const errors = CHECKED.map((nodes) => Math.abs(foreseen(nodes) / of(nodes).pagesPerSecond - 1))
  return [
    { what: `three processes: ${three.toFixed(2)} times one, bar ${BAR_THREE}`, holds: three >= BAR_THREE },
    {
      what: `the formula is right to ${(100 * Math.max(...errors)).toFixed(1)} % on ${CHECKED}, bar ${100 * TOLERANCE} %`,
      holds: Math.max(...errors) <= TOLERANCE,
    },
  ]
}

/** By how much each further process slows all others: least squares of n / speed-up - 1 over n - 1. */
function lossOf(fitted: readonly Measured[], single: number): number {
  let [product, square] = [0, 0]
  for (const { nodes, pagesPerSecond } of fitted) {
    product += (nodes - 1) * ((single * nodes) / pagesPerSecond - 1)
    square += (nodes - 1) ** 2
  }
  return product / square
}

async function measure(nodes: number): Promise<Measured> {
  const cluster = await Cluster.start({
    web: {
      hosts: HOSTS,
      pagesPerHost: 200,
      linksPerPage: 20,
      bytes: PAGE_BYTES,
      crossHostShare: 0.3,
      latencyMs: LATENCY_MS,
    },
    seeds: HOSTS,
    concurrency: DOWNLOADS,
    delayMs: 0,
    ttlMs: 10_000,
  })
  try {
    for (let i = 0; i < nodes; i++) cluster.node()
    await cluster.ready()
    await pause(SETTLE_MS)
    const before = { redis: await redisUse(cluster), pages: await cluster.pagesByNode() }
    const from = Date.now()
    await pause(WINDOW_MS)
    const to = Date.now()
    const after = { redis: await redisUse(cluster), pages: await cluster.pagesByNode() }
    const answered = (await cluster.log()).filter(({ end }) => end >= from && end < to).length
    const own = after.pages.map((pages, i) => pages - before.pages[i]!)
    const mean = own.reduce((sum, each) => sum + each) / nodes
    const deviation = Math.sqrt(own.reduce((sum, each) => sum + (each - mean) ** 2, 0) / nodes) / mean
    const perPage = (field: keyof RedisUse) => (after.redis[field] - before.redis[field]) / answered
    return {
      nodes,
      pagesPerSecond: (1000 * answered) / (to - from),
      deviation,
      letters: perPage('letters'),
      redisMicros: perPage('cpuMicros'),
      redisBytes: perPage('bytes'),
    }
  } finally {
    await cluster.close()
  }
}

interface RedisUse {
  readonly letters: number
  readonly cpuMicros: number
  readonly bytes: number
}

async function redisUse(cluster: Cluster): Promise<RedisUse> {
  const info = await cluster.ask((client) => client.info('all'))
  const field = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0)
  return {
    letters: field(/^cmdstat_xadd:calls=(\d+)/m),
    cpuMicros: 1e6 * (field(/^used_cpu_user:([\d.]+)/m) + field(/^used_cpu_sys:([\d.]+)/m)),
    bytes: field(/^total_net_input_bytes:(\d+)/m),
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
