import { describe, expect, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import { direct, linksTo, site } from './support.js'

const BYTES_PER_SECOND = 750_000
const ASKED = '6Mbps'

/** A start page with links to pages of this size. */
function pagesOf(bytes: number, count: number): Record<string, Route> {
  const paths = Array.from({ length: count }, (_, i) => `/${i}`)
  const body = 'x'.repeat(bytes)
  return Object.fromEntries([['/', linksTo(...paths)], ...paths.map((path) => [path, body])])
}

describe('limit({ bandwidth })', () => {
  test.each([
    ['small pages, which arrive whole', 10_000, 300],
    ['large pages, which arrive in many pieces', 600_000, 2],
  ])('holds for %s', async (_, bytes, count) => {
    const { url } = await site(pagesOf(bytes, count))
    const summary = await direct
      .seeds(url())
      .perHost({ connections: 8, growAt: 1 })
      .limit({ bandwidth: ASKED })
      .run()
    expect(summary).toMatchObject({ pages: count + 1, failed: 0, bandwidth: BYTES_PER_SECOND })
    expect(summary.bytes).toBeGreaterThanOrEqual(bytes * count)
    // The first response, or its first pieces, come at once, and the last bytes need not be waited for.
    const least = (1000 * (summary.bytes - 250_000)) / BYTES_PER_SECOND
    expect(summary.elapsedMs).toBeGreaterThan(least)
    expect(summary.bytesPerSecond).toBeCloseTo((1000 * summary.bytes) / summary.elapsedMs, -3)
  })

  test('ends at once when it is aborted', async () => {
    const { url } = await site(pagesOf(100_000, 100))
    const controller = new AbortController()
    const { reason } = await direct
      .seeds(url())
      .limit({ bandwidth: '80kbps' })
      .on('page', () => controller.abort())
      .run({ signal: controller.signal })
    expect(reason).toBe('aborted')
  })
})
