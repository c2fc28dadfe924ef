/**
 * What a lease and its settlement cost when a million requests are pending, on few hosts and on many. The cost must
 * hardly depend on the number of hosts: a crawl gets wider as it goes on.
 *
 *     node --expose-gc --import tsx bench/micro/frontier.ts [pending]
 */

import { pathToFileURL } from 'node:url'
import type { Settlement } from '../../src/frontier/contract.js'
import { memoryFrontier } from '../../src/frontier/memory.js'
import type { CrawlRequest } from '../../src/types.js'

export interface FrontierFigures {
  /** Requests leased and settled a CPU second. */
  readonly opsPerSecond: number
  readonly nsPerOp: number
  /** The same over all rounds: with the garbage collector's large runs, and with the noise. */
  readonly meanNsPerOp: number
}

export interface FrontierLoad {
  /** Pause between visits to a host, in ms of simulated time. Default 0. */
  readonly delayMs?: number
  /** Requests leased and settled at a time. Default 64. */
  readonly batch?: number
}

/** Of the pending requests, the share that a measurement drains: the frontier stays full while it is measured. */
const DRAINED = 0.5
/** Parts in which the drain is timed. The best one counts: the others tell of the neighbours on the machine. */
const ROUNDS = 10
/** Simulated time between batches where no pause decides, in ms. */
const STEP_MS = 0.1

/** Fills a memory frontier evenly, then leases and settles in virtual time until half of it is done. */
export function measureFrontier(hosts: number, pending: number, load: FrontierLoad = {}): FrontierFigures {
  const { delayMs = 0, batch = 64 } = load
  const frontier = memoryFrontier({
    politeness: { delayMs, connections: 1, growAt: Number.POSITIVE_INFINITY },
  })
  for (let i = 0; i < pending; i += hosts) frontier.add(requestsFor(i, Math.min(i + hosts, pending), hosts))

  // With a pause, time goes just fast enough for every host to be visited as soon as it may be.
  const stepMs = delayMs === 0 ? STEP_MS : (batch * delayMs) / hosts
  const perRound = Math.floor((pending * DRAINED) / ROUNDS)
  let now = 0
  let bestNsPerOp = Number.POSITIVE_INFINITY
  let totalNs = 0
  let totalOps = 0
  // What the filling and earlier measurements left behind would be collected in some round or other.
  globalThis.gc?.()
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage()
    let done = 0
    while (done < perRound) {
      const leases = frontier.lease(batch, now) as readonly CrawlRequest[]
      const settlements: Settlement[] = []
      for (const request of leases) settlements.push({ request, visitedAt: now })
      frontier.settle(settlements)
      done += leases.length
      now = leases.length === 0 ? frontier.nextDue() : now + stepMs
    }
    const { user, system } = process.cpuUsage(start)
    const ns = (user + system) * 1000
    totalNs += ns
    totalOps += done
    bestNsPerOp = Math.min(bestNsPerOp, ns / done)
  }
  frontier.close()
  return {
    opsPerSecond: Math.round(1e9 / bestNsPerOp),
    nsPerOp: Math.round(bestNsPerOp),
    meanNsPerOp: Math.round(totalNs / totalOps),
  }
}

function requestsFor(from: number, until: number, hosts: number): CrawlRequest[] {
  const requests: CrawlRequest[] = []
  for (let i = from; i < until; i++) {
    const host = `www.host${i % hosts}.example`
    const url = `https://${host}/${i}`
    requests.push({ url, host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent: undefined })
  }
  return requests
}

const FEW_HOSTS = 1000
const MANY_HOSTS = 100_000
/** What the frontier is held to: operations a second, and the cost with many hosts over that with few. */
const PROMISED = { opsPerSecond: 200_000, ratio: 2 }

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const pending = Number(process.argv[2] ?? 1_000_000)
  const figures = ({ opsPerSecond, nsPerOp, meanNsPerOp }: FrontierFigures) =>
    `${(opsPerSecond / 1e6).toFixed(2)} M/s (${nsPerOp} ns, mean ${meanNsPerOp})`
  // The first measurement pays for the compiler; it is not told.
  measureFrontier(FEW_HOSTS, pending / 5)
  for (const delayMs of [0, 1000]) {
    for (const batch of [1, 64]) {
      const few = measureFrontier(FEW_HOSTS, pending, { delayMs, batch })
      const many = measureFrontier(MANY_HOSTS, pending, { delayMs, batch })
      const ratio = many.nsPerOp / few.nsPerOp
      const meanRatio = many.meanNsPerOp / few.meanNsPerOp
      const kept =
        ratio <= PROMISED.ratio && Math.min(few.opsPerSecond, many.opsPerSecond) >= PROMISED.opsPerSecond
      console.log(
        `delay ${delayMs} ms, batches of ${batch}: ${figures(few)} on ${FEW_HOSTS} hosts, ` +
          `${figures(many)} on ${MANY_HOSTS}; ratio ${ratio.toFixed(2)}, of means ${meanRatio.toFixed(2)}${kept ? '' : '  MISSED'}`,
      )
    }
  }
}
