/** A crawl in a process that may open only a few files more than it has open when it starts. Linux. */

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { Crawler, level } from '../../../src/index.js'

const { seeds, servers, robots, folder, spare } = JSON.parse(process.argv[2]!) as {
  seeds: string[]
  servers?: string[]
  robots: boolean
  folder?: string
  spare: number
}

const warnings: string[] = []
process.on('warning', ({ name, message }) => void (name === 'KumoWarning' && warnings.push(message)))

const failures: string[] = []
let crawler = new Crawler()
  .seeds(seeds)
  .allowPrivate('all')
  .robots(robots)
  .delay(10)
  .concurrency(seeds.length)
  .connections({ most: 1000 })
  .retries({ times: 1, backoff: 50, cooldown: 100 })
  .on('failure', ({ code, message }) => void failures.push(`${code}: ${message}`))
if (servers) crawler = crawler.dns({ servers })
if (folder) crawler = crawler.store(level(folder))

const open = readdirSync('/proc/self/fd').length
execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${open + spare}:`])
const { pages, reason, retries, shortestGapMs } = await crawler.run()
console.log(
  JSON.stringify({ pages, reason, retries, shortestGapMs, failures: failures.slice(0, 5), warnings }),
)
