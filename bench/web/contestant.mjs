/**
 * One contestant of the benches that look like the web, in a process of its own. It stays for all rounds, so that it is
 * measured warm: told to, it runs once and answers.
 *
 * Plain JavaScript and no loader: `kumo` is the built package as an application gets it.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Crawler, level } from 'kumo'
import { Agent } from 'undici'
import { addressOfName } from './hosts.mjs'

const MB = 2 ** 20
const MEMORY_EVERY_MS = 100

/** @type {import('./contest.js').Contest} */
let contest

process.on('message', async (message) => {
  if (message !== 'run') {
    contest = message
    process.send('ready')
    return
  }
  const cpu = process.cpuUsage()
  const start = performance.now()
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, MEMORY_EVERY_MS)
  const pages = contest.name === 'raw' ? await fetchAll(contest) : await crawl(contest)
  clearInterval(sampling)
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  process.send({ pages, seconds, cpuMs: (user + system) / 1000, rssMb: peak / MB })
})
process.on('disconnect', () => process.exit())

const resolver = { resolve: async (name) => [{ address: addressOfName(name), family: 4 }] }

async function crawl({ seeds, concurrency, perHost, delayMs, ca, workers, store, extra }) {
  const folder = store === 'level' ? await mkdtemp(join(tmpdir(), 'kumo-bench-')) : undefined
  let crawler = new Crawler()
    .seeds(seeds)
    .allowPrivate('all')
    .concurrency(concurrency)
    .delay(`${delayMs}ms`)
    .perHost({ connections: perHost, growAt: 1 })
    .workers(workers)
  if (ca !== undefined) crawler = crawler.tls({ ca }).dns(workers > 0 ? RESOLVER : resolver)
  if (folder !== undefined) crawler = crawler.store(level(folder))
  for (const [option, value] of Object.entries(extra ?? {})) crawler = crawler[option](value)
  const { pages } = await crawler.run()
  if (folder !== undefined) await rm(folder, { recursive: true })
  return pages
}

/** With workers it must be a module. */
const RESOLVER = new URL('./resolver.mjs', import.meta.url)

/** undici on the same URLs, with as many connections, doing nothing with what comes. */
async function fetchAll({ urls, concurrency, perHost, ca }) {
  const lookup = (name, _, done) => done(null, [{ address: addressOfName(name), family: 4 }])
  const agent = new Agent({ connections: perHost, ...(ca && { connect: { ca, lookup } }) })
  let next = 0
  let pages = 0
  const fetchNext = async () => {
    while (next < urls.length) {
      const { origin, path } = urls[next++]
      const { statusCode, body } = await agent.request({ origin, path, method: 'GET' })
      await body.arrayBuffer()
      if (statusCode === 200) pages++
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, urls.length) }, fetchNext))
  await agent.close()
  return pages
}
