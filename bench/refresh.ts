/**
 * The server level of refreshing with a million servers: how fast it decides, what a server takes, and how that grows; and
 * what a known page takes in memory where the store is on disk.
 */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Heap } from '../src/frontier/heap.js'
import { Servers } from '../src/refresh/servers.js'
import { type Random, seededRandom } from '../src/time.js'
import { forkPlain } from './child.js'
import type { Bench } from './report.js'

const MANY = 1_000_000
const FEW = 10_000
const DECISIONS = 1_000_000
/** Parts in which decisions are timed. The best one counts: the others tell of the neighbours on the machine. */
const ROUNDS = 10
const DAY = 24 * 3600 * 1000
const START = 1_795_000_000_000

interface Waiting {
  readonly host: string
  readyAt: number
  every: number
}

export const refresh: Bench = async () => {
  const { servers, bytes } = fill(MANY)
  const many = decisionsPerSecond(servers)
  const few = decisionsPerSecond(fill(FEW).servers)
  return [
    { what: 'decisions, 1,000,000 servers', value: many, unit: '/s', bar: { atLeast: 200_000 } },
    { what: 'RAM a server, 1,000,000 servers', value: bytes, unit: 'bytes', bar: { atMost: 200 } },
    { what: 'decisions, 1,000,000 ÷ 10,000 servers', value: many / few, unit: '' },
    {
      what: 'RAM of a known page, store on disk',
      value: await bytesOfPage(),
      unit: 'bytes',
      bar: { atMost: 40 },
    },
  ]
}

/** Memory is taken at both, so that what a crawl takes up before it knows anything is not counted. */
const KNOWN_PAGES = [100_000, 400_000] as const

async function bytesOfPage(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'kumo-bench-refresh-'))
  const child = forkPlain('refresh-child.mjs')
  child.send({ folder, pages: KNOWN_PAGES, hosts: 1000, linksPerPage: 100 })
  const [[few, many]] = (await once(child, 'message')) as [[number, number]]
  await rm(folder, { recursive: true, force: true })
  return (many - few) / (KNOWN_PAGES[1] - KNOWN_PAGES[0])
}

/** Servers of all kinds, some with wishes that cannot be granted, and too few sockets for all: the dearest case. */
function fill(count: number): { servers: Servers; bytes: number } {
  const random = seededRandom(1)
  const before = memory()
  const servers = new Servers({ sockets: count / 1000, minIntervalMs: 1000, policy: 'edf' })
  for (let i = 0; i < count; i++) {
    servers.put(hostName(i), {
      pages: 100,
      load: 1 / spread(random, 500, 5 * DAY),
      download: spread(random, 50, 5000),
      habit: [20, 10],
    })
  }
  return { servers, bytes: (memory() - before) / count }
}

/** A visit was made, its page wishes another interval, and its server gets a new place among all that wait. */
function decisionsPerSecond(servers: Servers): number {
  const random = seededRandom(2)
  const heap = new Heap<Waiting>()
  for (const host of servers.hosts()) {
    const waiting = { host, readyAt: START, every: DAY }
    heap.push(waiting, servers.policy(waiting))
  }
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const from = process.cpuUsage()
    for (let i = 0; i < DECISIONS / ROUNDS; i++) {
      const waiting = heap.pop()!
      const { host } = waiting
      const every = DAY * (0.5 + random.next())
      servers.downloaded(host, 50 + 1000 * random.next())
      servers.updateInterval(host, waiting.every, every)
      waiting.every = every
      waiting.readyAt += every
      heap.push(waiting, servers.policy(waiting))
    }
    const { user, system } = process.cpuUsage(from)
    best = Math.min(best, user + system)
  }
  return DECISIONS / ROUNDS / (best / 1e6)
}

/** Flat, as the parser hands it over: a name that was put together would hold its parts. */
function hostName(i: number): string {
  return Buffer.from(`www.site-${i}.example`).toString('latin1')
}

/** Between `from` and `to`, all orders of magnitude alike. */
function spread(random: Random, from: number, to: number): number {
  return from * (to / from) ** random.next()
}

function memory(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
