/**
 * Many more hosts than the window of `level()` holds, driven for a minute of told time: whether each gets its turn, in
 * the order of the memory frontier, and what a visit costs when its host comes from disk and goes back there.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CrawlRequest, type LevelOptions, level, memory } from 'kumo'
import { byHost, type OpenStore, systemClock } from 'kumo/adapters'
import { firstCome } from '../src/frontier/selection.js'
import type { Bench, Figure } from './report.js'

const START = 1_700_000_000_000
const TOLD_MS = 60_000
const STEP_MS = 100
const PARTITIONS = 1024
/** So many visits each host would get if all got the same. */
const ROUNDS = 4

interface Driven {
  /** Hosts, by the order of their first visits. */
  readonly first: readonly number[]
  readonly visits: Uint32Array
  readonly microsecondsPerVisit: number
}

const hostOf = (i: number) => `host${i}.example`
const indexOf = ({ host }: CrawlRequest) => Number.parseInt(host.slice('host'.length), 10)

function page(host: number, path: number): CrawlRequest {
  const url = `https://${hostOf(host)}/${path}`
  return { url, host: hostOf(host), depth: 1, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}

async function drive({ frontier }: OpenStore, hosts: number): Promise<Driven> {
  const atOnce = Math.ceil((hosts * ROUNDS * STEP_MS) / TOLD_MS)
  const visits = new Uint32Array(hosts)
  const first: number[] = []
  let done = 0
  let rouse = () => {}
  frontier.watch?.(() => rouse())
  await frontier.lease(0, START)
  for (let i = 0; i < hosts; i += 1000) {
    await frontier.add(Array.from({ length: Math.min(1000, hosts - i) }, (_, k) => page(i + k, 0)))
  }
  const startedAt = process.cpuUsage()
  for (let now = START; now < START + TOLD_MS; now += STEP_MS) {
    for (let left = atOnce; left > 0; ) {
      const roused = new Promise<void>((resolve) => {
        rouse = resolve
      })
      const leases = await frontier.lease(left, now)
      left -= leases.length
      for (const lease of leases) {
        const host = indexOf(lease)
        if (visits[host]!++ === 0) first.push(host)
        done++
      }
      const found = (lease: CrawlRequest) => [page(indexOf(lease), visits[indexOf(lease)]!)]
      await frontier.settle(leases.map((request) => ({ request, visitedAt: now, found: found(request) })))
      if (leases.length > 0) continue
      // Nothing more is due at this instant, unless the disk has yet to say so.
      if (frontier.nextDue() !== Number.POSITIVE_INFINITY && frontier.nextDue() > now) break
      await roused
    }
  }
  const { user, system } = process.cpuUsage(startedAt)
  return { first, visits, microsecondsPerVisit: (user + system) / done }
}

async function withStore(options: LevelOptions | undefined, hosts: number): Promise<Driven> {
  const path = await mkdtemp(join(tmpdir(), 'kumo-fairness-'))
  const partitioner = byHost(PARTITIONS)
  const opened = await (options === undefined ? memory() : level(path, options)).open({
    politeness: { delayMs: 1000, connections: 1, growAt: 100 },
    policy: firstCome,
    clock: systemClock(),
    partitions: PARTITIONS,
    partitionOf: (host) => partitioner.partition(host),
  })
  const driven = await drive(opened, hosts)
  await opened.close()
  await rm(path, { recursive: true, force: true })
  return driven
}

/** By how many places a host was visited earlier or later than in memory, at most. */
function displaced(order: readonly number[], expected: readonly number[]): number {
  const places = new Map(expected.map((host, place) => [host, place]))
  return Math.max(...order.map((host, place) => Math.abs(place - places.get(host)!)))
}

async function figures(what: string, options: LevelOptions, hosts: number): Promise<Figure[]> {
  const { first } = await withStore(undefined, hosts)
  const stored = await withStore(options, hosts)
  const visits = [...stored.visits]
  return [
    { what: `${what}: hosts visited`, value: stored.first.length, unit: '', bar: { atLeast: hosts } },
    {
      what: `${what}: first visits out of place`,
      value: displaced(stored.first, first),
      unit: 'places',
      bar: { atMost: 0 },
    },
    {
      what: `${what}: most ÷ fewest visits of a host`,
      value: visits.reduce((a, b) => Math.max(a, b)) / visits.reduce((a, b) => Math.min(a, b)),
      unit: '',
      bar: { atMost: 1.5 },
    },
    { what: `${what}: a visit`, value: stored.microsecondsPerVisit, unit: 'µs CPU' },
  ]
}

export const fairness: Bench = async () => [
  ...(await figures('5,000 hosts, 10,000 in memory', {}, 5000)),
  ...(await figures('5,000 hosts, 500 in memory', { hostsInMemory: 500 }, 5000)),
  ...(await figures('50,000 hosts, 10,000 in memory', {}, 50_000)),
]
