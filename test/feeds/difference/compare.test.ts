/** What is new, changed and gone, for feeds that behave and for feeds that do not. */

import { compareFeed, type Feed, parseFeed } from 'kumo/feeds'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/time.js'
import { article, articles, entry, feedOf, HOUR, polls, START, told } from './feeds.js'

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, k) => String(from + k))

describe('a feed that behaves', () => {
  it('has every entry new at the first poll, oldest first', () => {
    const [first] = polls(articles(1, 5))
    expect(told(first!)).toEqual({ new: numbers(1, 5), changed: [], missing: 0 })
    expect(first).toMatchObject({
      first: true,
      window: 5,
      oldestAt: START + HOUR,
      newestAt: START + 5 * HOUR,
    })
    expect(first!.loss).toMatchObject({ basis: 'unknown', possible: false, estimate: 0 })
  })

  it('has only the new ones new after that', () => {
    const [, second, third] = polls(articles(1, 5), articles(3, 7), articles(3, 7))
    expect(told(second!)).toEqual({ new: ['6', '7'], changed: [], missing: 0 })
    expect(second).toMatchObject({
      scrolledOff: 2,
      unchanged: 3,
      loss: { basis: 'overlap', overlap: 3, estimate: 0 },
    })
    expect(told(third!)).toEqual({ new: [], changed: [], missing: 0 })
  })

  it('reports an edited text under the same key', () => {
    const edited = (n: number) => (n === 3 ? { content: '<p>Text 3, corrected</p>' } : {})
    const [first, second] = polls(articles(1, 5), articles(1, 5, edited))
    expect(told(second!)).toEqual({ new: [], changed: ['3'], missing: 0 })
    expect(second!.changed[0]!.key).toBe(first!.new[2]!.key)
  })

  it('takes other markup around the same text for the same', () => {
    const [, second] = polls(
      articles(1, 5),
      articles(1, 5, (n) => ({
        content: `<div><img src="https://ads.example/?t=${n}77"><p>Text ${n}</p></div>`,
      })),
    )
    expect(told(second!).changed).toEqual([])
  })

  it('tells an entry that was removed from those that scrolled off', () => {
    const without = articles(3, 7).filter(({ url }) => url !== 'https://example.com/5')
    const [first, second] = polls(articles(1, 6), without)
    expect(second).toMatchObject({ scrolledOff: 2, missing: [{ key: first!.new[4]!.key }] })
  })

  it('is in order of publication if it lists the oldest first, and some dates are missing', () => {
    const rising = articles(1, 6, (n) => (n === 4 ? { published: undefined } : {})).reverse()
    expect(told(polls(rising)[0]!).new).toEqual(numbers(1, 6))
  })

  it('does not repeat an entry that comes back', () => {
    const [, , third] = polls(articles(1, 5), articles(3, 7), articles(1, 5))
    expect(told(third!).new).toEqual([])
  })

  it('keeps its window when it is empty for once', () => {
    const [, empty, third] = polls(articles(1, 5), [], articles(3, 7))
    expect(told(empty!)).toEqual({ new: [], changed: [], missing: 0 })
    expect(told(third!).new).toEqual(['6', '7'])
    expect(third!.loss.overlap).toBe(3)
  })

  it('has nothing missing in a delta, and everything in a complete feed', () => {
    const { memory } = compareFeed(undefined, feedOf(articles(1, 5)), START)
    const delta = compareFeed(memory, feedOf(articles(6, 7)), START + HOUR, { delta: true })
    expect(told(delta)).toEqual({ new: ['6', '7'], changed: [], missing: 0 })
    expect(delta.loss.basis).toBe('unknown')
    expect(told(compareFeed(delta.memory, feedOf(articles(3, 7)), START + 2 * HOUR)).new).toEqual([])
    const complete = compareFeed(memory, feedOf(articles(4, 5), { complete: true }), START + HOUR)
    expect(complete).toMatchObject({ scrolledOff: 0, loss: { basis: 'unknown' } })
    expect(complete.missing).toHaveLength(3)
  })
})

