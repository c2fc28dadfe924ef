/** The store on a real server passes the suites of every store, and of every durable one. */

import { durableStoreSuite, storeSuite } from 'kumo/conformance'
import { redis } from 'kumo/redis'
import { describe, it } from 'vitest'
import { WALKS } from '../../thorough.js'
import { whyNoRedis } from './server.js'
import { copyCrawl, newCrawl, useServer } from './support.js'

describe.skipIf(whyNoRedis())(`redis()${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  describe('as a store', () => {
    // A walk of the suite keeps the event loop busy for longer than a lease of usual length.
    const create = () => redis(server.url, { crawl: newCrawl(), ttl: '10m' })
    storeSuite({ ...WALKS, it, create, durable: true })
  })

  describe('as a durable store', () => {
    durableStoreSuite({
      it,
      rounds: 5,
      create() {
        let crawl = newCrawl()
        return {
          store: redis(server.url, { crawl }),
          async crash() {
            const left = newCrawl()
            await copyCrawl(server.redis, crawl, left)
            crawl = left
            return redis(server.url, { crawl })
          },
        }
      },
    })
  })
})
