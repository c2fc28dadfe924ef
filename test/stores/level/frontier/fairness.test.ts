/**
 * Hosts in memory and hosts on disk stand in one line. Driven in told time beside the memory frontier, the store on disk
 * must visit the same URLs in the same order, however few hosts fit into memory.
 */

import { type CrawlRequest, level, memory, type Store } from 'kumo'
import type { Settlement } from 'kumo/adapters'
import { describe, expect, it, test } from 'vitest'
import { fairnessCases } from '../../../../src/conformance/frontier/fairness.js'
import { START } from '../../../../src/conformance/frontier/fixtures.js'
import type { Frontier, Politeness } from '../../../../src/frontier/contract.js'
import { memoryFrontier } from '../../../../src/frontier/memory.js'
import { crawl, direct, linksTo, site } from '../../../crawler/support.js'
import { isThorough } from '../../../thorough.js'
import { folder } from '../folders.js'
import { patient } from '../patient.js'
import { openStore } from '../support.js'

/** Told time from one lease to the next, and of a whole drive. */
const STEP_MS = 100
const TOLD_MS = 60_000

interface Drive {
  readonly hosts: number
  readonly hostsInMemory: number
  readonly atOnce: number
  readonly delayMs: number
  readonly toldMs?: number
  /** What the n-th of all visits leads to. */
  readonly end?: (lease: CrawlRequest, now: number, n: number) => Partial<Settlement>
}

const politenessOf = (delayMs: number): Politeness => ({ delayMs, connections: 1, growAt: 100 })