describe('identity', () => {
  it('of entries with one id for all is their link', () => {
    const one = { id: 'same' }
    const [first, second, third] = polls(
      articles(1, 5, () => one),
      articles(2, 6, () => one),
      articles(7, 7, () => one),
    )
    expect(told(first!).new).toEqual(numbers(1, 5))
    expect(told(second!)).toEqual({ new: ['6'], changed: [], missing: 0 })
    expect(told(third!).new).toEqual(['7'])
  })

  it('of entries whose ids and links are all the same is their title and date', () => {
    const same = { id: 'same', url: 'https://example.com/' }
    const [first, second] = polls(
      articles(1, 5, () => same),
      articles(2, 7, () => same),
    )
    expect(told(first!).new).toEqual(numbers(1, 5))
    expect(told(second!)).toEqual({ new: ['6', '7'], changed: [], missing: 0 })
  })

  it('survives a server that writes other ids with each request', () => {
    let request = 0
    const ids = () => ({ id: `urn:${++request}` })
    const window = (to: number) => articles(to - 4, to, ids)
    const all = polls(window(5), window(5), window(6), window(6), window(8))
    expect(all.map((each) => told(each).new)).toEqual([numbers(1, 5), [], ['6'], [], ['7', '8']])
    expect(all.flatMap((each) => told(each).changed)).toEqual([])
    expect(all.every(({ loss }) => loss.estimate === 0)).toBe(true)
  })

  it('survives a server that writes a fresh token into ids and links', () => {
    let request = 0
    const tokens = (n: number) => ({
      id: undefined,
      url: `https://example.com/${n}?token=${++request}`,
    })
    const window = (to: number) => articles(to - 4, to, tokens)
    const all = polls(window(5), window(5), window(7))
    expect(all.map((each) => told(each).new)).toEqual([numbers(1, 5), [], ['6', '7']])
  })

  it('survives such a server without dates', () => {
    let request = 0
    const tokens = (n: number) => ({
      published: undefined,
      id: `${++request}`,
      url: `https://example.com/${n}?token=${request}`,
    })
    const all = polls(articles(1, 6, tokens), articles(1, 6, tokens))
    expect(all.map((each) => told(each).new)).toEqual([numbers(1, 6), []])
  })

  it('takes another id at the same link for the same article if the titles are similar', () => {
    const corrected = (n: number) =>
      n === 5 ? { id: 'other', title: 'Article number 5 on the subject of tea', content: 'more' } : {}
    const [, second] = polls(articles(1, 5), articles(1, 5, corrected))
    expect(told(second!)).toEqual({ new: [], changed: ['5'], missing: 0 })
    const replaced = (n: number) =>
      n === 5 ? { id: 'other', title: '99 balloons over the harbour yesterday evening' } : {}
    const [, third] = polls(articles(1, 5), articles(1, 5, replaced))
    expect(told(third!).new).toEqual(['99'])
  })

  it('survives a move from http to https', () => {
    const old = (n: number) => ({ id: undefined, url: `http://example.com/${n}` })
    const [, second] = polls(
      articles(1, 5, old),
      articles(2, 6, (n) => ({ id: undefined, url: `https://example.com/${n}` })),
    )
    expect(told(second!).new).toEqual(['6'])
  })

  it('does not take articles with the same title for one', () => {
    const [, second] = polls(
      articles(1, 3, () => ({ title: 'Open thread 1' })),
      articles(2, 4, () => ({ title: 'Open thread 1' })),
    )
    expect(second!.new.map(({ url }) => url)).toEqual(['https://example.com/4'])
  })

  it('leaves out entries with nothing in them, and repetitions', () => {
    const [first] = polls([entry({}), article(1), article(1), entry({}), article(2)])
    expect(told(first!).new).toEqual(['1', '2'])
    expect(first!.window).toBe(2)
  })

  it('reports texts that change with every request twice, and then only new titles', () => {
    const noisy = (poll: number) => articles(1, 5, (n) => ({ content: `Text ${n}, read ${poll} times` }))
    const titled = articles(1, 5, (n) => ({
      content: 'anything',
      ...(n === 2 ? { title: 'Article number 2 about maps' } : {}),
    }))
    const all = polls(noisy(1), noisy(2), noisy(3), noisy(4), titled)
    expect(all.map(({ changed }) => changed.length)).toEqual([0, 5, 0, 0, 1])
  })
})

