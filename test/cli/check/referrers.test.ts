import { expect, test } from 'vitest'
import { Referrers } from '../../../src/cli/check/referrers.js'

const url = (i: number) => `https://example.com/${i}`

test('finds every page with a link, also after links were forgotten', () => {
  const referrers = new Referrers()
  const PAGES = 20_000
  for (let i = 0; i < PAGES; i++) {
    // Each page links to the next ones, to one that stays broken, and to those in the navigation.
    referrers.add(url(i), [
      url(i + 1),
      url(i + 2),
      ...(i % 1000 === 0 ? ['https://example.com/broken'] : []),
      url(0),
    ])
    referrers.settle(url(i))
  }
  const found = referrers.of(['https://example.com/broken', 'https://example.com/unknown', url(PAGES + 1)])
  expect([...found]).toEqual([
    ['https://example.com/broken', Array.from({ length: 20 }, (_, i) => url(i * 1000))],
    ['https://example.com/unknown', []],
    [url(PAGES + 1), [url(PAGES - 1)]],
  ])
  // Links to URLs that work are not kept: 60,000 links would take 720 kB.
  expect(referrers.linkBytes).toBeLessThan(100_000)
})
