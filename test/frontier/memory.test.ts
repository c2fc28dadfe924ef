import { describe, expect, it } from 'vitest'
import { frontierSuite } from '../../src/conformance/frontier/frontier.js'
import type { Politeness } from '../../src/frontier/contract.js'
import { memoryFrontier } from '../../src/frontier/memory.js'
import type { CrawlRequest } from '../../src/types.js'
import { WALKS } from '../thorough.js'

const ORDINARY: Politeness = { delayMs: 100, connections: 1, growAt: 1000 }

function request(host: string, path = ''): CrawlRequest {
  const url = `https://${host}/${path}`
  return { url, host, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}

describe('memoryFrontier', () => {
  frontierSuite({ ...WALKS, it, create: (politeness) => memoryFrontier({ politeness }) })

  it('answers without promises', () => {
    const frontier = memoryFrontier({ politeness: ORDINARY })
    expect(frontier.add([request('a.example')])).toBeUndefined()
    const leases = frontier.lease(1, 0) as CrawlRequest[]
    expect(leases).toHaveLength(1)
    expect(frontier.settle([{ request: leases[0]!, visitedAt: 0 }])).toBeUndefined()
    expect(frontier.close()).toBeUndefined()
  })

  it('asks the policy who of the ready goes first', () => {
    const frontier = memoryFrontier({ politeness: ORDINARY, policy: (host) => -host.host.charCodeAt(0) })
    frontier.add(['a.example', 'c.example', 'b.example'].map((host) => request(host)))
    const leases = frontier.lease(10, 0) as CrawlRequest[]
    expect(leases.map(({ host }) => host)).toEqual(['c.example', 'b.example', 'a.example'])
  })

  it('is empty after close, and ignores the leases of before', () => {
    const frontier = memoryFrontier({ politeness: ORDINARY })
    frontier.add([request('a.example', '1'), request('a.example', '2'), request('b.example')])
    const leases = frontier.lease(10, 0) as CrawlRequest[]
    frontier.close()
    frontier.settle(leases.map((lease) => ({ request: lease, visitedAt: 0, again: { at: 0, attempt: 1 } })))
    expect([frontier.pending, frontier.leased, frontier.hosts]).toEqual([0, 0, 0])
    expect([frontier.lease(10, 1e6), frontier.nextDue()]).toEqual([[], Number.POSITIVE_INFINITY])
  })

  it('ignores the leases of another frontier', () => {
    const [mine, other] = [memoryFrontier({ politeness: ORDINARY }), memoryFrontier({ politeness: ORDINARY })]
    mine.add([request('a.example', '1'), request('a.example', '2')])
    other.add([request('a.example', '1')])
    mine.lease(1, 0)
    const [foreign] = other.lease(1, 0) as CrawlRequest[]
    mine.settle([{ request: foreign!, visitedAt: 0 }])
    expect([mine.pending, mine.leased]).toEqual([1, 1])
    other.settle([{ request: foreign!, visitedAt: 0 }])
    expect([other.pending, other.leased]).toEqual([0, 0])
  })
})
