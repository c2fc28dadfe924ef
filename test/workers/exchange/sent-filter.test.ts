import { describe, expect, it } from 'vitest'
import { SentFilter } from '../../../src/workers/exchange/sent-filter.js'

const URLS = Array.from({ length: 1000 }, (_, i) => `https://example.com/${i}`)

describe('what was sent lately', () => {
  it('is known from the first time on, for each shard', () => {
    const filter = new SentFilter(3)
    for (const shard of [0, 1, 2]) {
      expect(URLS.filter((url) => filter.hasSent(shard, url))).toEqual([])
    }
    const known = [0, 1, 2].map((shard) => URLS.filter((url) => filter.hasSent(shard, url)).length)
    // Two URLs of one place push each other out; with so few there are hardly any.
    for (const count of known) expect(count).toBeGreaterThan(900)
  })

  it('is forgotten when a shard has a successor, for that shard alone', () => {
    const filter = new SentFilter(2)
    for (const shard of [0, 1]) for (const url of URLS) filter.hasSent(shard, url)
    filter.forget(1)
    expect(URLS.filter((url) => filter.hasSent(1, url))).toEqual([])
    expect(URLS.filter((url) => filter.hasSent(0, url)).length).toBeGreaterThan(900)
  })

  it('never takes one URL for another', () => {
    const filter = new SentFilter(2)
    for (let i = 0; i < 300_000; i++) {
      if (filter.hasSent(i % 2, `https://example.com/page/${i}`)) throw new Error(`${i} was not sent before`)
    }
  })
})
