import { describe, expect, it } from 'vitest'
import { frontierSuite } from '../../src/conformance/frontier/frontier.js'
import type { Politeness } from '../../src/frontier/contract.js'
import { firstCome } from '../../src/frontier/selection.js'
import { ShardFrontier } from '../../src/frontier/shard.js'
import type { CrawlRequest } from '../../src/types.js'
import { cpuMs } from '../cpu-time.js'
import { WALKS } from '../thorough.js'

const ORDINARY: Politeness = { delayMs: 100, connections: 1, growAt: 1000 }

/** Hosts say their partition themselves: `2-a.example`. */
const partitionOf = (host: string) => Number.parseInt(host, 10) || 0

function shard(politeness: Partial<Politeness> = {}): ShardFrontier {
  return new ShardFrontier({ politeness: { ...ORDINARY, ...politeness }, policy: firstCome, partitionOf })
}

function request(host: string, path: string | number = '', priority = 0): CrawlRequest {
  const url = `https://${host}/${path}`
  return { url, host, depth: 0, priority, attempt: 0, redirects: 0, parent: undefined }
}

const pathsOf = (leases: readonly CrawlRequest[]) =>
  leases.map(({ url }) => url.slice(url.lastIndexOf('/') + 1))

async function move(partitions: readonly number[], from: ShardFrontier, to: ShardFrontier): Promise<void> {
  await from.hold(partitions)
  to.adopt(structuredClone(from.release()))
}

/** Visits until nothing is due. */
function visitAll(frontier: ShardFrontier, now: number): string[] {
  const met: string[] = []
  for (let leases = frontier.lease(1, now); leases.length > 0; leases = frontier.lease(1, now)) {
    met.push(...pathsOf(leases))
    frontier.settle(leases.map((lease) => ({ request: lease, visitedAt: now })))
  }
  return met
}