describe('the memory', () => {
  it('takes 36 bytes an entry and 48 more', () => {
    const [first] = polls(articles(1, 100))
    expect(first!.memory).toHaveLength(48 + 100 * 36)
  })

  it('is bounded', () => {
    let memory: Uint8Array | undefined
    for (let to = 10; to < 500; to += 10) {
      memory = compareFeed(memory, feedOf(articles(to - 9, to)), START + to * HOUR).memory
    }
    expect(memory!.length).toBe(48 + 100 * 36)
    const many = Array.from({ length: 100_001 }, (_, k) => entry({ id: `${k}`, title: `t${k}` }))
    const { memory: large } = compareFeed(undefined, feedOf(many), START)
    expect(large.length).toBe(48 + 100_000 * 36)
    expect(compareFeed(large, feedOf(many.slice(0, 50)), START + HOUR).new).toEqual([])
  })

  it('that cannot be read makes a first poll', () => {
    const { memory } = compareFeed(undefined, feedOf(articles(1, 5)), START)
    const random = seededRandom(5)
    for (let trial = 0; trial < 300; trial++) {
      const broken = memory.slice(0, Math.floor(random.next() * memory.length))
      for (let k = 0; k < 5 && broken.length > 0; k++) {
        broken[Math.floor(random.next() * broken.length)] = Math.floor(random.next() * 256)
      }
      const { first, new: fresh } = compareFeed(broken, feedOf(articles(1, 5)), START)
      if (first) expect(fresh).toHaveLength(5)
    }
    expect(compareFeed(Uint8Array.of(9, ...memory.slice(1)), feedOf(articles(1, 2)), START).first).toBe(true)
  })

  it('is the same for the same arguments, and not changed', () => {
    const { memory } = compareFeed(undefined, feedOf(articles(1, 5)), START)
    const copy = memory.slice()
    const [once, twice] = [1, 2].map(() => compareFeed(memory, feedOf(articles(3, 8)), START + HOUR))
    expect(once).toEqual(twice)
    expect(memory).toEqual(copy)
  })
})

describe('order', () => {
  it('of entries without dates is the reverse of the feed', () => {
    expect(told(polls(articles(1, 5, () => ({ published: undefined })))[0]!).new).toEqual(numbers(1, 5))
  })

  it('delivers every article of a shuffled feed once', () => {
    const random = seededRandom(11)
    const seen = new Map<string, number>()
    let memory: Uint8Array | undefined
    for (let to = 20; to <= 120; to += 5) {
      const window = articles(to - 19, to).sort(() => random.next() - 0.5)
      const difference = compareFeed(memory, feedOf(window), START + to * HOUR)
      memory = difference.memory
      for (const { url } of difference.new) seen.set(url!, (seen.get(url!) ?? 0) + 1)
      expect(difference.loss.estimate).toBe(0)
    }
    expect(seen.size).toBe(120)
    expect([...seen.values()].every((times) => times === 1)).toBe(true)
  })
})

describe('what is no feed', () => {
  it('is not compared: a page instead of a feed would mean that all entries are gone', () => {
    const page = parseFeed('<html><body>Sign in') as unknown as Feed
    expect(() => compareFeed(undefined, page, START)).toThrow(
      expect.objectContaining({ code: 'KUMO_INVALID_OPTION', message: expect.stringContaining("'none'") }),
    )
    expect(() => compareFeed(undefined, feedOf([]), Number.NaN)).toThrow(/compareFeed\.now/)
  })
})
