/**
 * One contestant of the core bench, in a process of its own: what one does to the compiler's picture of undici must
 * not slow the others down. It stays for all rounds, so that it is measured warm: told to, it runs once and answers.
 *
 * Plain JavaScript and no loader: `kumo` is the built package as an application gets it.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Crawler, level, memory } from 'kumo'
import { rawUndici } from './raw.mjs'

/** @type {import('./core.js').Contest | undefined} */
let contest

process.on('message', async (message) => {
  if (message !== 'run') {
    contest = message
    return
  }
  const { name, urls, concurrency } = contest
  const isOurs = name === 'kumo' || name === 'level'
  const round = isOurs ? await crawl(contest) : await rawUndici({ urls, concurrency, flavour: name })
  process.send?.({ pagesPerSecond: round.pagesPerSecond, cpuMsPerPage: round.cpuMsPerPage })
})
process.on('disconnect', () => process.exit())

async function crawl({ name, urls, concurrency }) {
  const folder = name === 'level' ? await mkdtemp(join(tmpdir(), 'kumo-bench-')) : undefined
  const crawler = new Crawler()
    .seeds(urls[0])
    .concurrency(concurrency)
    .delay(0)
    .perHost({ connections: concurrency, growAt: 1 })
    .store(folder === undefined ? memory() : level(folder))
  const cpu = process.cpuUsage()
  const start = performance.now()
  const { pages } = await crawler.run()
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  if (folder !== undefined) await rm(folder, { recursive: true })
  if (pages !== urls.length) throw new Error(`crawled ${pages} pages instead of ${urls.length}`)
  return { pagesPerSecond: pages / seconds, cpuMsPerPage: (user + system) / 1000 / pages }
}
