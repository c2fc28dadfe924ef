/**
 * Kumo and its peers on whole sites, each as a program that is started, crawls and ends: what a first run costs, with the
 * start of the program and with code that is not compiled yet. Only pages that the server has sent count.
 */

import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { installPeers, type Peer } from './peers/install.js'
import type { Bench, Figure } from './report.js'
import { median } from './report.js'
import { startBenchWeb } from './web/web.js'

const CONCURRENCY = 60
const TURNS = 3
const LONGEST_MS = 300_000
const MB_OF_KB = 1 / 1024

interface Run {
  readonly cpuMs: number
  readonly seconds: number
  readonly rssMb: number
}

export const peers: Bench = async () => {
  const web = await startBenchWeb({ sites: true })
  const contestants = installPeers().map((peer) => ({ peer, runs: [] as (Run & { pages: number })[] }))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const { peer, runs } of contestants) {
      await web.reset()
      const run = await crawl(peer, web.seeds)
      const pages = (await web.log()).urls.filter(({ found, path }) => found && path !== '/robots.txt')
      runs.push({ ...run, pages: new Set(pages.map(({ url }) => url)).size })
    }
  }
  await web.close()
  return contestants.flatMap(({ peer, runs }): Figure[] => {
    const of = (value: (run: (typeof runs)[number]) => number) => median(runs.map(value))
    return [
      { what: `${peer.name}, pages`, value: of(({ pages }) => pages), unit: '' },
      { what: `${peer.name}, CPU`, value: of(({ cpuMs, pages }) => (1000 * cpuMs) / pages), unit: 'µs/page' },
      { what: `${peer.name}, pace`, value: of(({ seconds, pages }) => pages / seconds), unit: 'pages/s' },
      { what: `${peer.name}, memory`, value: of(({ rssMb }) => rssMb), unit: 'MB' },
    ]
  })
}

/** CPU time and peak memory of a process and its threads and children, as the system counted them. */
const MEASURE = `
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, code)
`

async function crawl({ command, args, env }: Peer, seeds: readonly string[]): Promise<Run> {
  const start = performance.now()
  const { stdout } = await promisify(execFile)(
    '/usr/bin/python3',
    ['-c', MEASURE, command, ...args(seeds, CONCURRENCY)],
    { env: { ...process.env, ...env }, timeout: LONGEST_MS },
  )
  const [cpuSeconds, rssKb] = stdout.trim().split(' ').map(Number)
  return {
    cpuMs: 1000 * cpuSeconds!,
    seconds: (performance.now() - start) / 1000,
    rssMb: rssKb! * MB_OF_KB,
  }
}
