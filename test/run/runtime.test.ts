/** Where a crawl would hang it is refused; `npm run test:nodes` sees the same on the real runtimes. */

import { Crawler, KumoError } from 'kumo'
import { afterEach, expect, test, vi } from 'vitest'
import { stubFetcher } from '../crawler/support.js'

const crawler = new Crawler().seeds('http://example.com/').robots(false).fetcher(stubFetcher())

function pretend(versions: Record<string, string>): void {
  vi.stubGlobal(
    'process',
    Object.create(process, { versions: { value: { ...process.versions, ...versions } } }),
  )
}

afterEach(() => vi.unstubAllGlobals())

const REFUSED = { code: 'KUMO_UNSUPPORTED_RUNTIME', message: expect.stringContaining('Node.js 20.18.1') }

test('Bun', async () => {
  pretend({ bun: '1.2.3' })
  const refusal = crawler.run()
  await expect(refusal).rejects.toBeInstanceOf(KumoError)
  await expect(refusal).rejects.toMatchObject(REFUSED)
  await expect(crawler[Symbol.asyncIterator]().next()).rejects.toMatchObject(REFUSED)
})

test('Deno, with workers only', async () => {
  pretend({ deno: '2.0.0' })
  await expect(new Crawler().seeds('http://example.com/').workers(2).run()).rejects.toMatchObject(REFUSED)
  await expect(crawler.run()).resolves.toMatchObject({ reason: 'done', pages: 1 })
})
