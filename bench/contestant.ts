/**
 * One contestant of the core bench, in a process of its own: what one does to the compiler's picture of undici must
 * not slow the others down. `tsx bench/contestant.ts <name> <origin> <pages> <concurrency>` prints a JSON line.
 */

import { performance } from 'node:perf_hooks'
import { Crawler } from 'kumo'
import { rawUndici } from './raw.js'
import { median } from './report.js'

/** The compiler needs two runs to settle; later ones differ by noise only. */
const WARM_UPS = 2
const RUNS = 3

export interface Round {
  pagesPerSecond: number
  cpuMsPerPage: number
}

const [name, origin, pagesText, concurrencyText] = process.argv.slice(2) as [string, string, string, string]
const pages = Number(pagesText)
const concurrency = Number(concurrencyText)
const urls = Array.from({ length: pages }, (_, page) => `${origin}${page === 0 ? '/' : `/p/${page}`}`)

const rounds: Round[] = []
for (let run = 0; run < WARM_UPS + RUNS; run++) {
  const round =
    name === 'kumo'
      ? await crawl()
      : await rawUndici({ urls, concurrency, flavour: name as 'request' | 'dispatch' })
  if (run >= WARM_UPS) rounds.push(round)
}
const result: Round = {
  pagesPerSecond: median(rounds.map((round) => round.pagesPerSecond)),
  cpuMsPerPage: median(rounds.map((round) => round.cpuMsPerPage)),
}
console.log(JSON.stringify(result))

async function crawl(): Promise<Round> {
  const crawler = new Crawler()
    .seeds(urls[0]!)
    .concurrency(concurrency)
    .delay(0)
    .perHost({ connections: concurrency, growAt: 1 })
  const cpu = process.cpuUsage()
  const start = performance.now()
  const summary = await crawler.run()
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  if (summary.pages !== pages) throw new Error(`crawled ${summary.pages} pages instead of ${pages}`)
  return { pagesPerSecond: pages / seconds, cpuMsPerPage: (user + system) / 1000 / pages }
}
