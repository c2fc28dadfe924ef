/**
 * One contestant of the core bench, in a process of its own: what one does to the compiler's picture of undici must
 * not slow the others down. It stays for all rounds, so that it is measured warm: told to, it runs once and answers.
 */

import { performance } from 'node:perf_hooks'
import { Crawler } from 'kumo'
import { rawUndici } from './raw.js'

/** What the parent tells once, at the start. */
export interface Contest {
  readonly name: 'request' | 'dispatch' | 'kumo'
  readonly urls: readonly string[]
  readonly concurrency: number
}

export interface Round {
  readonly pagesPerSecond: number
  readonly cpuMsPerPage: number
}

let contest: Contest | undefined

process.on('message', async (message: Contest | 'run') => {
  if (message !== 'run') {
    contest = message
    return
  }
  const { name, urls, concurrency } = contest!
  const round =
    name === 'kumo' ? await crawl(contest!) : await rawUndici({ urls, concurrency, flavour: name })
  process.send?.({ pagesPerSecond: round.pagesPerSecond, cpuMsPerPage: round.cpuMsPerPage } satisfies Round)
})
process.on('disconnect', () => process.exit())

async function crawl({ urls, concurrency }: Contest): Promise<Round> {
  const crawler = new Crawler()
    .seeds(urls[0]!)
    .concurrency(concurrency)
    .delay(0)
    .perHost({ connections: concurrency, growAt: 1 })
  const cpu = process.cpuUsage()
  const start = performance.now()
  const { pages } = await crawler.run()
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  if (pages !== urls.length) throw new Error(`crawled ${pages} pages instead of ${urls.length}`)
  return { pagesPerSecond: pages / seconds, cpuMsPerPage: (user + system) / 1000 / pages }
}
