/** Known pages and new ones in one frontier: who goes first, and in what shares. */

import { describe, expect, it } from 'vitest'
import type { Politeness, SelectionPolicy } from '../../src/frontier/contract.js'
import { memoryFrontier } from '../../src/frontier/memory.js'
import type { CrawlRequest } from '../../src/types.js'

const START = 1_000_000
const POLITENESS: Politeness = { delayMs: 0, connections: 1, growAt: 100 }

const request = (host: string, path: string, revisit?: boolean): CrawlRequest => ({
  url: `https://${host}/${path}`,
  host,
  depth: 0,
  priority: 0,
  attempt: 0,
  redirects: 0,
  parent: undefined,
  ...(revisit && { revisit }),
})

/** So many hosts with a known page each, and so many with a new one; all may be visited now. */
function crowd(known: number, fresh: number, politeness: Partial<Politeness> = {}, policy?: SelectionPolicy) {
  const frontier = memoryFrontier({ politeness: { ...POLITENESS, ...politeness }, ...(policy && { policy }) })
  const hosts = (count: number, name: string) =>
    Array.from({ length: count }, (_, i) => `${name}-${i}.example`)
  frontier.add(hosts(fresh, 'new').map((host) => request(host, 'page')))
  frontier.add(hosts(known, 'known').map((host) => request(host, 'page', true)))
  return frontier
}

const knownAmong = (leases: readonly CrawlRequest[]) =>
  leases.filter(({ revisit }) => revisit === true).length

describe('known pages', () => {
  it('go first, if nothing is said about shares', () => {
    const frontier = crowd(10, 10)
    expect(knownAmong(frontier.lease(10, START) as CrawlRequest[])).toBe(10)
    expect(knownAmong(frontier.lease(10, START) as CrawlRequest[])).toBe(0)
  })

  it.each([0.1, 0.5, 0.8])('take their share (%d) while both wait', (revisitShare) => {
    const frontier = crowd(100, 100, { revisitShare })
    const leases = frontier.lease(50, START) as CrawlRequest[]
    expect(leases).toHaveLength(50)
    expect(Math.abs(knownAmong(leases) - 50 * revisitShare)).toBeLessThanOrEqual(1)
  })

  it('take all while nothing else waits, and leave all to the others when nothing of theirs is due', () => {
    expect(knownAmong(crowd(20, 0, { revisitShare: 0.1 }).lease(20, START) as CrawlRequest[])).toBe(20)
    expect(crowd(0, 20, { revisitShare: 0.9 }).lease(20, START)).toHaveLength(20)
  })

  it('stand in the order of the policy, which is told what a host would hand out', () => {
    const asked: boolean[] = []
    const policy: SelectionPolicy = ({ host, readyAt, revisits }) => {
      asked.push(revisits)
      return revisits ? -Number(/\d+/.exec(host)![0]) : readyAt
    }
    const frontier = crowd(3, 3, {}, policy)
    const names = (frontier.lease(6, START) as CrawlRequest[]).map(({ host }) => host.replace('.example', ''))
    expect(names).toEqual(['known-2', 'known-1', 'known-0', 'new-0', 'new-1', 'new-2'])
    expect(asked.filter(Boolean)).toHaveLength(3)
  })

  it('are told from new ones on a host that has both, once their time has come', () => {
    const told: boolean[] = []
    const frontier = memoryFrontier({
      politeness: { ...POLITENESS, delayMs: 100 },
      policy: ({ readyAt, revisits }) => {
        told.push(revisits)
        return readyAt
      },
    })
    frontier.add([request('a.example', 'old'), request('a.example', 'new')])
    const [old] = frontier.lease(1, START) as CrawlRequest[]
    frontier.settle([
      { request: old!, visitedAt: START, again: { at: START + 50, attempt: 0, revisit: true } },
    ])
    expect((frontier.lease(1, START + 100) as CrawlRequest[])[0]).toMatchObject({
      url: 'https://a.example/old',
      revisit: true,
    })
    expect(told.at(-1)).toBe(true)
  })
})