function page(host: string, path: string | number): CrawlRequest {
  const url = `https://${host}/${path}`
  return { url, host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}

const hostOf = (i: number) => `host${i}.example`

const toItself: NonNullable<Drive['end']> = ({ host }, _, n) => ({ found: [page(host, n)] })

/** The URLs in the order in which they were handed out. */
async function visited(frontier: Frontier, drive: Drive): Promise<string[]> {
  const { hosts, atOnce, toldMs = TOLD_MS, end = toItself } = drive
  await frontier.lease(0, START)
  const seeds = Array.from({ length: hosts }, (_, i) => page(hostOf(i), ''))
  for (let i = 0; i < hosts; i += 1000) await frontier.add(seeds.slice(i, i + 1000))
  const met: string[] = []
  for (let now = START; now < START + toldMs; now += STEP_MS) {
    const leases = await frontier.lease(atOnce, now)
    const settlements = leases.map((request) => ({
      request,
      visitedAt: now,
      ...end(request, now, met.push(request.url)),
    }))
    await frontier.settle(settlements)
  }
  return met
}

async function besideMemory(drive: Drive): Promise<string[]> {
  const politeness = politenessOf(drive.delayMs)
  const { hostsInMemory } = drive
  const opened = await openStore(await folder(), { hostsInMemory }, { politeness })
  const met = await visited(patient(opened), drive)
  const expected = await visited(memoryFrontier({ politeness }), drive)
  const differs = met.findIndex((url, i) => url !== expected[i])
  expect({ differs, visits: met.length }).toEqual({ differs: -1, visits: expected.length })
  await opened.close()
  return met
}

function perHost(urls: readonly string[]): Map<string, number> {
  const visits = new Map<string, number>()
  for (const url of urls) visits.set(new URL(url).host, (visits.get(new URL(url).host) ?? 0) + 1)
  return visits
}

const DRIVES: readonly Drive[] = [
  { hosts: 5000, hostsInMemory: 500, atOnce: 50, delayMs: 1000, toldMs: isThorough ? TOLD_MS : 20_000 },
  // The window as it is by default.
  ...(isThorough ? [{ hosts: 15_000, hostsInMemory: 10_000, atOnce: 75, delayMs: 1000 }] : []),
  // Few do not fit.
  { hosts: 600, hostsInMemory: 500, atOnce: 70, delayMs: 100 },
  { hosts: 600, hostsInMemory: 500, atOnce: 7, delayMs: 0 },
  // More are leased at once than fit.
  { hosts: 300, hostsInMemory: 20, atOnce: 50, delayMs: 100, toldMs: 20_000 },
  { hosts: 300, hostsInMemory: 1, atOnce: 3, delayMs: 0, toldMs: 30_000 },
]

test.each(DRIVES)(
  '$hosts hosts, $hostsInMemory in memory, $atOnce visits at once, pause $delayMs ms',
  async (drive) => {
    const visits = [...perHost(await besideMemory(drive)).values()]
    expect(visits).toHaveLength(drive.hosts)
    expect(Math.max(...visits) / Math.min(...visits)).toBeLessThanOrEqual(1.5)
  },
  120_000,
)

test('known pages that are visited again', async () => {
  const end: Drive['end'] = (_, now) => ({ again: { at: now + 5000, attempt: 0, revisit: true } })
  const visits = perHost(
    await besideMemory({ hosts: 1000, hostsInMemory: 100, atOnce: 25, delayMs: 100, end }),
  )
  expect([...new Set(visits.values())].length).toBeLessThanOrEqual(2)
  expect(visits.size).toBe(1000)
})

test('links to each other, to new hosts and to nowhere', async () => {
  const hosts = 1000
  const end: Drive['end'] = (_, __, n) => ({
    found: Array.from({ length: n % 3 }, (_, k) => page(hostOf((n * 7919 + k * 104_729) % (hosts + n)), n)),
  })
  await besideMemory({ hosts, hostsInMemory: 100, atOnce: 30, delayMs: 500, toldMs: 30_000, end })
})

test('a crawl that is interrupted again and again gets to everybody', async () => {
  const path = await folder()
  const [hosts, atOnce, lives] = [400, 20, 40]
  const met: string[] = []
  for (let life = 0; life < lives; life++) {
    const opened = await openStore(path, { hostsInMemory: 50 }, { politeness: politenessOf(0) })
    const frontier = patient(opened)
    // What is on disk has the system's time, so this is told it too: a little later in each life.
    const now = Date.now() + 10 * life
    if (life === 0) {
      await frontier.lease(0, now)
      await frontier.add(Array.from({ length: hosts }, (_, i) => page(hostOf(i), '')))
    }
    const leases = await frontier.lease(atOnce, now)
    for (const { url } of leases) met.push(url)
    await frontier.settle(
      leases.map((request) => ({ request, visitedAt: now, found: [page(request.host, `later/${life}`)] })),
    )
    await opened.close()
  }
  expect([...new Set(perHost(met).values())]).toEqual([(lives * atOnce) / hosts])
})

describe('as the suite has it', () => {
  fairnessCases((name, politeness, run) => {
    it(name, async () => {
      const opened = await openStore(await folder(), { hostsInMemory: 20 }, { politeness })
      await run(patient(opened))
      await opened.close()
    })
  })
})

test('a limited crawl visits what it would visit with the memory store', async () => {
  const { url } = await site({
    '/': linksTo('/a', '/b', '/c'),
    '/a': linksTo('/d'),
    '/b': 'b',
    '/c': 'c',
    '/d': 'd',
  })
  const seeds = Array.from({ length: 100 }, (_, i) => url('/', `127.0.9.${i}`))
  const choose = (store: Store) =>
    crawl(direct.seeds(seeds).concurrency(1).store(store).limit({ pages: 150 }))
  const hostsInMemory = 10
  const [kept, held] = [await choose(level(await folder(), { hostsInMemory })), await choose(memory())]
  const order = held.pages.map((page) => page.url)
  // A slow disk may bring a host in late; then those that are in memory go first.
  const places = kept.pages.map((page, i) => Math.abs(order.indexOf(page.url) - i))
  const isElsewhere = kept.pages.map((page) => !order.includes(page.url))
  expect(isElsewhere.filter(Boolean).length).toBeLessThanOrEqual(hostsInMemory)
  expect(Math.max(...places.filter((_, i) => !isElsewhere[i]))).toBeLessThanOrEqual(hostsInMemory)
})
