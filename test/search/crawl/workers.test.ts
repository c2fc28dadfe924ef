/** The hook with worker threads: shards, pages that are handed over, and pages that change hands. */

import { cpSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Crawler, fromModule } from 'kumo'
import { openIndex, searchIndex } from 'kumo/search'
import { describe, expect, test } from 'vitest'
import { readManifest } from '../../../src/search/index/manifest.js'
import { builtProgram } from '../../built-program.js'
import { freshFolder, madeQueries, opened, shown } from '../corpus.js'
import { HOSTS, indexingCrawl, madePages, served } from './support.js'

/** Documents of each shard. */
function perShard(index: string): number[] {
  return readdirSync(index)
    .sort()
    .map((shard) =>
      readManifest(join(index, shard))!.segments.reduce(
        (sum, { pages, deletedPages }) => sum + pages - deletedPages,
        0,
      ),
    )
}

/** What a query finds, whatever the port of the site. */
async function found(index: string, queries: readonly string[]): Promise<string[][]> {
  const reader = await opened(index)
  return Promise.all(queries.map((query) => shown(reader, query, 30)))
}

test('two workers index into two shards, which rank as one does', async () => {
  const { seeds } = await served(madePages(10))
  const folder = freshFolder()
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  await indexingCrawl(seeds, { index: one, workers: 0 }).run()
  const { pages } = await indexingCrawl(seeds, { index: two, workers: 2 }).run()
  expect(pages).toBe(seeds.length)
  expect(perShard(one)).toEqual([seeds.length])
  const shards = perShard(two)
  expect(shards).toHaveLength(2)
  expect(Math.min(...shards)).toBeGreaterThan(0)
  expect(shards[0]! + shards[1]!).toBe(seeds.length)
  const queries = [...madeQueries(40), '全文検索', '"全文検索"', 'host127091']
  const expected = await found(one, queries)
  expect(expected.flat().length).toBeGreaterThan(300)
  expect(await found(two, queries)).toEqual(expected)
  expect((await (await opened(two)).verify()).documents).toBe(seeds.length)
})

test('pages of busy hosts are handed to the other worker, and none is lost', async () => {
  const all = madePages(40)
  const { site, seeds: urls } = await served(all)
  const folder = freshFolder()
  const probe = join(folder, 'probe')
  const roots = HOSTS.map((host) => site.url('/0', host))
  await indexingCrawl(roots, { index: probe, workers: 2, options: { balance: false } }).run()
  // Only the hosts of one worker have anything to index.
  const hosts = await hostsOf(probe, 'shard-0')
  const seeds = urls.filter((url) => hosts.includes(new URL(url).host))
  const counts: number[][] = []
  for (const balance of [false, true]) {
    const index = join(folder, `balance-${balance}`)
    await indexingCrawl(seeds, { index, workers: 2, options: { balance } }).run()
    counts.push(perShard(index))
    expect((await (await opened(index)).verify()).documents).toBe(seeds.length)
  }
  expect(counts[0]).toEqual([seeds.length, 0])
  expect(counts[1]![1]).toBeGreaterThan(seeds.length * 0.1)
})

/** Hosts with documents in a shard. */
async function hostsOf(index: string, shard: string): Promise<string[]> {
  const copy = mkdtempSync(join(index, '..', 'copy-'))
  cpSync(join(index, shard), join(copy, shard), { recursive: true })
  const reader = await openIndex(copy)
  const { facets } = await reader.search('firstfirstx', { facets: ['host'], groupBy: 'none' })
  await reader.close()
  return facets.host!.map(({ value }) => value)
}

test('pages leave the shard where they were, with whatever number of workers they come again', async () => {
  const { seeds, serve } = await served(madePages(6))
  const folder = freshFolder()
  const index = join(folder, 'index')
  const lives = [
    { workers: 2, version: 'first' },
    { workers: 0, version: 'second' },
    { workers: 3, version: 'third' },
    { workers: 2, version: 'fourth' },
  ]
  let before = ''
  for (const { workers, version } of lives) {
    serve(madePages(6, version))
    await indexingCrawl(seeds, { index, workers, store: join(folder, 'crawl') }).run()
    const reader = await opened(index)
    expect((await reader.verify()).documents, version).toBe(seeds.length)
    expect((await reader.search(`${version}${version}x`, { fuzzy: false })).total, version).toBe(seeds.length)
    if (before !== '')
      expect((await reader.search(`${before}${before}x`, { fuzzy: false })).total, before).toBe(0)
    before = version
  }
  // What is gone leaves every shard.
  const left = madePages(6, 'fourth').filter(({ path }) => path !== '/0')
  serve(left)
  await indexingCrawl(seeds, { index, workers: 3, store: join(folder, 'crawl') }).run()
  expect((await (await opened(index)).verify()).documents).toBe(left.length)
})

describe('functions', () => {
  const document = ({ url, title }: { url: string; title: string }) => ({
    url,
    id: url,
    title: `my ${title}`,
  })

  test('given inline, the hook runs in the program', async () => {
    const { seeds } = await served(madePages(2))
    const index = join(freshFolder(), 'index')
    await indexingCrawl(seeds, { index, workers: 2, options: { document } }).run()
    expect(perShard(index)).toEqual([seeds.length])
    expect((await (await opened(index)).search('my', { fuzzy: false })).total).toBe(seeds.length)
  })

  test('in a module, in the workers; documents may have ids of their own', async () => {
    const { seeds } = await served(madePages(8))
    const index = join(freshFolder(), 'index')
    // The same page of two hosts has one id. Two workers that index it at the same moment may both keep it.
    const file = await builtProgram('test/search/crawl/document-module.ts')
    await new Crawler()
      .seeds(seeds)
      .robots(false)
      .delay(0)
      .depth(0)
      .workers(2)
      .extract({ size: ({ body }) => body.byteLength })
      .use(fromModule(pathToFileURL(file), { with: { index } }))
      .run()
    const reader = await opened(index)
    const { hits } = await reader.search('my', {
      fuzzy: false,
      limit: 50,
      filters: { size: { min: 1 } },
    })
    const ids = new Set(hits.map(({ id }) => id))
    expect([...ids].sort()).toEqual(Array.from({ length: 8 }, (_, i) => `/${i}`))
    expect((await reader.verify()).documents).toBeLessThanOrEqual(16)
    expect(perShard(index)).toHaveLength(2)
  })
})

test('fields of the data are indexed where the page is', async () => {
  const { seeds } = await served(madePages(3))
  const index = join(freshFolder(), 'index')
  await new Crawler()
    .seeds(seeds)
    .robots(false)
    .delay(0)
    .depth(0)
    .workers(2)
    .extract({ size: ({ body }) => body.byteLength })
    .use(searchIndex(index, { sync: false, fields: { size: 'number' } }))
    .run()
  const { hits } = await (await opened(index)).search('firstfirstx', { sort: 'size', limit: 50 })
  expect(hits).toHaveLength(seeds.length)
  expect(hits.every(({ fields }) => Number(fields.size) > 100)).toBe(true)
})
