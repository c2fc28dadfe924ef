/** Limits hold exactly, however often workers die. */

import { Crawler, fromModule, level, type Store } from 'kumo'
import { describe, expect, test } from 'vitest'
import { web } from '../crawler/support.js'
import { folder as newFolder } from '../stores/level/folders.js'
import { isThorough } from '../thorough.js'

const TROUBLE = new URL('./modules/trouble.mjs', import.meta.url)
const HOSTS = 8
const PAGES_PER_HOST = 30

const STORES: Record<string, () => Promise<Store | undefined>> = {
  level: async () => level(await newFolder()),
  memory: async () => undefined,
}

/** A crawl of which some pages end their thread, the first time. */
async function mortal(storeOf: () => Promise<Store | undefined>, crawler: Crawler) {
  const server = await web({ hosts: HOSTS, pagesPerHost: PAGES_PER_HOST, crossHostShare: 0.3 })
  const store = await storeOf()
  const pages = new Map<string, Set<string>>()
  let deaths = 0
  // Of several of each host, a limit of pages per host leaves some out.
  const deadly = { paths: isThorough ? ['/p/3', '/p/11'] : ['/p/3'], folder: await newFolder() }
  const summary = await (store === undefined ? crawler : crawler.store(store))
    .seeds(Array.from({ length: HOSTS }, (_, host) => server.url(host)))
    .scope('all')
    .allowPrivate('all')
    .robots(false)
    .delay('5ms')
    .workers(3)
    .use(fromModule(TROUBLE, { export: 'deadlyOnce', with: deadly }))
    .on('worker', () => void deaths++)
    .on('page', ({ host, url }) => void pages.set(host, (pages.get(host) ?? new Set()).add(url)))
    .run()
  return {
    summary,
    deaths,
    requests: (await server.requests()).length,
    perHost: [...pages.values()].map((urls) => urls.size),
  }
}

describe.each(Object.keys(STORES))('%s', (name) => {
  // The budget is shared in the same way, whatever the store.
  const always = test.skipIf(name === 'memory' && !isThorough)

  always('a limit of pages', async () => {
    const { summary, deaths } = await mortal(STORES[name]!, new Crawler().limit({ pages: 200 }))
    expect(deaths).toBeGreaterThan(2)
    expect(summary).toMatchObject({ reason: 'limit', pages: 200 })
  })

  always('a limit of requests', async () => {
    const { summary, deaths, requests } = await mortal(STORES[name]!, new Crawler().limit({ requests: 200 }))
    expect(deaths).toBeGreaterThan(2)
    expect(summary.reason).toBe('limit')
    expect(requests).toBeLessThanOrEqual(200)
    expect(requests).toBeGreaterThan(190)
  })

  test('a limit of pages per host', async () => {
    const { summary, deaths, perHost } = await mortal(
      STORES[name]!,
      new Crawler().limit({ pagesPerHost: 20 }),
    )
    expect(deaths).toBeGreaterThan(2)
    expect(summary.reason).toBe('done')
    if (name === 'level') {
      // Nothing is lost with a store on disk. Pages whose commit a death undid are delivered again, or others instead of
      // them: they count once.
      expect(summary.pages).toBe(HOSTS * 20)
      expect(Math.min(...perHost)).toBeGreaterThanOrEqual(20)
    } else expect(Math.max(...perHost)).toBeLessThanOrEqual(20)
  })
})
