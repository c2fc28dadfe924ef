/** What the cases of the exchange's suite send, and how they receive it. */

import type { Exchange } from '../../exchange/contract.js'
import type { CrawlRequest } from '../../types.js'
import { eventually, pause } from '../suite.js'

/** Long enough for a delivery that must not happen to happen, in ms. */
export const GRACE_MS = 50

/** Collects everything that arrives, by shard. */
export function collect(mesh: readonly Exchange[]): CrawlRequest[][] {
  return mesh.map((exchange) => {
    const arrived: CrawlRequest[] = []
    exchange.receive((requests) => {
      for (const request of requests) arrived.push(request)
    })
    return arrived
  })
}

/** Waits until a shard has received this many requests, and a moment longer in case more arrive than were sent. */
export async function arrivals(
  arrived: readonly CrawlRequest[],
  count: number,
  patienceMs: number,
): Promise<void> {
  await eventually(`${count} requests arrive`, () => arrived.length >= count, patienceMs)
  await pause(GRACE_MS)
}

export function numbered(name: string, count: number): CrawlRequest[] {
  return Array.from({ length: count }, (_, i) => ({
    url: `https://example.com/${name}/${i}`,
    host: 'example.com',
    depth: 1,
    priority: 0,
    attempt: 0,
    redirects: 0,
    parent: undefined,
  }))
}

export function urlsOf(requests: readonly CrawlRequest[]): string[] {
  return requests.map(({ url }) => url)
}
