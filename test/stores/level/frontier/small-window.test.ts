/**
 * The frontier with next to no memory: most hosts and most of their requests are on disk only. It answers at once and
 * brings hosts in beside that, so a lease here is asked for until the disk has nothing more to say; then it must have
 * handed out what the model of the contract expects.
 */

import { level } from 'kumo'
import { byHost } from 'kumo/adapters'
import { expect, test } from 'vitest'
import {
  A_DAY_MS,
  GENEROUS,
  HURRIED,
  ORDINARY,
  START,
} from '../../../../src/conformance/frontier/fixtures.js'
import { randomWalk } from '../../../../src/conformance/frontier/walk.js'
import type { Politeness } from '../../../../src/frontier/contract.js'
import { firstCome } from '../../../../src/frontier/selection.js'
import { systemClock } from '../../../../src/time.js'
import { sample } from '../../../thorough.js'
import { folder } from '../folders.js'
import { patient } from '../patient.js'

async function open(path: string, politeness: Politeness, hostsInMemory: number) {
  const partitioner = byHost(8)
  const opened = await level(path, { hostsInMemory, requestsInMemory: 1, commitEvery: 1 }).open({
    politeness,
    policy: firstCome,
    clock: systemClock(),
    partitions: 8,
    partitionOf: (host) => partitioner.partition(host),
  })
  return { opened, frontier: patient(opened) }
}

/**
 * Where more requests allow more connections, a host on disk may be brought in some milliseconds after it became due: so
 * that is walked with all hosts in memory, and their requests mostly on disk.
 */
const WALKS = [ORDINARY, HURRIED, GENEROUS].flatMap((politeness) =>
  (politeness === GENEROUS ? [1000] : [1, 3, 1000]).flatMap((hosts) =>
    sample([11, 12, 13, 14, 15], 1).map((seed) => ({ politeness, hosts, seed })),
  ),
)

test.each(WALKS)(
  'a random walk: $politeness, $hosts hosts in memory, seed $seed',
  async ({ politeness, hosts, seed }) => {
    const { opened, frontier } = await open(await folder(), politeness, hosts)
    await randomWalk({ frontier, politeness, seed, operations: 3000, start: START })
    await opened.close()
  },
)

test('a host whose requests are mostly on disk hands them out in order', async () => {
  const path = await folder()
  const { opened, frontier } = await open(path, HURRIED, 10)
  const count = 5000
  const host = 'one.example'
  const urls = Array.from({ length: count }, (_, i) => `https://${host}/${i}`)
  const request = { host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent: undefined }
  for (let i = 0; i < count; i += 100) {
    await frontier.add(urls.slice(i, i + 100).map((url) => ({ ...request, url })))
  }
  const met: string[] = []
  for (let now = START; met.length < count; now++) {
    const leases = await frontier.lease(10, now)
    met.push(...leases.map(({ url }) => url))
    await frontier.settle(leases.map((lease) => ({ request: lease, visitedAt: now })))
  }
  expect(met).toEqual(urls)
  expect([frontier.pending, frontier.leased, frontier.hosts]).toEqual([0, 0, 0])
  await opened.close()
})

test('of 1,606 requests the six that are due get one connection, however many of the others are in memory', async () => {
  const politeness = { delayMs: 0, connections: 16, growAt: 100 }
  const { opened, frontier } = await open(await folder(), politeness, 10)
  const host = 'one.example'
  const request = { host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent: undefined }
  const nextMonth = START + 30 * A_DAY_MS
  await frontier.add(Array.from({ length: 1600 }, (_, i) => ({ ...request, url: `https://${host}/${i}` })))
  for (let left = 1600; left > 0; ) {
    const leases = await frontier.lease(100, START)
    expect(leases.length).toBeGreaterThan(0)
    left -= leases.length
    const again = { at: nextMonth, attempt: 0, revisit: true }
    await frontier.settle(leases.map((lease) => ({ request: lease, visitedAt: START, again })))
  }
  await frontier.add(Array.from({ length: 6 }, (_, i) => ({ ...request, url: `https://${host}/new/${i}` })))
  const leases = await frontier.lease(100, START + 1)
  expect(leases).toHaveLength(1)
  await frontier.settle(leases.map((lease) => ({ request: lease, visitedAt: START + 1 })))
  expect(await frontier.lease(100, nextMonth)).toHaveLength(16)
  await opened.close()
})
