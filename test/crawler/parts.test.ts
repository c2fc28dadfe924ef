/** Parts of the user's own are really the ones that are used, and are closed at the end. */

import { type CrawlRequest, memory, type Store } from 'kumo'
import { byHost, type FetchContext, fingerprintTable, memoryFrontier, type StoreContext } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { LoopTime } from '../loop-time.js'
import {
  crawl,
  direct,
  hastyClock,
  htmlOutcome,
  linkedPages,
  linksTo,
  pathsOf,
  quick,
  site,
} from './support.js'

describe('custom parts', () => {
  test('fetch: a function, with the request and what may be asked of the context', async () => {
    const asked: [CrawlRequest, FetchContext][] = []
    const { pages } = await crawl(
      quick.seeds('http://site.example/').fetcher((request, context) => {
        asked.push([request, context])
        return request.url.endsWith('/robots.txt') ? htmlOutcome('', 404) : htmlOutcome(linksTo('/next'))
      }),
    )
    expect(pathsOf(pages)).toEqual(['/', '/next'])
    expect(asked.map(([{ url }]) => url)).toEqual([
      'http://site.example/robots.txt',
      'http://site.example/',
      'http://site.example/next',
    ])
    const [request, context] = asked[2]!
    expect(request).toMatchObject({
      host: 'site.example',
      depth: 1,
      attempt: 0,
      parent: 'http://site.example/',
    })
    expect([context.wants('text/html'), context.wants('image/png'), context.aborted]).toEqual([
      true,
      false,
      false,
    ])
    expect(asked[0]![1].wants('image/png')).toBe(true)
  })

  test('fetch: an object, closed at the end', async () => {
    let closed = 0
    class Mine {
      answer = htmlOutcome('x')
      fetch() {
        return Promise.resolve(this.answer)
      }
      close() {
        closed++
      }
    }
    expect(await direct.fetcher(new Mine()).seeds('http://a.example/').run()).toMatchObject({ pages: 1 })
    expect(closed).toBe(1)
  })

  test('seen: what it says is known is not fetched', async () => {
    const { url } = await site(linkedPages(6))
    const table = fingerprintTable()
    await table.addAll([url('/3'), url('/4')])
    const { pages, summary } = await crawl(direct.seeds(url()).seenStore(table))
    expect(pathsOf(pages)).toEqual(['/', '/1', '/2', '/5'])
    expect(summary.known).toBe(6)
  })

  test('frontier: its own rules of politeness hold', async () => {
    const { url } = await site(linkedPages(5))
    const frontier = memoryFrontier({ politeness: { delayMs: 60, connections: 1, growAt: 100 } })
    const summary = await direct.seeds(url()).frontier(frontier).run()
    expect(summary).toMatchObject({ pages: 5 })
    expect(summary.shortestGapMs).toBeGreaterThanOrEqual(60)
  })

  test('frontier: a function is told what the crawl knows, and makes one for every run', async () => {
    const { url } = await site(linkedPages(3))
    const contexts: StoreContext[] = []
    const crawler = direct
      .delay('7ms')
      .perHost({ connections: 2 })
      .partitioner(byHost(16))
      .seeds(url())
      .frontier(async (context) => {
        contexts.push(context)
        return memoryFrontier(context)
      })
    expect(await crawler.run()).toMatchObject({ pages: 3 })
    expect(await crawler.run()).toMatchObject({ pages: 3 })
    expect(contexts).toHaveLength(2)
    expect(contexts[0]).toMatchObject({
      politeness: { delayMs: 7, connections: 2, growAt: 100 },
      partitions: 16,
    })
  })

  test('partition: is asked for every host', async () => {
    const hosts = new Set<string>()
    const own = byHost(4)
    await direct
      .scope('all')
      .seeds('http://a.example/')
      .fetcher(({ url }) =>
        htmlOutcome(url.includes('a.example') ? linksTo('http://b.example/', 'http://c.example:81/') : ''),
      )
      .partitioner({
        partitions: 4,
        partition(host) {
          hosts.add(host)
          return own.partition(host)
        },
      })
      .run()
    expect([...hosts].sort()).toEqual(['a.example', 'b.example', 'c.example:81'])
  })

  test('store: is opened for each run and closed after it', async () => {
    const { url } = await site(linkedPages(4))
    const story: string[] = []
    const store: Store = {
      name: 'mine',
      async open(context) {
        story.push('open')
        const sound = await memory().open(context)
        return {
          frontier: sound.frontier,
          seen: {
            ...sound.seen,
            size: 0,
            addAll(urls) {
              story.push('add')
              return sound.seen.addAll(urls)
            },
            close: () => {},
          },
          close: () => void story.push('close'),
        }
      },
    }
    const crawler = direct.seeds(url()).store(store)
    expect(await crawler.run()).toMatchObject({ pages: 4 })
    expect([story[0], story.includes('add'), story.at(-1)]).toEqual(['open', true, 'close'])
    expect(await crawler.run()).toMatchObject({ pages: 4 })
    expect(story.filter((word) => word === 'open' || word === 'close')).toEqual([
      'open',
      'close',
      'open',
      'close',
    ])
  })

  test('clock: ten times as fast makes a pause a tenth as long', async () => {
    const { url } = await site(linkedPages(5))
    const time = new LoopTime()
    const summary = await direct.delay('1s').seeds(url()).clock(hastyClock(10)).run()
    expect(summary).toMatchObject({ pages: 5, threadBusy: undefined })
    expect(summary.elapsedMs).toBeGreaterThanOrEqual(4000)
    expect(summary.shortestGapMs).toBeGreaterThanOrEqual(1000)
    expect(time.stop()).toBeLessThan(3900)
  })

  test('random: scatters retries', async () => {
    let draws = 0
    const random = { next: () => ++draws / 100 }
    await direct
      .seeds('http://a.example/')
      .fetcher(() => ({ ok: false, code: 'timeout', message: 'late' }))
      .retries({ times: 1, backoff: '1ms' })
      .random(random)
      .run()
    expect(draws).toBeGreaterThan(0)
  })
})
