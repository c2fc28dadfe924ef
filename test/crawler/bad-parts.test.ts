/**
 * Parts of the user's own that break. A fetcher's trouble is a page's failure; a store's trouble ends the crawl,
 * with an error that names it and with everything closed.
 */

import type { Crawler, Fetcher, Frontier, KumoError, SeenStore } from 'kumo'
import { fingerprintTable, memoryFrontier, type Outcome } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import {
  crawl,
  direct,
  htmlOutcome,
  linksTo,
  pathsOf,
  rejectionOf,
  site,
  sleep,
  watchRejections,
} from './support.js'

const GOOD = 'http://good.example/'
const BAD = 'http://bad.example/'
const never = () => new Promise<never>(() => {})

describe('a fetcher', () => {
  const misbehaves: [string, () => unknown, string, RegExp][] = [
    [
      'throws',
      () => {
        throw new Error('no browser')
      },
      'fetcher-failed',
      /no browser/,
    ],
    ['rejects', () => Promise.reject(new Error('no browser')), 'fetcher-failed', /no browser/],
    ['never returns', never, 'timeout', /200 ms/],
    ['returns nothing', () => undefined, 'fetcher-failed', /outcome/],
    ['returns a promise of nothing', async () => undefined, 'fetcher-failed', /outcome/],
    ['returns a fetch() Response', async () => new Response('x'), 'fetcher-failed', /outcome/],
    ['returns a failure without a code', () => ({ ok: false }), 'fetcher-failed', /outcome/],
  ]
  test.each(misbehaves)('that %s fails that page alone', async (_, act, code, message) => {
    const rejections = watchRejections()
    const fetcher = ({ url }: { url: string }) => (url === BAD ? (act() as Outcome) : htmlOutcome('end'))
    const { pages, failures, summary } = await crawl(
      direct.fetcher(fetcher).timeout(200).retries(0).seeds(BAD, GOOD),
    )
    expect(pages.map(({ url }) => url)).toEqual([GOOD])
    expect(failures).toMatchObject([{ url: BAD, code, final: true }])
    expect(failures[0]!.message).toMatch(message)
    expect(summary.reason).toBe('done')
    expect(await rejections()).toEqual([])
  })

  test('that throws when it is aborted has not failed: the URL stays pending', async () => {
    const controller = new AbortController()
    const asked: AbortSignal[] = []
    const fetcher: Fetcher = {
      fetch: (_, { signal }) =>
        new Promise((_, reject) => {
          asked.push(signal)
          signal.addEventListener('abort', () => reject(new DOMException('stop', 'AbortError')))
          setTimeout(() => controller.abort(), 20)
        }),
    }
    const summary = await direct.fetcher(fetcher).seeds(GOOD).run({ signal: controller.signal })
    expect(summary).toMatchObject({ reason: 'aborted', failed: 0, pending: 1 })
    expect(asked[0]!.aborted).toBe(true)
  })

  test('that ignores the abort is left behind', async () => {
    const summary = await direct
      .fetcher(never)
      .seeds(GOOD)
      .run({ signal: AbortSignal.timeout(50) })
    expect(summary).toMatchObject({ reason: 'aborted', inFlight: 1 })
  })

  test('that fails to close: run() rejects and says so', async () => {
    const fetcher: Fetcher = {
      fetch: () => htmlOutcome('end'),
      close: () => Promise.reject(new Error('still open')),
    }
    const error = await rejectionOf(direct.fetcher(fetcher).seeds(GOOD).run())
    expect(error).toMatchObject({ code: 'KUMO_CLOSE_FAILED' })
    expect((error as Error).message).toBe('the fetcher could not be closed: still open')
  })
})

const disk = new Error('disk full')
function fails(): never {
  throw disk
}

/** A seen-set that works, but for some of its methods. */
function seenWith(broken: Partial<SeenStore>): SeenStore {
  const table = fingerprintTable()
  return { addAll: (urls) => table.addAll(urls), size: 0, close: () => table.close(), ...broken }
}

/** A frontier that works, but for some of its methods. */
function frontierWith(broken: (sound: Frontier) => Partial<Frontier>): Frontier {
  const sound = memoryFrontier({ politeness: { delayMs: 0, connections: 1, growAt: 100 } })
  const frontier: Frontier = {
    add: (requests) => sound.add(requests),
    lease: (max, now) => sound.lease(max, now),
    settle: (settlements) => sound.settle(settlements),
    nextDue: () => sound.nextDue(),
    close: () => sound.close(),
    get pending() {
      return sound.pending
    },
    get leased() {
      return sound.leased
    },
    get hosts() {
      return sound.hosts
    },
  }
  return Object.defineProperties(frontier, Object.getOwnPropertyDescriptors(broken(sound)))
}

