import { describe, expect, it } from 'vitest'
import { PendingRequest } from '../../src/frontier/host-queue.js'
import { packHosts, unpackHosts } from '../../src/frontier/moved-hosts.js'
import { firstCome } from '../../src/frontier/selection.js'
import { Workbench } from '../../src/frontier/workbench.js'
import type { CrawlRequest } from '../../src/types.js'

const plain: CrawlRequest = {
  url: 'https://a.example/1',
  host: 'a.example',
  depth: 3,
  priority: -1.5,
  attempt: 2,
  redirects: 1,
  parent: 'https://a.example/',
}
const rare: CrawlRequest = {
  ...plain,
  url: 'https://a.example/2',
  parent: undefined,
  purpose: { kind: 'sitemap', nested: 1, of: 'b.example' },
  via: ['https://b.example/'],
  hint: { lastmod: 1_700_000_000_000.5, changefreq: 'daily' },
}

describe('packHosts', () => {
  const workbench = new Workbench({ delayMs: 0, connections: 3, growAt: 1 }, firstCome)

  it('packs hosts with their clocks and requests, in order', () => {
    const [a, idle] = [workbench.host('a.example'), workbench.host('idle.example')]
    a.queue.push(new PendingRequest(plain, a, 2))
    a.queue.pushLater(new PendingRequest(rare, a, 4), 1234.5)
    a.queue.pushAgain(new PendingRequest({ ...plain, url: 'https://a.example/3' }, a, 5))
    a.resting = [0, 12.25, 700]
    a.notBefore = 500
    a.delayMs = 90
    a.trouble = { incidents: 2, since: 33.5 }
    idle.resting = [800]
    const moved = structuredClone(packHosts([a, idle]))
    expect([a.queue.size, moved.urls.length]).toEqual([0, 3])
    const [first, second, ...more] = [...unpackHosts(moved)]
    expect(first).toEqual({
      name: 'a.example',
      notBefore: 500,
      delayMs: 90,
      trouble: { incidents: 2, since: 33.5 },
      resting: [12.25, 700],
      requests: [
        { request: { ...plain, url: 'https://a.example/3', attempt: 5 }, again: 0 },
        { request: plain, again: undefined },
        { request: { ...rare, attempt: 4 }, again: 1234.5 },
      ],
    })
    const clock = { notBefore: 0, delayMs: 0, trouble: undefined, resting: [800] }
    expect(second).toEqual({ name: 'idle.example', ...clock, requests: [] })
    expect(more).toEqual([])
  })

  it('packs nothing into nothing', () => {
    expect([...unpackHosts(packHosts([]))]).toEqual([])
  })
})
