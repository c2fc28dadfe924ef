/** What the cases of the exchange's suite send and how they listen. */

import type { Exchange } from '../../exchange/contract.js'
import type { CrawlRequest } from '../../types.js'

/** Long enough for a delivery that must not happen to happen, in ms. */
export const GRACE_MS = 50

/** Takes in everything; what arrived is listed for each shard. */
export function listen(mesh: readonly Exchange[]): CrawlRequest[][] {
  return mesh.map((exchange) => {
    const arrived: CrawlRequest[] = []
    exchange.receive((requests) => {
      for (const request of requests) arrived.push(request)
    })
    return arrived
  })
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
