/** What a shard tells of its load: what is due now, and what the schedule will ask for. */

import { expect, test } from 'vitest'
import { AdmissionsInProgress } from '../../src/engine/admission/in-progress.js'
import { PartitionMoves } from '../../src/engine/partition-moves.js'
import type { EngineParts } from '../../src/engine/parts.js'
import { Tally } from '../../src/engine/stats/tally.js'
import { HostQuota } from '../../src/engine/visit/host-quota.js'
import { firstCome } from '../../src/frontier/selection.js'
import { refreshOptions } from '../../src/options/check-refresh.js'
import { loadsOf, plannedMove } from '../../src/partition/balance.js'
import { RefreshSchedule } from '../../src/refresh/refresh-schedule.js'
import { memoryShard } from '../../src/stores/memory-shard.js'
import type { CrawlRequest } from '../../src/types.js'
import { ManualClock } from './manual-clock.js'

const DAY_MS = 86_400_000
const RULES = { visitCycleMs: 100, pagesPerSecond: 100 }
const SERVERS = 16
const PAGES = 100

/** Hosts say their partition themselves: `2-a.example`. */
const partitionOf = (host: string) => Number.parseInt(host, 10) || 0

function page(host: string, path: number): CrawlRequest {
  const url = `https://${host}/${path}`
  return { url, host, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}

/** A shard whose known pages were all seen now and are visited again after `everyMs`. */
async function shardWith(everyMs: number) {
  const clock = new ManualClock()
  const politeness = { delayMs: 0, connections: 1, growAt: 100 }
  const context = { politeness, policy: firstCome, clock, partitions: SERVERS, partitionOf }
  const partitions = Array.from({ length: SERVERS }, (_, i) => i)
  const { frontier, handover } = memoryShard(context, {
    index: 0,
    partitions,
    replaces: false,
    shared: undefined,
  })
  const schedule = new RefreshSchedule(refreshOptions({}).refresh, { sockets: 10, minIntervalMs: 0 })
  const now = clock.now()
  for (const partition of partitions) {
    const host = `${partition}-a.example`
    schedule.restore(host, { pages: PAGES, load: PAGES / everyMs, download: 50 })
    await frontier.add(Array.from({ length: PAGES }, (_, i) => page(host, i)))
  }
  for (let left = SERVERS * PAGES; left > 0; ) {
    const leases = await frontier.lease(left, now)
    expect(leases.length).toBeGreaterThan(0)
    left -= leases.length
    const again = { at: now + everyMs, attempt: 0, revisit: true }
    await frontier.settle(leases.map((request) => ({ request, visitedAt: now, again })))
  }
  const parts = {
    handover,
    robots: {},
    refresh: { schedule },
    clock,
    partitioner: { partitions: SERVERS, partition: partitionOf },
  }
  const none = new HostQuota(Number.POSITIVE_INFINITY)
  const tally = new Tally()
  const inProgress = new AdmissionsInProgress()
  return {
    frontier,
    tally,
    moving: new PartitionMoves(
      parts as unknown as EngineParts,
      { host: none, site: none },
      inProgress,
      tally,
    ),
  }
}

test('1,600 pages that are not due for a month are next to no work, and work comes to them', async () => {
  const { moving } = await shardWith(30 * DAY_MS)
  const load = moving.load()!
  expect(loadsOf([load], RULES)[0]).toBeLessThan(0.001)
  const busy = Array.from({ length: 16 }, (_, i) => ({ partition: i, pending: 50, hosts: 1, longest: 50 }))
  expect(plannedMove([load, busy], RULES)).toMatchObject({ from: 1, to: 0 })
})

test('pages that are visited often are the work of their visits, due or not', async () => {
  const { moving } = await shardWith(20_000)
  // 1,600 visits in 20 seconds, of which the next ten count.
  expect(loadsOf([moving.load()!], RULES)[0]).toBeCloseTo(8, 6)
})

test('what is due counts beside that, and partitions that have left do not', async () => {
  const { frontier, moving } = await shardWith(30 * DAY_MS)
  await frontier.add(Array.from({ length: 7 }, (_, i) => page('3-new.example', i)))
  const due = () => moving.load()!.filter(({ pending }) => pending > 0)
  expect(due()).toMatchObject([{ partition: 3, pending: 7, hosts: 1, longest: 7 }])
  expect(moving.load()).toHaveLength(SERVERS)
  await moving.release([3, 4], () => {})
  expect(due()).toEqual([])
  expect(moving.load()).toHaveLength(SERVERS - 2)
})

test('a host that moves counts as visited once, and the gap between its visits is known on both sides', async () => {
  const from = await shardWith(30 * DAY_MS)
  const to = await shardWith(30 * DAY_MS)
  await to.moving.release([3], () => {})
  from.tally.visitStarts('3-a.example', 1000)
  from.tally.visitEnds('3-a.example', 1100)
  from.tally.visitStarts('4-a.example', 1000)
  await to.moving.adopt(await from.moving.release([3], () => {}))
  to.tally.visitStarts('3-a.example', 1350)
  expect([from.tally.hostsVisited, to.tally.hostsVisited, to.tally.shortestGapMs]).toEqual([2, 0, 250])
})
