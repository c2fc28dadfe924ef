import { compareFeed, type Feed, type FeedMemory, recoverFeed } from 'kumo/feeds'
import { describe, expect, it } from 'vitest'
import { articles, feedOf, HOUR, START, told } from './feeds.js'

const url = 'https://example.com/feed'
const known = compareFeed(undefined, feedOf(articles(1, 5)), START + 6 * HOUR).memory

/** Reads pages until there is nothing more to read; returns their URLs. */
function readAll(pages: Record<string, Feed>, memory: FeedMemory | undefined, maxPages?: number) {
  const read: [Feed, ...Feed[]] = [pages[url]!]
  const asked: string[] = []
  let recovered = recoverFeed(memory, read, { url, maxPages })
  while (recovered.next !== undefined) {
    asked.push(recovered.next)
    read.push(pages[recovered.next] ?? feedOf([]))
    recovered = recoverFeed(memory, read, { url, maxPages })
  }
  return { asked, recovered }
}

describe('recovery', () => {
  it('reads older pages until an entry is known', () => {
    const pages = {
      [url]: feedOf(articles(16, 20), { next: `${url}?page=2` }),
      [`${url}?page=2`]: feedOf(articles(11, 15), { next: `${url}?page=3` }),
      [`${url}?page=3`]: feedOf(articles(5, 10), { next: `${url}?page=4` }),
    }
    const { asked, recovered } = readAll(pages, known)
    expect(asked).toEqual([`${url}?page=2`, `${url}?page=3`])
    expect(recovered).toMatchObject({ window: 5, overlaps: true })
    const { feed, window } = recovered
    const difference = compareFeed(known, feed, START + 20 * HOUR, { window })
    expect(told(difference).new).toEqual(Array.from({ length: 15 }, (_, k) => String(k + 6)))
    expect(difference).toMatchObject({ recovered: 10, window: 5, loss: { possible: false, estimate: 0 } })
    // What was on older pages is no part of the window: it does not scroll off.
    const after = compareFeed(difference.memory, feedOf(articles(16, 20)), START + 21 * HOUR)
    expect(after).toMatchObject({ new: [], missing: [], scrolledOff: 0, loss: { overlap: 5 } })
  })

  it('reads nothing if nothing is missing, or nothing is known', () => {
    const page = feedOf(articles(5, 9), { next: `${url}?page=2` })
    expect(recoverFeed(known, [page], { url })).toMatchObject({ next: undefined, overlaps: true })
    expect(recoverFeed(undefined, [page], { url })).toMatchObject({ next: undefined, overlaps: false })
  })

  it('ends after so many pages, with a page that was read, and with an empty one', () => {
    const pages: Record<string, Feed> = {}
    for (let n = 1; n < 30; n++) {
      const at = n === 1 ? url : `${url}?page=${n}`
      pages[at] = feedOf(articles(1000 - 5 * n, 1004 - 5 * n), { next: `${url}?page=${n + 1}` })
    }
    expect(readAll(pages, known).asked).toHaveLength(9)
    expect(readAll(pages, known, 3).asked).toHaveLength(2)
    expect(readAll(pages, known, 3).recovered.overlaps).toBe(false)
    expect(readAll({ [url]: feedOf(articles(16, 20), { next: url }) }, known).asked).toEqual([])
    const loop = {
      [url]: feedOf(articles(16, 20), { next: `${url}?a` }),
      [`${url}?a`]: feedOf(articles(16, 20), { next: `${url}?a` }),
    }
    expect(readAll(loop, known).asked).toEqual([`${url}?a`])
  })

  it('prefers archives, and stays on the host', () => {
    const archived = feedOf(articles(16, 20), {
      next: `${url}?2`,
      prevArchive: 'https://example.com/2024-04',
    })
    expect(recoverFeed(known, [archived], { url }).next).toBe('https://example.com/2024-04')
    const elsewhere = feedOf(articles(16, 20), { next: 'https://other.example/feed?page=2' })
    expect(recoverFeed(known, [elsewhere], { url }).next).toBeUndefined()
  })

  it('knows the pages of WordPress', () => {
    const wordpress = { ...feedOf(articles(16, 20)), generator: 'https://wordpress.org/?v=6.5' }
    const pages = { [url]: wordpress, [`${url}?paged=2`]: { ...wordpress, entries: articles(9, 15) } }
    expect(readAll(pages, known).asked).toEqual([`${url}?paged=2`, `${url}?paged=3`])
    expect(recoverFeed(known, [feedOf(articles(16, 20))], { url }).next).toBeUndefined()
  })
})
