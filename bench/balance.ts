/**
 * System D's comparison: finish time and deviation of load, with and without balancing, on a web where 20 % of the hosts
 * hold 80 % of the pages. What system A names as the weakness of static assignment is set up at its worst: the large
 * hosts all fall to the same worker. They are more than that worker has slots, so it is the worker that is the limit, not
 * the politeness to one host, which no balancing could mend.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { byHost } from 'kumo/adapters'
import { addressOf, shapeOf } from '../test/loopback/shape.mjs'
import { type LoopbackWeb, startWeb } from '../test/loopback/web.js'
import { crawlWhole, type Whole } from './crawls.js'
import { type Bench, type Figure, median } from './report.js'

const WORKERS = 3
const SLOTS_PER_WORKER = 2
const HOSTS = 60
const LARGE_HOSTS = 0.2 * HOSTS
const PAGES_OF_LARGE = 128
const PAGES_OF_SMALL = 8
/** A visit takes 20 ms on average: one worker is busy for a quarter of a minute with what falls to it. */
const LATENCY_MS: [number, number] = [10, 30]
/** Short enough that the large hosts of one worker keep its slots busy; the server's log tells whether it was kept. */
const DELAY_MS = 10
const TURNS = 3

interface Round extends Whole {
  /** What the server saw of broken manners: moves must not lead to any. */
  readonly faults: number
}

export const balance: Bench = async () => {
  const { web, expected } = await skewedWeb()
  const still: Round[] = []
  const balanced: Round[] = []
  for (let turn = 0; turn < TURNS; turn++) {
    still.push(await crawl(web, false))
    balanced.push(await crawl(web, true))
  }
  await web.close()
  for (const { workers } of still) {
    if (workers.some(({ pages }, shard) => pages !== expected[shard])) {
      throw new Error(`without balancing, pages went to other workers than ${expected.join(', ')} of them`)
    }
  }
  const most = Math.max(...expected)
  const meanMs = (LATENCY_MS[0] + LATENCY_MS[1]) / 2
  const ideal = web.totalPages / WORKERS / most
  return [
    { what: 'pages', value: web.totalPages, unit: '' },
    { what: 'share of the busiest worker without balancing', value: most / web.totalPages, unit: '' },
    { what: 'share of the busiest worker with it', value: median(balanced.map(busiestShare)), unit: '' },
    { what: 'finish time without balancing', value: middle(still, 'seconds'), unit: 's' },
    { what: 'what its slots allow', value: (most * meanMs) / 1000 / SLOTS_PER_WORKER, unit: 's' },
    { what: 'finish time with balancing', value: middle(balanced, 'seconds'), unit: 's' },
    {
      what: 'the ideal: all slots busy to the end',
      value: (ideal * most * meanMs) / 1000 / SLOTS_PER_WORKER,
      unit: 's',
    },
    ratio('finish time with ÷ without', balanced, still, 'seconds', { atMost: 0.75 }),
    { what: 'the ideal of that', value: ideal, unit: '' },
    { what: 'deviation of load without balancing', value: middle(still, 'deviation'), unit: 'URLs' },
    { what: 'deviation of load with balancing', value: middle(balanced, 'deviation'), unit: 'URLs' },
    ratio('deviation with ÷ without', balanced, still, 'deviation', { atMost: 0.75 }),
    { what: 'partitions that moved', value: median(balanced.map(moved)), unit: '', bar: { atLeast: 1 } },
    {
      what: 'pages twice, overlaps and short pauses (server log)',
      value: [...still, ...balanced].reduce((sum, { faults }) => sum + faults, 0),
      unit: '',
      bar: { atMost: 0 },
    },
  ]
}

async function crawl(web: LoopbackWeb, isBalanced: boolean): Promise<Round> {
  await web.reset()
  const order = {
    seeds: web.seeds(),
    workers: WORKERS,
    balance: isBalanced,
    concurrency: WORKERS * SLOTS_PER_WORKER,
    delayMs: DELAY_MS,
  }
  const whole = await crawlWhole(order, web.totalPages)
  const { duplicates, perHost } = await web.report(0, { gapMs: DELAY_MS, countRobots: true })
  return { ...whole, faults: duplicates + perHost.overlaps + perHost.belowGap }
}

/**
 * A host's partition depends on its address and port, and partitions are dealt out to workers like cards. So once the
 * port is known, so is each host's worker, and the large hosts are chosen among those of one.
 */
async function skewedWeb(): Promise<{ web: LoopbackWeb; expected: number[] }> {
  const port = await freePort()
  const shape = shapeOf({ hosts: HOSTS })
  const partitioner = byHost()
  const owners = Array.from(
    { length: HOSTS },
    (_, host) => partitioner.partition(`${addressOf(shape, host)}:${port}`) % WORKERS,
  )
  const hostsOf = (shard: number) => owners.filter((owner) => owner === shard).length
  // The one with most hosts: it has at least a third of them, and needs a fifth.
  const loaded = owners.reduce((most, shard) => (hostsOf(shard) > hostsOf(most) ? shard : most), 0)
  let large = 0
  const pagesPerHost = owners.map((owner) =>
    owner === loaded && large++ < LARGE_HOSTS ? PAGES_OF_LARGE : PAGES_OF_SMALL,
  )
  const expected = Array.from({ length: WORKERS }, (_, shard) =>
    pagesPerHost.reduce((sum, pages, host) => (owners[host] === shard ? sum + pages : sum), 0),
  )
  const web = await startWeb({ hosts: HOSTS, pagesPerHost, latencyMs: LATENCY_MS, crossHostShare: 0.1, port })
  return { web, expected }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

function busiestShare({ workers, pages }: Round): number {
  return Math.max(...workers.map((worker) => worker.pages)) / pages
}

/** More than a fair deal of partitions, over all workers. */
function moved({ workers }: Round): number {
  const dealt = byHost().partitions / workers.length
  return workers.reduce((sum, { partitions }) => sum + Math.max(0, Math.floor(partitions - dealt)), 0)
}

function middle(rounds: readonly Round[], what: 'seconds' | 'deviation'): number {
  return median(rounds.map((round) => round[what]))
}

function ratio(
  what: string,
  ours: readonly Round[],
  theirs: readonly Round[],
  measure: 'seconds' | 'deviation',
  bar: Figure['bar'] & object,
): Figure {
  return {
    what,
    value: median(ours.map((round, turn) => round[measure] / theirs[turn]![measure])),
    unit: '',
    bar,
  }
}
