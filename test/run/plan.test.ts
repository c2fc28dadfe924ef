/** What a plan builds where the user chose nothing, and what it makes of the user's choices. */

import { EventEmitter } from 'eventemitter3'
import { Crawler } from 'kumo'
import { expect, test } from 'vitest'
import { AbortGrace } from '../../src/engine/abort-grace.js'
import type { CrawlOptions } from '../../src/options/options.js'
import { plan } from '../../src/run/plan.js'
import { systemClock } from '../../src/time.js'
import { stubFetcher } from '../crawler/support.js'

const crawler = new Crawler().seeds('http://example.com/').fetcher(stubFetcher())

async function partsOf(crawler: unknown) {
  const { parts } = await plan((crawler as { options: CrawlOptions }).options, {
    events: new EventEmitter(),
    reader: undefined,
  })
  return { parts, close: () => parts.close(new AbortGrace(systemClock())) }
}

test.each([
  ['by default', crawler, []],
  ['with wellKnown', crawler.sitemaps({ wellKnown: true }), ['/sitemap.xml']],
])('%s robots rules can move to another shard', async (_, crawler, sitemaps) => {
  const { parts, close } = await partsOf(crawler)
  const origin = 'http://example.com'
  const answer = {
    ok: true,
    status: 200,
    headers: new Map(),
    body: Buffer.from('User-agent: *\nDisallow: /private'),
    wireBytes: 0,
    skippedBody: false,
  } as const
  parts.robots.learn(origin, `${origin}/robots.txt`, answer, 0)
  expect(parts.robots.takeSitemaps(origin)).toEqual(sitemaps)
  expect([...parts.robots.records!()].map(({ origin }) => origin)).toEqual([origin])
  await close()
})
