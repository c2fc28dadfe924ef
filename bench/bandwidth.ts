/** The limit on bandwidth, as the server sees it: what it sends in each second, with and without workers. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Figure } from './report.js'
import { type Contest, contestant } from './web/contest.js'
import { startBenchWeb } from './web/web.js'

const ASKED = '50Mbps'
const BYTES_PER_SECOND = 50e6 / 8
const SETTLE_MS = 2000
const WINDOW_MS = 1000
const WINDOWS = 8
/** Until the first thousand requests, on a busy machine. */
const START_SECONDS = 8

export const bandwidth: Bench = async () => [...(await measured(0)), ...(await measured(2))]

async function measured(workers: number): Promise<Figure[]> {
  const web = await startBenchWeb({ hosts: 500, pagesPerHost: 100, linksPerPage: 100, bytes: 22 * 1024 })
  const seconds = START_SECONDS + (SETTLE_MS + WINDOW_MS * (WINDOWS + 1)) / 1000
  const contest: Contest = {
    name: 'kumo',
    seeds: web.seeds,
    concurrency: 100,
    perHost: 1,
    delayMs: 0,
    workers,
    store: 'memory',
    extra: { limit: { bandwidth: ASKED, time: `${seconds}s` } },
  }
  const kumo = await contestant(contest)
  const running = kumo.run()
  while ((await web.report()).requests < 1000) await sleep(50)
  await sleep(SETTLE_MS)
  const shares: number[] = []
  let before = { at: performance.now(), bytes: (await web.report()).bytes }
  for (let i = 0; i < WINDOWS; i++) {
    await sleep(WINDOW_MS)
    const now = { at: performance.now(), bytes: (await web.report()).bytes }
    shares.push(((now.bytes - before.bytes) * 1000) / (now.at - before.at) / BYTES_PER_SECOND)
    before = now
  }
  await running
  kumo.close()
  await web.close()
  const name = `${ASKED}, ${workers} workers, seconds of`
  return [
    { what: `${name} least, measured ÷ asked`, value: Math.min(...shares), unit: '', bar: { atLeast: 0.95 } },
    { what: `${name} most, measured ÷ asked`, value: Math.max(...shares), unit: '', bar: { atMost: 1.02 } },
  ]
}