describe('a store', () => {
  const later = <T>(value: () => T) => Promise.resolve().then(value)
  test.each<[string, (c: Crawler) => Crawler]>([
    ['seen.addAll throws', (c) => c.seenStore(seenWith({ addAll: fails }))],
    ['seen.addAll rejects', (c) => c.seenStore(seenWith({ addAll: () => later(fails) }))],
    ['frontier.add throws', (c) => c.frontier(frontierWith(() => ({ add: fails })))],
    [
      'frontier.settle rejects for links',
      (c) =>
        c.frontier(
          frontierWith((sound) => ({
            settle: (settlements) =>
              settlements.some(({ found = [] }) => found.length > 0)
                ? later(fails)
                : sound.settle(settlements),
          })),
        ),
    ],
    ['frontier.lease throws', (c) => c.frontier(frontierWith(() => ({ lease: fails })))],
    ['frontier.lease rejects', (c) => c.frontier(frontierWith(() => ({ lease: () => later(fails) })))],
    ['frontier.settle throws', (c) => c.frontier(frontierWith(() => ({ settle: fails })))],
    ['frontier.settle rejects', (c) => c.frontier(frontierWith(() => ({ settle: () => later(fails) })))],
    ['frontier.nextDue throws', (c) => c.frontier(frontierWith(() => ({ nextDue: fails })))],
    ['the store cannot be opened', (c) => c.store({ name: 'mine', open: fails })],
    ['the frontier cannot be made', (c) => c.frontier(fails)],
  ])('%s: run() rejects, and everything is closed', async (_, spoil) => {
    const rejections = watchRejections()
    const started = await site({
      '/': linksTo('/a', '/b'),
      '/a': 'a',
      '/b': (_, response) => void setTimeout(() => response.end(), 50),
    })
    const story: string[] = []
    const seeds = [started.url(), started.url('/', '127.0.0.2')]
    const crawler = spoil(
      // A pause, so that there is something to wait for.
      direct
        .delay(10)
        .seeds(seeds)
        .use({ name: 'h', page: () => {}, close: () => void story.push('closed') })
        .on('end', () => void story.push('end')),
    )
    const error = (await rejectionOf(crawler.run())) as KumoError
    expect(error).toMatchObject({ name: 'KumoError', code: 'KUMO_STORE_FAILED', cause: disk })
    expect(error.message).toContain('disk full')
    expect(story.filter((word) => word === 'end')).toEqual([])
    await sleep(20)
    expect(await rejections()).toEqual([])
    // It is over: the same value may run again.
    await expect(crawler.run()).rejects.toMatchObject({ code: 'KUMO_STORE_FAILED' })
  })

  test('that breaks its contract is told so, not blamed on a missing property', async () => {
    const { url } = await site({ '/': 'x' })
    for (const answer of [undefined, [], [true, true], 'yes']) {
      const error = await rejectionOf(
        direct
          .seeds(url())
          .seenStore(seenWith({ addAll: () => answer as never }))
          .run(),
      )
      expect(error).toMatchObject({ code: 'KUMO_CONTRACT_BROKEN' })
      expect((error as Error).message).toContain('addAll')
    }
    const error = await rejectionOf(
      direct
        .seeds(url())
        .frontier(() => ({}) as Frontier)
        .run(),
    )
    expect(error).toMatchObject({ code: 'KUMO_INVALID_OPTION' })
    expect((error as Error).message).toContain('frontier()')
  })

  test('a partitioner that throws, or answers with nonsense, is named', async () => {
    for (const partition of [fails, () => Number.NaN, () => 8, () => undefined as unknown as number]) {
      const error = await rejectionOf(direct.seeds(GOOD).partitioner({ partitions: 8, partition }).run())
      expect(error).toMatchObject({ code: 'KUMO_CONTRACT_BROKEN' })
      expect((error as Error).message).toMatch(/partition.*good\.example/)
    }
  })

  test('after a failed run stats() tell how far it came', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': linksTo('/b'), '/b': 'b' })
    let calls = 0
    const sound = seenWith({})
    const crawler = direct
      .seeds(url())
      .seenStore(seenWith({ addAll: (urls) => (++calls === 3 ? fails() : sound.addAll(urls)) }))
    const run = crawler.start()
    await rejectionOf(run.done)
    expect(run.stats()).toMatchObject({ pages: 2, statuses: { 200: 2 } })
  })

  test('that is slow is waited for, and nothing is lost', async () => {
    const { url } = await site({
      '/': linksTo('/a', '/b'),
      '/a': linksTo('/c'),
      '/b': linksTo('/c'),
      '/c': 'end',
    })
    const slowly = async <T>(value: T) => {
      await sleep(5)
      return value
    }
    const table = fingerprintTable()
    const { pages } = await crawl(
      direct
        .seeds(url())
        .seenStore({
          addAll: async (urls) => slowly(await table.addAll(urls)),
          size: 0,
          close: () => slowly(undefined),
        })
        .frontier(
          frontierWith((sound) => ({
            add: async (requests) => slowly(await sound.add(requests)),
            lease: async (max, now) => slowly(await sound.lease(max, now)),
            settle: async (settlements) => slowly(await sound.settle(settlements)),
            close: () => slowly(undefined),
          })),
        ),
    )
    expect(pathsOf(pages)).toEqual(['/', '/a', '/b', '/c'])
  })
})
