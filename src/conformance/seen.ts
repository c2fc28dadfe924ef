/** Proves a `SeenStore`. */

import assert from 'node:assert/strict'
import type { SeenStore } from '../seen/contract.js'
import { casesOf, type SuiteOptions } from './suite.js'

/** Options of the seen-set's suite. `create` returns an empty store each time. */
export interface SeenStoreSuiteOptions extends SuiteOptions<SeenStore> {
  /**
   * How many URLs the largest case adds. The default is enough to reveal collisions of a 32-bit hash (about ten are
   * expected), so use fewer only if adding is slow.
   */
  urls?: number
}

/** With this many URLs, about ten pairs share a 32-bit hash; with a 64-bit hash, one pair in 400 million runs. */
const ENOUGH_TO_COLLIDE = 300_000

/** URLs that a careless key, hash or comparison mistakes for one another. */
const EASILY_CONFUSED = [
  'https://example.com/',
  'https://example.com',
  'http://example.com/',
  'https://example.com//',
  'https://example.com/?',
  'https://example.com/a',
  'https://example.com/A',
  'https://example.com/a/',
  'https://example.com/%61',
  'https://example.com/?a=1&b=2',
  'https://example.com/?b=2&a=1',
  'https://example.com:8080/',
  'https://www.example.com/',
  'https://example.com/ ',
  'https://example.com/\n',
  'https://example.com/\0',
  'https://example.com/\0\0',
  'https://example.com/é',
  'https://example.com/e\u0301',
  'https://example.com/蜘蛛',
  'https://example.com/🕷',
  '0',
  '1',
  '-1',
  'true',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'length',
]

/**
 * Registers the cases that every seen-set must pass.
 *
 * @example
 * import { it } from 'node:test'
 * import { seenStoreSuite } from 'kumo/conformance'
 *
 * seenStoreSuite({ it, create: () => new MySeenStore() })
 */
export function seenStoreSuite(options: SeenStoreSuiteOptions): void {
  const check = casesOf(options, (store) => store.close())
  const many = options.urls ?? ENOUGH_TO_COLLIDE

  check('an empty store knows no URL', async (store) => {
    assert.equal(store.size, 0)
    assert.deepEqual(await store.addAll([]), [])
    assert.equal(store.size, 0)
  })

  check('a URL is new once', async (store) => {
    assert.deepEqual(await store.addAll(['https://example.com/']), [true])
    assert.deepEqual(await store.addAll(['https://example.com/']), [false])
    assert.deepEqual(await store.addAll(['https://example.com/']), [false])
    assert.equal(store.size, 1)
  })

  check('results are in the order of the URLs', async (store) => {
    await store.addAll(['https://b.example/', 'https://d.example/'])
    const mixed = ['a', 'b', 'c', 'd', 'e'].map((name) => `https://${name}.example/`)
    assert.deepEqual(await store.addAll(mixed), [true, false, true, false, true])
    assert.equal(store.size, 5)
  })

  check('of equal URLs in one call, only the first is new', async (store) => {
    const [a, b] = ['https://example.com/a', 'https://example.com/b']
    assert.deepEqual(await store.addAll([a, b, a, a, b]), [true, true, false, false, false])
    assert.equal(store.size, 2)
  })

  check('similar URLs are different URLs', async (store) => {
    for (const url of EASILY_CONFUSED) {
      assert.deepEqual(
        await store.addAll([url]),
        [true],
        `${JSON.stringify(url)} was mistaken for another URL`,
      )
    }
    assert.equal(store.size, EASILY_CONFUSED.length)
    assert.deepEqual(
      await store.addAll(EASILY_CONFUSED),
      EASILY_CONFUSED.map(() => false),
    )
  })

  check('long URLs that differ in one character are different URLs', async (store) => {
    const plain = `https://example.com/${'x'.repeat(8000)}`
    const urls = [plain, `${plain}x`]
    for (const at of [20, 100, 255, 1023, 4095, 8019])
      urls.push(`${plain.slice(0, at)}y${plain.slice(at + 1)}`)
    assert.deepEqual(
      await store.addAll(urls),
      urls.map(() => true),
    )
    assert.equal(store.size, urls.length)
  })

  check('exactly one of several overlapping calls sees a URL as new', async (store) => {
    const urls = Array.from({ length: 200 }, (_, i) => `https://example.com/${i}`)
    const reversed = urls.toReversed()
    const calls = [urls, reversed, urls, reversed].map(async (batch) => {
      const fresh = await store.addAll(batch)
      return new Set(batch.filter((_, i) => fresh[i]))
    })
    const news = await Promise.all(calls)
    for (const url of urls) {
      const times = news.filter((fresh) => fresh.has(url)).length
      assert.equal(times, 1, `${url} was new to ${times} of ${news.length} overlapping calls`)
    }
    assert.equal(store.size, urls.length)
  })

  check('a result does not change later', async (store) => {
    const first = await store.addAll(['https://example.com/1', 'https://example.com/2'])
    await store.addAll(['https://example.com/1', 'https://example.com/2'])
    assert.deepEqual(first, [true, true])
  })

  check('the array of URLs is not changed', async (store) => {
    const urls = ['https://example.com/b', 'https://example.com/a', 'https://example.com/b']
    await store.addAll(Object.freeze([...urls]))
    const copy = [...urls]
    await store.addAll(copy)
    assert.deepEqual(copy, urls)
  })

  check('many similar URLs are kept apart', async (store) => {
    const batch = 5000
    for (let from = 0; from < many; from += batch) {
      const urls = regularUrls(from, Math.min(from + batch, many))
      const fresh = await store.addAll(urls)
      assert.equal(fresh.length, urls.length)
      const mistaken = fresh.indexOf(false)
      assert.equal(mistaken, -1, `${urls[mistaken]} is new, but was mistaken for another URL`)
    }
    assert.equal(store.size, many)
    for (let from = 0; from < many; from += batch * 7) {
      const urls = regularUrls(from, Math.min(from + batch, many))
      const forgotten = (await store.addAll(urls)).indexOf(true)
      assert.equal(forgotten, -1, `${urls[forgotten]} was added, but is new again`)
    }
    assert.equal(store.size, many)
  })

  check('closing twice is allowed', async (store) => {
    await store.addAll(['https://example.com/'])
    await store.close()
    await store.close()
  })
}

function regularUrls(from: number, until: number): string[] {
  const urls: string[] = []
  for (let i = from; i < until; i++) {
    urls.push(
      i % 2 ? `https://example.com/item/${i}` : `https://h${i % 100}.example.com/2024/${i}/index.html`,
    )
  }
  return urls
}
