/** What the compiler knows about a crawl: the data of a page, the events, and what each step returns. */

import {
  any,
  type CrawlEvents,
  Crawler,
  type Extractor,
  type Failure,
  fromModule,
  type Hook,
  not,
  type Page,
  type Redirect,
  type ScopeLike,
  type Skip,
  type Stats,
  type Summary,
} from 'kumo'
import type { Module, ModuleRef, PageDocument, ScopeName } from 'kumo/adapters'
import { csv, jsonl, type PageRecord, sink } from 'kumo/sinks'
import { assertType, describe, expectTypeOf, test } from 'vitest'

const crawler = new Crawler()

describe('page.data', () => {
  test('is an object of which nothing is known at first', () => {
    crawler.on('page', (page) => {
      expectTypeOf(page).toEqualTypeOf<Page<object>>()
      expectTypeOf(page.data).toEqualTypeOf<object>()
      // @ts-expect-error: nobody extracts a heading.
      page.data.heading
    })
  })

  test('has the fields that were given, with what their functions return', () => {
    crawler.extract({ heading: (page) => page.title.length, tags: () => ['a'] }).on('page', ({ data }) => {
      expectTypeOf(data.heading).toEqualTypeOf<number>()
      expectTypeOf(data.tags).toEqualTypeOf<string[]>()
      // @ts-expect-error: a typo.
      data.headin
    })
  })

  test('has what an async field resolves to', () => {
    crawler
      .extract({ price: async () => 12 as const, maybe: async () => undefined as string | undefined })
      .on('page', ({ data }) => {
        expectTypeOf(data.price).toEqualTypeOf<12>()
        expectTypeOf(data.maybe).toEqualTypeOf<string | undefined>()
      })
  })

  test('gives the functions a typed page', () => {
    crawler.extract({ a: (page) => expectTypeOf(page).toEqualTypeOf<Page<object>>() })
  })

  test('has the data of an extractor', () => {
    const prices: Extractor<{ price: number }> = {
      name: 'prices',
      mediaTypes: ['text/html'],
      extract: (page) => ({
        data: { price: page.body.length },
        links: ['/next', { href: '/x', tag: 'a', priority: 2 }],
      }),
    }
    crawler.extract(prices).on('page', ({ data }) => expectTypeOf(data.price).toEqualTypeOf<number>())
  })

  test('has the data of an extractor written in place, also an async one', () => {
    const inPlace = crawler.extract({ name: 'one', extract: (page) => ({ data: { from: page.url } }) })
    inPlace.on('page', ({ data }) => expectTypeOf(data.from).toEqualTypeOf<string>())
    const later = crawler.extract({
      name: 'two',
      extract: async (page: Page) => ({ data: { size: page.wireBytes } }),
    })
    later.on('page', ({ data }) => expectTypeOf(data.size).toEqualTypeOf<number>())
  })

  test('grows with every call, and survives the other steps', async () => {
    const both = crawler
      .extract({ a: () => 1 })
      .extract({ b: async () => 'b' })
      .extract({ name: 'c', extract: () => ({ data: { c: true } }) })
      .delay('1s')
      .depth(2)
      .limit({ pages: 5, time: '1m' })
      .scope('site', /x/, (target) => target.depth < 3)
      .seeds('https://example.com/')
      .on('end', () => {})
    for await (const page of both) {
      expectTypeOf(page.data.a).toEqualTypeOf<number>()
      expectTypeOf(page.data.b).toEqualTypeOf<string>()
      expectTypeOf(page.data.c).toEqualTypeOf<boolean>()
    }
    const hook: Hook<{ a: number; b: string }> = {
      name: 'h',
      page: ({ data }) => void expectTypeOf(data.b).toEqualTypeOf<string>(),
    }
    both.use(hook)
    // @ts-expect-error: the hook wants data that nobody makes.
    crawler.use(hook)
  })

  test('an extractor that only finds links adds nothing', () => {
    crawler.extract({ name: 'links', extract: () => ({ links: ['/a'] }) }).on('page', ({ data }) => {
      // @ts-expect-error: there is no data.
      data.links
    })
  })
})

describe('modules', () => {
  const url = new URL('./mine.js', import.meta.url)

  test('of extractors: their data is what the user says it is', () => {
    crawler
      .extract({ a: () => 1 })
      .extract<{ price: number }>(url)
      .extract<{ tags: string[] }>(fromModule(url, { export: 'tags', with: { most: 5 } }))
      .extract('a-package')
      .on('page', ({ data }) => {
        expectTypeOf(data.a).toEqualTypeOf<number>()
        expectTypeOf(data.price).toEqualTypeOf<number>()
        expectTypeOf(data.tags).toEqualTypeOf<string[]>()
        // @ts-expect-error: nobody said what the package makes.
        data.more
      })
    expectTypeOf(crawler.extract(url)).toEqualTypeOf<Crawler<object>>()
    // @ts-expect-error: data is an object.
    crawler.extract<number>(url)
  })

  test('are a URL or a reference, for hooks and extractors also a name', () => {
    expectTypeOf<Module>().toEqualTypeOf<URL | ModuleRef>()
    expectTypeOf(fromModule('a-package')).toEqualTypeOf<ModuleRef>()
    const ref = fromModule(url)
    expectTypeOf(crawler.use(url).use(ref).use('a-package')).toEqualTypeOf<Crawler<object>>()
    expectTypeOf(
      crawler.scope(url, 'site').include(ref).exclude('/a', url).block(ref),
    ).toEqualTypeOf<Crawler>()
    expectTypeOf(crawler.fetcher(url).store(ref).frontier(url).seenStore(ref)).toEqualTypeOf<Crawler>()
    expectTypeOf(crawler.partitioner(url).dns(ref).proxy(url)).toEqualTypeOf<Crawler>()
    // @ts-expect-error: a name of a package would be taken for a path, so it goes through module().
    crawler.store('a-package')
    // @ts-expect-error: a clock is of this thread.
    crawler.clock(url)
    // @ts-expect-error: another key.
    fromModule(url, { name: 'tags' })
  })

  test('leave functions as they were: typed, and free to speak of the crawler', () => {
    const self = crawler
      .use({ name: 'h', page: ({ url }) => void (url.includes('end') && run.stop()) })
      .proxy((url) => (url.includes('end') ? void run.stop() : undefined))
      .fetcher((request) => {
        expectTypeOf(request.url).toEqualTypeOf<string>()
        run.stop()
        throw new Error()
      })
      .frontier((context) => {
        expectTypeOf(context.partitions).toEqualTypeOf<number>()
        run.pause()
        throw new Error()
      })
    const run = self.start()
    expectTypeOf(self).toEqualTypeOf<Crawler<object>>()
  })
})

