/**
 * The core bench's crawl by two builds of Kumo: this one and another checkout's, in alternating turns on one server.
 *
 *     npx tsx --tsconfig bench/tsconfig.json bench/pairs.ts ../before [level]
 *
 * Both must be built (`npm run build`). Prints the ratio of CPU time a page, before ÷ now, of each pair, their median and
 * where the median lies in 95 of 100 draws. Above 1: this build is faster. The exit code is 1 below 0.98.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '../src/time.js'
import { startWeb } from '../test/loopback/web.js'
import type { Contest } from './core.js'
import { median } from './report.js'

const PAGES = 20_000
const CONCURRENCY = 64
const WARM_UPS = 3
const PAIRS = 15
const DRAWS = 10_000
const BAR = 0.98

const [other, name = 'kumo'] = process.argv.slice(2)
if (other === undefined || (name !== 'kumo' && name !== 'level')) {
  console.error('Usage: bench/pairs.ts OTHER_CHECKOUT [level]')
  process.exit(2)
}

const web = await startWeb({ hosts: 1, pagesPerHost: PAGES, linksPerPage: 60, bytes: 14 * 1024 })
const urls = Array.from({ length: PAGES }, (_, page) => web.url(0, page))
const before = start(resolve(other, 'bench/contestant.mjs'))
const now = start(fileURLToPath(new URL('contestant.mjs', import.meta.url)))
const ratios: number[] = []
for (let turn = 0; turn < WARM_UPS + PAIRS; turn++) {
  // Who goes first takes turns too.
  const first = turn % 2 === 0 ? before : now
  const cpu = new Map([[first, await crawl(first)]])
  const second = first === before ? now : before
  cpu.set(second, await crawl(second))
  if (turn >= WARM_UPS) ratios.push(cpu.get(before)! / cpu.get(now)!)
}
for (const child of [before, now]) child.disconnect()
await web.close()

const middle = median(ratios)
const [low, high] = interval(ratios)
console.log(`CPU a page, before ÷ now: ${ratios.map((ratio) => ratio.toFixed(3)).join(' ')}`)
console.log(`median ${middle.toFixed(3)}, 95 %: ${low.toFixed(3)} to ${high.toFixed(3)}`)
process.exit(middle >= BAR ? 0 : 1)

function start(script: string): ChildProcess {
  const child = fork(script, { execArgv: [] })
  child.setMaxListeners(0)
  child.send({ name: name as Contest['name'], urls, concurrency: CONCURRENCY } satisfies Contest)
  return child
}

async function crawl(child: ChildProcess): Promise<number> {
  child.send('run')
  const died = once(child, 'exit').then(() => {
    throw new Error('a contestant died')
  })
  const [{ cpuMsPerPage }] = await Promise.race([once(child, 'message'), died])
  return cpuMsPerPage
}

/** The middle 95 % of the medians of samples drawn with replacement. */
function interval(values: readonly number[]): readonly [number, number] {
  const random = seededRandom(1)
  const drawn = Array.from({ length: DRAWS }, () =>
    median(values.map(() => values[Math.floor(random.next() * values.length)]!)),
  ).sort((a, b) => a - b)
  return [drawn[Math.floor(0.025 * DRAWS)]!, drawn[Math.floor(0.975 * DRAWS)]!]
}
