/** What was given up is tried again as it was asked for. */

import type { CrawlRequest } from 'kumo'
import { expect, test } from 'vitest'
import { FailedUrls } from '../../../src/engine/admission/failed-urls.js'
import { memoryState } from '../../../src/stores/memory-state.js'
import { requestFor } from '../../fetch/support.js'

test('a GET and a POST of one URL are kept apart, with what their program asked for', async () => {
  const failed = new FailedUrls(memoryState())
  const get = requestFor('https://a.example/form')
  const requests: CrawlRequest[] = [
    get,
    { ...get, priority: 5, extras: { method: 'POST', body: 'q=1', label: 'search', data: '{"a":1}' } },
    { ...get, extras: { method: 'POST', body: 'q=2' } },
  ]
  for (const request of requests) failed.put({ ...request, attempt: 3 }, 'timeout', 1)
  const queued: CrawlRequest[] = []
  const uncounted: string[] = []
  const sink = {
    isMine: () => true,
    add: (more: readonly CrawlRequest[]) => void queued.push(...more),
    uncount: (_: string, host: string) => void uncounted.push(host),
  }
  await failed.retry(2, sink)
  expect(queued).toEqual(expect.arrayContaining(requests))
  expect([queued.length, uncounted]).toEqual([3, ['a.example', 'a.example', 'a.example']])
  await failed.retry(2, sink)
  expect(queued, 'each is queued once').toHaveLength(3)
})