describe('events', () => {
  test('have their own arguments', () => {
    crawler
      .on('page', (page) => expectTypeOf(page).toEqualTypeOf<Page<object>>())
      .on('failure', (failure) => expectTypeOf(failure).toEqualTypeOf<Failure>())
      .on('skip', (skip) => expectTypeOf(skip).toEqualTypeOf<Skip>())
      .on('redirect', (redirect) => expectTypeOf(redirect).toEqualTypeOf<Redirect>())
      .on('progress', (stats) => expectTypeOf(stats).toEqualTypeOf<Stats>())
      .on('end', (summary) => expectTypeOf(summary).toEqualTypeOf<Summary>())
  })

  test('are these ten', () => {
    expectTypeOf<keyof CrawlEvents>().toEqualTypeOf<
      | 'page'
      | 'feed'
      | 'failure'
      | 'skip'
      | 'redirect'
      | 'progress'
      | 'feasibility'
      | 'store'
      | 'worker'
      | 'end'
    >()
    // @ts-expect-error: a typo.
    crawler.on('pages', () => {})
  })

  test('listeners may be async, and may return anything', () => {
    crawler.on('page', async () => {}).on('page', () => 5)
  })
})

describe('the builder', () => {
  test('returns crawlers', () => {
    expectTypeOf(crawler).toEqualTypeOf<Crawler<object>>()
    expectTypeOf(
      crawler.seeds('https://example.com/', new URL('https://example.com/'), ['a']),
    ).toEqualTypeOf<Crawler>()
    expectTypeOf(crawler.concurrency(5)).toEqualTypeOf<Crawler>()
    expectTypeOf(crawler.on('end', () => {})).toEqualTypeOf<Crawler>()
  })

  test('run() resolves with a summary', () => {
    expectTypeOf(crawler.run).returns.toEqualTypeOf<Promise<Summary>>()
    expectTypeOf(crawler.run).toBeCallableWith({ signal: AbortSignal.timeout(5) })
    expectTypeOf<Summary['reason']>().toEqualTypeOf<
      'done' | 'already-done' | 'limit' | 'stopped' | 'aborted'
    >()
    expectTypeOf(crawler.start().stats()).toEqualTypeOf<Stats | undefined>()
  })

  test('takes seeds of every kind', () => {
    assertType(crawler.seeds(new Set(['https://example.com/'])))
    assertType(
      crawler.seeds(
        (async function* () {
          yield new URL('https://example.com/')
        })(),
      ),
    )
    // @ts-expect-error: a number is not a seed.
    crawler.seeds(5)
  })

  test('knows durations, scopes and keys', () => {
    crawler.delay(50).delay('5s').delay('1.5m')
    crawler.workers(4).workers('auto', { watchdog: '1m' }).workers(0, { watchdog: false, balance: false })
    // @ts-expect-error: a word that does not exist.
    crawler.workers('all')
    // @ts-expect-error: no unit.
    crawler.delay('5')
    // @ts-expect-error: a unit that does not exist.
    crawler.delay('5 weeks')
    // @ts-expect-error: a key that does not exist.
    crawler.limit({ page: 5 })
    crawler
      .scope(any('host', not('path')))
      .include('site')
      .exclude('/login')
    assertType<ScopeLike>('origin' satisfies ScopeName)
    // @ts-expect-error: at least one rule.
    crawler.scope()
    // @ts-expect-error: a promise is not an answer.
    crawler.scope(async () => true)
    // @ts-expect-error: options are methods.
    new Crawler({ concurrency: 5 })
  })

  test('the DOM of a page is the one that the program is compiled with', () => {
    expectTypeOf<PageDocument>().toEqualTypeOf<Document>()
  })

  test('pages cannot be written to', () => {
    crawler.on('page', (page) => {
      // @ts-expect-error: read only.
      page.url = 'x'
    })
  })
})

describe('sinks', () => {
  test('get the data that extractors produce, and no other', () => {
    const prices = jsonl('pages.jsonl', { record: ({ data }: Page<{ price: number }>) => ({ ...data }) })
    const priced = crawler.extract({ price: () => 3 })
    priced.use(prices)
    priced.use(csv('pages.csv', { columns: { price: ({ data }: Page<{ price: number }>) => data.price } }))
    // @ts-expect-error: nobody extracts a price.
    crawler.use(prices)
  })

  test('write what their record returns', () => {
    sink({ name: 'plain', write: (batch) => void assertType<PageRecord>(batch[0]!.record) })
    sink({
      name: 'own',
      record: ({ url }) => ({ url }),
      write: (batch) => void assertType<{ url: string }>(batch[0]!.record),
    })
    // @ts-expect-error: a rejected item needs a reason.
    sink({ name: 'own', write: () => [{ index: 3 }] })
  })
})