describe('ShardFrontier', () => {
  frontierSuite({
    ...WALKS,
    it,
    create: (politeness) =>
      new ShardFrontier({ politeness, policy: firstCome, partitionOf: (host) => host.length % 4 }),
  })

  it('lists each page once on which many requests were found', async () => {
    const frontier = shard()
    const found = Array.from({ length: 100 }, (_, i) => ({
      ...request('1-a.example', i),
      parent: `https://1-a.example/${i % 2}`,
    }))
    frontier.add([...found, request('1-a.example', 'seed')])
    await frontier.hold([1])
    const moved = frontier.release()
    expect(moved.parents).toEqual(['https://1-a.example/0', 'https://1-a.example/1'])
    expect(moved.urls).toHaveLength(101)
    const next = shard({ delayMs: 0 })
    next.adopt(moved)
    const [first] = next.lease(1, 0)
    expect(first).toMatchObject({ url: 'https://1-a.example/0', parent: 'https://1-a.example/0' })
  })

  it('keeps the turn of those that were tried before, among themselves too', async () => {
    const [from, to] = [shard({ delayMs: 0 }), shard({ delayMs: 0 })]
    from.add(['x', 'y', 'a'].map((path) => request('1-a.example', path)))
    const [x] = from.lease(1, 0)
    from.settle([{ request: x!, visitedAt: 0, again: { at: 10, attempt: 1 } }])
    const [y] = from.lease(1, 0)
    from.settle([{ request: y!, visitedAt: 0, again: { at: 5, attempt: 1 } }])
    await move([1], from, to)
    to.add([request('1-a.example', 'b')])
    const [a] = to.lease(1, 4)
    to.settle([{ request: a!, visitedAt: 4, again: { at: 4, attempt: 1 } }])
    expect(visitAll(to, 20)).toEqual(['a', 'y', 'x', 'b'])
  })

  it('puts what had arrived before a host behind what comes with it', async () => {
    const [from, to] = [shard({ delayMs: 0 }), shard({ delayMs: 0 })]
    from.add([request('1-a.example', 'old'), request('1-a.example', 'old-high', 1)])
    to.add([request('1-a.example', 'new'), request('1-a.example', 'new-high', 1)])
    await move([1], from, to)
    expect([to.pending, to.hosts]).toEqual([4, 1])
    expect(visitAll(to, 0)).toEqual(['old-high', 'new-high', 'old', 'new'])
    expect([to.pending, to.hosts]).toEqual([0, 0])
  })

  it('joins the clocks of a host that is known on both sides', async () => {
    const [from, to] = [shard({ connections: 2, growAt: 1 }), shard({ connections: 2, growAt: 1 })]
    for (const [i, frontier] of [from, to].entries()) {
      frontier.add(Array.from({ length: 5 }, (_, path) => request('1-a.example', path)))
      const leases = frontier.lease(2, 0)
      frontier.settle(
        leases.map((lease, k) => ({ request: lease, visitedAt: 10 * i + k, hostDelayMs: 200 * (1 + i) })),
      )
    }
    await move([1], from, to)
    expect([to.pending, to.hosts]).toEqual([6, 1])
    expect(to.lease(9, 409)).toHaveLength(0)
    expect([to.lease(9, 410).length, to.lease(9, 411).length]).toEqual([1, 1])
  })

  it('has the longest of the pauses that a host asked for on both sides', async () => {
    const [from, to] = [shard(), shard()]
    for (const [frontier, hostDelayMs] of [
      [from, 300],
      [to, 500],
    ] as const) {
      frontier.add([request('1-a.example', 1), request('1-a.example', 2)])
      frontier.settle([{ request: frontier.lease(1, 0)[0]!, visitedAt: 0, hostDelayMs }])
    }
    await move([1], from, to)
    expect([to.lease(1, 499).length, to.lease(1, 500).length]).toEqual([0, 1])
  })

  it('lets a host take its longer pause back, wherever it went meanwhile', async () => {
    const [from, to] = [shard(), shard()]
    from.add([request('1-a.example', 1)])
    from.settle([{ request: from.lease(1, 0)[0]!, visitedAt: 0, hostDelayMs: 700 }])
    from.lease(1, 1000)
    from.add([request('1-a.example', 2), request('1-a.example', 3)])
    from.settle([{ request: from.lease(1, 1000)[0]!, visitedAt: 1000, hostDelayMs: 0 }])
    await move([1], from, to)
    expect(to.lease(1, 1100)).toHaveLength(1)
  })

  it('tells who was ready since when, so that those who waited longest go first', async () => {
    const [from, to] = [shard(), shard()]
    from.add([request('1-a.example', 1), request('1-a.example', 'old')])
    from.settle([{ request: from.lease(1, 0)[0]!, visitedAt: 0 }])
    to.lease(1, 500)
    to.add([request('2-b.example', 'new')])
    await move([1], from, to)
    expect(pathsOf(to.lease(1, 500))).toEqual(['old'])
  })

  it('ignores a lease that was settled before its partition left', async () => {
    const [from, to] = [shard(), shard()]
    from.add([request('1-a.example', 1)])
    const [lease] = from.lease(1, 0)
    const held = from.hold([1])
    from.settle([{ request: lease!, visitedAt: 0, again: { at: 5, attempt: 1 } }])
    await held
    to.adopt(from.release())
    for (const frontier of [from, to]) frontier.settle([{ request: lease!, visitedAt: 9 }])
    expect([from.pending, from.leased, to.pending, to.leased]).toEqual([0, 0, 1, 0])
  })

  it('gives one batch of partitions after the other', async () => {
    const frontier = shard()
    frontier.add([request('1-a.example', 1), request('2-b.example', 1)])
    const leases = frontier.lease(2, 0)
    const held = frontier.hold([1])
    await expect(frontier.hold([2])).rejects.toMatchObject({
      name: 'KumoError',
      code: 'KUMO_CONTRACT_BROKEN',
    })
    frontier.settle(leases.map((lease) => ({ request: lease, visitedAt: 0 })))
    await held
    frontier.release()
    await frontier.hold([2])
    expect(frontier.release().names).toEqual(['2-b.example'])
  })

  it('tells who waits for partitions that it was closed', async () => {
    const frontier = shard()
    frontier.add([request('1-a.example', 1)])
    frontier.lease(1, 0)
    const held = frontier.hold([1])
    frontier.close()
    await expect(held).rejects.toMatchObject({ name: 'KumoError', code: 'KUMO_STORE_FAILED' })
    frontier.close()
  })

  it('lets hosts of some partitions rest, those that come up later too, and no longer', () => {
    const frontier = shard()
    frontier.rest([1, 2], 1000)
    frontier.add([request('1-a.example', 'a'), request('3-c.example', 'c')])
    expect(pathsOf(frontier.lease(9, 500))).toEqual(['c'])
    frontier.add([request('2-b.example', 'b')])
    expect([frontier.lease(9, 999).length, frontier.nextDue()]).toEqual([0, 1000])
    expect(pathsOf(frontier.lease(9, 1000))).toEqual(['a', 'b'])
    frontier.add([request('3-d.example', 'd'), request('2-e.example', 'e')])
    expect(pathsOf(frontier.lease(9, 2000))).toEqual(['d', 'e'])
  })

  it('moves 100,000 hosts in a moment', async () => {
    const [from, to] = [shard(), shard()]
    const hosts = Array.from({ length: 100_000 }, (_, i) => `${i % 10}-h${i}.example`)
    for (let path = 0; path < 3; path++) from.add(hosts.map((host) => request(host, path)))
    const before = cpuMs()
    await from.hold([1, 3])
    const moved = from.release()
    to.adopt(structuredClone(moved))
    expect(cpuMs() - before).toBeLessThan(10_000)
    expect([from.pending, to.pending, from.hosts, to.hosts]).toEqual([240_000, 60_000, 80_000, 20_000])
    const load = to.load()
    expect(load).toEqual(
      [1, 3].map((partition) => ({ partition, pending: 30_000, hosts: 10_000, longest: 3 })),
    )
  })
})
