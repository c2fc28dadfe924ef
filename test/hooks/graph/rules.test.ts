import { join } from 'node:path'
import { Crawler, level } from 'kumo'
import { byRank, linkGraph, openGraph, visitedIn } from 'kumo/graph'
import { openIndex, searchIndex } from 'kumo/search'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type LoopbackSite, startSite } from '../../loopback/site.js'
import { newFolder } from '../sinks/support.js'

const PAGES = 12

/** The start links to all pages; the later a page is linked there, the more others link to it. */
async function rankedSite(): Promise<LoopbackSite> {
  const link = (n: number) => `<a href="/${n}">called ${n}</a>`
  const numbers = Array.from({ length: PAGES }, (_, n) => n)
  const site = await startSite({
    '/': numbers.map(link).join(''),
    ...Object.fromEntries(
      numbers.map((n) => [
        `/${n}`,
        `<title>Page ${n}</title><p>Text</p>${numbers
          .slice(n + 1)
          .map(link)
          .join('')}`,
      ]),
    ),
  })
  onTestFinished(() => site.close())
  return site
}

const crawlerOf = (site: LoopbackSite) => new Crawler().seeds(site.url('/')).delay(0).concurrency(1)

async function graphOf(site: LoopbackSite) {
  const folder = newFolder()
  await crawlerOf(site).use(linkGraph(folder)).run()
  const graph = await openGraph(folder)
  onTestFinished(() => graph.close())
  return graph
}

describe.each([0, 2])('in another crawl (%i workers)', (workers) => {
  test('ranks are priorities: the best pages are fetched first', async () => {
    const site = await rankedSite()
    const graph = await graphOf(site)
    await graph.rank()
    const before = site.requests.length
    await crawlerOf(site).workers(workers).prioritize('/3', 1000).prioritize(byRank(graph)).run()
    const order = site.requests.slice(before).flatMap(({ path }) => path.match(/^\/(\d+)$/)?.[1] ?? [])
    const best = Array.from({ length: PAGES }, (_, i) => String(PAGES - 1 - i)).filter((n) => n !== '3')
    // The first rule that matches decides.
    expect(order).toEqual(['3', ...best])
  })

  test('pages of another graph are left out', async () => {
    const site = await rankedSite()
    const other = await openGraph(newFolder())
    onTestFinished(() => other.close())
    // Visited there, and only known there.
    await other.add({ url: site.url('/4'), links: [{ url: site.url('/5') }] })
    const urls: string[] = []
    await crawlerOf(site)
      .workers(workers)
      .exclude(visitedIn(other))
      .on('page', ({ url }) => void urls.push(url))
      .run()
    expect(urls.length).toBe(PAGES)
    expect(urls).not.toContain(site.url('/4'))
    expect(urls).toContain(site.url('/5'))
  })
})

test('without ranks, and for unknown URLs, there are no priorities', async () => {
  const site = await rankedSite()
  const graph = await graphOf(site)
  const before = site.requests.length
  await crawlerOf(site).prioritize(byRank(graph)).run()
  const order = site.requests.slice(before).flatMap(({ path }) => path.match(/^\/(\d+)$/)?.[1] ?? [])
  expect(order).toEqual(Array.from({ length: PAGES }, (_, n) => String(n)))
  expect(() => byRank({} as never)).toThrow('byRank')
  expect(() => visitedIn(undefined as never)).toThrow('visitedIn')
  expect(() => new Crawler().prioritize('/a', undefined as never)).toThrow('prioritize')
})

test('a graph that is closed too early is an error, and nothing waits for it', async () => {
  const site = await rankedSite()
  const folder = newFolder()
  await crawlerOf(site).use(linkGraph(folder)).run()
  const graph = await openGraph(folder)
  await graph.close()
  await expect(crawlerOf(site).prioritize(byRank(graph)).run()).rejects.toThrow('closed too early')
})

test('texts of incoming links and ranks become fields of a search index', async () => {
  const site = await rankedSite()
  const graph = await graphOf(site)
  await graph.rank()
  expect((await graph.texts(site.url('/11'))).map(({ count }) => count)).toEqual([12])
  expect(await graph.texts(site.url('/11'), 5)).toEqual([{ text: 'called 11', count: 5 }])
  const rankOf = await graph.ranks()
  const folder = newFolder()
  await crawlerOf(site)
    .store(level(join(folder, 'crawl')))
    .extract({
      anchors: async ({ url }) => (await graph.texts(url)).map(({ text }) => text).join('\n'),
      rank: ({ url }) => rankOf(url),
    })
    .use(searchIndex(join(folder, 'index'), { fields: { anchors: 'text', rank: 'number' } }))
    .run()
  const index = await openIndex(join(folder, 'index'))
  const { hits } = await index.search('anchors:"called 7"')
  expect(hits.map(({ url }) => url)).toEqual([site.url('/7')])
  await index.close()
})
