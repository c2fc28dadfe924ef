/** The web that the demo crawls if no URLs are given: many hosts on loopback, and a server that logs every request. */

import { createServer } from 'node:net'
import { type LoopbackWeb, startWeb, type WebOptions } from '../../test/loopback/web.js'

export interface DemoWeb {
  readonly seeds: readonly string[]
  readonly hosts: number
  readonly pages: number
  /** What the server's log says; undefined if the server has exited, because Ctrl-C reaches it too. */
  report(gapMs: number): Promise<Witness | undefined>
  close(): Promise<void>
}

/** Politeness as the server saw it, including requests for robots.txt. */
export interface Witness {
  readonly requests: number
  readonly shortestGapMs: number | undefined
  readonly belowGap: number
  readonly overlaps: number
}

/** One page in twenty is disallowed, so that the summary shows skipped URLs. */
const ROBOTS = 'User-agent: *\nDisallow: /p/7\n'

const SHAPE: WebOptions = { linksPerPage: 40, bytes: 10_240, latencyMs: [5, 40], robots: ROBOTS }

/** If loopback has only one address, each host is a process on its own port, so there are fewer. */
const MOST_PORTS = 8

/** Starts the web. Its first host is the seed; links lead to all other hosts. */
export async function startDemoWeb(hosts: number, pagesPerHost: number): Promise<DemoWeb> {
  if (hosts > 1 && (await hasManyAddresses())) {
    const web = await startWeb({ ...SHAPE, hosts, pagesPerHost, crossHostShare: 0.1 })
    return demoWeb([web])
  }
  const ports = Array.from({ length: Math.min(hosts, MOST_PORTS) }, (_, seed) =>
    startWeb({ ...SHAPE, pagesPerHost, seed, bind: '127.0.0.1' }),
  )
  return demoWeb(await Promise.all(ports))
}

/** Linux and Windows accept all of 127.0.0.0/8, macOS only 127.0.0.1. */
function hasManyAddresses(): Promise<boolean> {
  if (process.env.KUMO_DEMO_ONE_ADDRESS !== undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(0, '127.1.0.1', () => probe.close(() => resolve(true)))
  })
}

function demoWeb(webs: readonly LoopbackWeb[]): DemoWeb {
  return {
    seeds: webs.flatMap((web) => web.seeds(1)),
    hosts: webs.reduce((sum, web) => sum + web.seeds().length, 0),
    pages: webs.reduce((sum, web) => sum + web.totalPages, 0),
    async report(gapMs) {
      try {
        return combined(await Promise.all(webs.map((web) => web.report(0, { gapMs, countRobots: true }))))
      } catch {
        return undefined
      }
    },
    async close() {
      await Promise.all(webs.map((web) => web.close()))
    },
  }
}

function combined(reports: readonly Awaited<ReturnType<LoopbackWeb['report']>>[]): Witness {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const gaps = reports.flatMap(({ perHost }) => perHost.shortestGapMs ?? [])
  return {
    requests: sum(reports.map(({ requests }) => requests)),
    shortestGapMs: gaps.length > 0 ? Math.min(...gaps) : undefined,
    belowGap: sum(reports.map(({ perHost }) => perHost.belowGap)),
    overlaps: sum(reports.map(({ perHost }) => perHost.overlaps)),
  }
}
