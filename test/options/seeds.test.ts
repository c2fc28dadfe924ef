/** Seeds are checked as early as possible, and sources are read as late as possible. */

import { Crawler, KumoError, type SeedInput } from 'kumo'
import { describe, expect, test } from 'vitest'
import type { Seed } from '../../src/engine/parts.js'
import { checkSeeds, readSeeds } from '../../src/options/seeds.js'

async function batches(...inputs: SeedInput[]): Promise<(readonly Seed[])[]> {
  const read: (readonly Seed[])[] = []
  for await (const batch of readSeeds(inputs)) read.push(batch)
  return read
}

const ALLOWED = 'absolute http(s) URLs such as https://example.com/'

describe('a typo throws at its line', () => {
  test.each<[string, unknown[], string]>([
    ['nothing', [], 'at least one URL'],
    ['an empty list', [[]], 'at least one URL'],
    ['an empty text', [''], "seeds: got '';"],
    ['no scheme', ['example.com'], "seeds: got 'example.com';"],
    ['a path', ['/docs'], "seeds: got '/docs';"],
    ['another scheme', ['ftp://example.com/'], "seeds: got 'ftp://example.com/';"],
    ['a mail address', ['mailto:me@example.com'], "seeds: got 'mailto:me@example.com';"],
    ['a file', [new URL('file:///etc/hosts')], "seeds: got 'file:///etc/hosts';"],
    ['a broken host', ['http://[::1'], "seeds: got 'http://[::1';"],
    ['a scheme alone', ['http://'], "seeds: got 'http://';"],
    ['undefined', [undefined], 'seeds: got undefined;'],
    ['null', [null], 'seeds: got null;'],
    ['a number', [42], 'seeds: got 42;'],
    ['a generator function that was not called', [function* () {}], 'seeds: got a function;'],
    ['a request without a URL', [{ label: 'list' }], 'seeds.url: got undefined;'],
    [
      'one bad seed among good ones',
      ['https://example.com/', ['https://example.com/a', 'b']],
      "seeds: got 'b';",
    ],
    ['a list in a list', [[['https://example.com/']]], 'got ["https://example.com/"];'],
    ['a very long one', [`x${'y'.repeat(5000)}`], '…'],
  ])('%s', (_, inputs, part) => {
    const make = () => new Crawler().seeds(...(inputs as SeedInput[]))
    expect(make).toThrow(KumoError)
    expect(make).toThrow(part)
    if (part.startsWith('seeds: got')) expect(make).toThrow(ALLOWED)
    try {
      make()
    } catch (error) {
      expect(error).toMatchObject({ code: 'KUMO_INVALID_OPTION' })
      expect((error as Error).message.length).toBeLessThan(250)
    }
  })

  test('sources are not read until the crawl runs', () => {
    let read = false
    const source = {
      *[Symbol.iterator]() {
        read = true
        yield 'nonsense'
      },
    }
    expect(checkSeeds([source])[0] === source).toBe(true)
    expect(read).toBe(false)
  })
})

describe('reading', () => {
  test('canonical spelling, in order', async () => {
    const read = await batches(' HTTPS://Example.com:443/a/../b#c ', new URL('http://example.com'), [
      'https://example.com/%7e',
    ])
    expect(read.flat()).toMatchObject([
      { url: 'https://example.com/b' },
      { url: 'http://example.com/' },
      { url: 'https://example.com/~' },
    ])
  })

  test('an invalid seed is passed on with a message', async () => {
    expect((await batches(new Set(['x', 'http://a.example/']))).flat()).toMatchObject([
      { invalid: "'x'", message: "not an absolute http(s) URL: 'x'" },
      { url: 'http://a.example/' },
    ])
  })

  test.each([
    [0, []],
    [1, [1]],
    [1000, [1000]],
    [2500, [1000, 1000, 500]],
  ])('a source of %i comes in batches of %j', async (count, sizes) => {
    const source = new Set(Array.from({ length: count }, (_, i) => `http://h${i}.example/`))
    expect((await batches(source)).map((batch) => batch.length)).toEqual(sizes)
  })

  test('a slow source is not held back until a batch is full', async () => {
    async function* source() {
      yield 'http://a.example/'
      await new Promise(() => {})
    }
    const reading = readSeeds([source()])
    expect((await reading.next()).value).toMatchObject([{ url: 'http://a.example/' }])
  })

  test('a source is read no further than requested', async () => {
    let produced = 0
    function* source() {
      for (;;) yield `http://h${produced++}.example/`
    }
    const reading = readSeeds([source()])
    await reading.next()
    expect(produced).toBe(1000)
    await reading.return(undefined)
    expect(produced).toBe(1000)
  })
})

describe('an async source', () => {
  const at = (n: number) => `https://example.com/${n}`
  const urlsOf = (batch: readonly Seed[]) => batch.map((seed) => ('url' in seed ? seed.url : seed.invalid))

  test('what it yields at once is one batch', async () => {
    async function* quick() {
      for (let n = 0; n < 2500; n++) yield at(n)
    }
    const read = await batches(quick())
    expect(read.map((batch) => batch.length)).toEqual([1000, 1000, 500])
    expect(read.flatMap(urlsOf)).toEqual(Array.from({ length: 2500 }, (_, n) => at(n)))
  })

  test('a slow one delays none of its seeds', async () => {
    let go = () => {}
    async function* slow() {
      yield at(1)
      yield at(2)
      await new Promise<void>((resolve) => {
        go = resolve
      })
      yield at(3)
    }
    const reading = readSeeds([slow()])
    expect(urlsOf((await reading.next()).value!)).toEqual([at(1), at(2)])
    const last = reading.next()
    go()
    expect(urlsOf((await last).value!)).toEqual([at(3)])
    expect(await reading.next()).toMatchObject({ done: true })
  })

  test('one that throws has yielded what came before', async () => {
    async function* broken() {
      yield at(1)
      throw new Error('no more lines')
    }
    const reading = readSeeds([broken()])
    expect(urlsOf((await reading.next()).value!)).toEqual([at(1)])
    await expect(reading.next()).rejects.toThrow('no more lines')
  })

  test('one that is left is closed, and not waited for if it is stuck', async () => {
    let closed = 0
    const source = (next: () => Promise<IteratorResult<string>>) => ({
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          closed++
          return { done: true as const, value: undefined }
        },
      }),
    })
    let asked = 0
    const stuck = source(() =>
      asked++ === 0 ? Promise.resolve({ done: false, value: at(1) }) : new Promise(() => {}),
    )
    for (const each of [stuck, source(async () => ({ done: false, value: at(2) }))]) {
      const reading = readSeeds([each])
      await reading.next()
      await reading.return(undefined)
    }
    expect(closed).toBe(2)
  })
})
