/** Refreshing visits a page as it was asked for, and a QUERY or PROPFIND is another page than the GET of its URL. */

import { Crawler, type CrawlRequest, memory, type Store } from 'kumo'
import type { OpenStore } from 'kumo/adapters'
import { virtualClock } from 'kumo/sim'
import { expect, test } from 'vitest'
import { memoryState } from '../../../src/stores/memory-state.js'
import type { RequestExtras } from '../../../src/types.js'
import { requestFor } from '../../fetch/support.js'

const HEADERS = {
  get: (name: string) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [],
}
const URL = 'https://a.example/form'

/** A store that has another request for the seed's URL, and notes what is handed out. */
function withRequest(extras: RequestExtras, leased: CrawlRequest[], names: Set<string>): Store {
  return {
    name: 'with another request',
    async open(context): Promise<OpenStore> {
      const opened = await memory().open(context)
      const { frontier } = opened
      const state = memoryState()
      await frontier.add([{ ...requestFor(URL), priority: 3, extras }])
      return {
        ...opened,
        state,
        frontier: {
          add: (requests) => frontier.add(requests),
          async lease(max, now) {
            const leases = await frontier.lease(max, now)
            leased.push(...leases)
            return leases
          },
          settle: (settlements) => frontier.settle(settlements),
          nextDue: () => frontier.nextDue(),
          get pending() {
            return frontier.pending
          },
          get leased() {
            return frontier.leased
          },
          get hosts() {
            return frontier.hosts
          },
          close: () => frontier.close(),
        },
        async close() {
          for await (const [name] of state.space('pages').entries()) names.add(name)
          await opened.close()
        },
      }
    },
  }
}

test.each([
  ['in rounds', 'QUERY', { rounds: 2 }],
  ['in rounds', 'PROPFIND', { rounds: 2 }],
  ['all the time', 'QUERY', { min: '1h', first: '1h', max: '1h', until: '90m' }],
  ['all the time', 'PROPFIND', { min: '1h', first: '1h', max: '1h', until: '90m' }],
] as const)('%s, %s', async (_, method, refresh) => {
  const extras = { method, body: 'q=1', label: 'search', data: '{"a":1}' }
  const clock = virtualClock()
  const leased: CrawlRequest[] = []
  const names = new Set<string>()
  const crawler = new Crawler()
    .seeds(URL)
    .clock(clock)
    .robots(false)
    .store(withRequest(extras, leased, names))
    .refresh(refresh)
    .fetcher(() => {
      const body = Buffer.from('x')
      return { ok: true, status: 200, headers: HEADERS, body, wireBytes: 1, skippedBody: false }
    })
  await clock.run(crawler.run())
  const kinds = leased.map((each) => ({
    url: each.url,
    extras: each.extras,
    priority: each.priority,
    revisit: each.revisit,
  }))
  const queried = { url: URL, extras, priority: 3 }
  const got = { url: URL, extras: undefined, priority: 0 }
  for (const page of [queried, got]) {
    expect(kinds).toContainEqual({ ...page, revisit: undefined })
    expect(kinds).toContainEqual({ ...page, revisit: true })
  }
  expect(names.size).toBe(2)
  expect(names).toContain(URL)
})
