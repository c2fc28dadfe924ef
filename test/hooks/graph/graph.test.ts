import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Crawler, level } from 'kumo'
import { seededRandom } from 'kumo/adapters'
import { type Graph, linkGraph, openGraph } from 'kumo/graph'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSite } from '../../loopback/site.js'
import { newFolder, pageNumber } from '../sinks/support.js'

const at = (path: string) => `https://example.com/${path}`

async function newGraph(folder = newFolder()): Promise<Graph> {
  const graph = await openGraph(folder)
  onTestFinished(() => graph.close())
  return graph
}

/** A graph from `a: b c`, one page a line. */
async function graphOf(lines: readonly string[], folder?: string): Promise<Graph> {
  const graph = await newGraph(folder)
  for (const line of lines) {
    const [from = '', to = ''] = line.split(':')
    const links = to
      .split(' ')
      .filter(Boolean)
      .map((name) => ({ url: at(name) }))
    await graph.add({ url: at(from), links })
  }
  await graph.flush()
  return graph
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const names = (urls: readonly string[]) => urls.map((url) => url.slice(at('').length))

describe('links', () => {
  test('are kept with text and rel, both ways, also after it was closed', async () => {
    const folder = newFolder()
    const first = await openGraph(folder)
    await first.add({
      url: at('a'),
      links: [
        { url: at('c'), text: 'see  C', rel: 'nofollow UGC' },
        { url: at('b'), text: 'B\n\u001e!' },
        { url: at('c'), text: 'again' },
      ],
    })
    await first.close()
    const graph = await newGraph(folder)
    expect(await graph.out(at('a'))).toEqual([
      { url: at('c'), text: 'again', rel: '', nofollow: true },
      { url: at('b'), text: 'B !', rel: '', nofollow: false },
    ])
    expect(await graph.in(at('c'))).toEqual([{ url: at('a'), text: 'again', rel: '', nofollow: true }])
    expect(await graph.out(at('b'))).toEqual([])
    expect(await graph.in(at('nowhere'))).toEqual([])
    expect(await graph.texts(at('b'))).toEqual([{ text: 'B !', count: 1 }])
    expect(await graph.counts()).toEqual({ urls: 3, pages: 1, links: 2, broken: 0, redirects: 0 })
  })

  test('of a page that has changed are replaced, in both directions', async () => {
    const graph = await graphOf(['a: b c', 'b: c'])
    expect(names((await graph.in(at('c'))).map(({ url }) => url))).toEqual(['a', 'b'])
    await graph.add({ url: at('a'), links: [{ url: at('d') }] })
    expect(names((await graph.in(at('c'))).map(({ url }) => url))).toEqual(['b'])
    expect(names((await graph.in(at('d'))).map(({ url }) => url))).toEqual(['a'])
  })

  test('that are added while a question is answered are in the next answer', async () => {
    const graph = await newGraph()
    for (let i = 0; i < 5000; i++) await graph.add({ url: at(String(i)), links: [{ url: at('x') }] })
    await graph.flush()
    const answer = graph.in(at('x'))
    await graph.add({ url: at('late'), links: [{ url: at('x') }] })
    await graph.flush()
    await answer
    expect(await graph.texts(at('x'))).toEqual([])
    expect((await graph.in(at('x'))).at(-1)?.url).toBe(at('late'))
  })

  test('many random ones are the same as in a map', async () => {
    const random = seededRandom(4)
    const graph = await newGraph()
    const pick = () => Math.floor(random.next() * 700)
    const wanted = new Map<number, Set<number>>()
    for (let i = 0; i < 900; i++) {
      const from = pick()
      const to = new Set(Array.from({ length: i % 97 }, pick))
      wanted.set(from, to)
      await graph.add({ url: at(String(from)), links: [...to].map((n) => ({ url: at(String(n)) })) })
    }
    for (const [from, to] of wanted) {
      const found = (await graph.out(at(String(from)))).map(({ url }) => url)
      expect(new Set(found)).toEqual(new Set([...to].map((n) => at(String(n)))))
    }
    for (let n = 0; n < 700; n += 50) {
      const sources = [...wanted].flatMap(([from, to]) => (to.has(n) && from !== n ? at(String(from)) : []))
      expect(new Set((await graph.in(at(String(n)))).map(({ url }) => url))).toEqual(new Set(sources))
    }
  })
})

describe('questions', () => {
  test('orphans, depths, paths, components', async () => {
    const graph = await graphOf(['a: b', 'b: c', 'c: a d', 'd: e', 'x: x y', 'y:'])
    expect(names(await all(graph.orphans()))).toEqual(['x'])
    expect((await all(graph.depths(at('b')))).map(([url, depth]) => [names([url])[0], depth])).toEqual([
      ['a', 2],
      ['b', 0],
      ['c', 1],
      ['d', 2],
      ['e', 3],
    ])
    expect(names((await graph.path(at('a'), at('e'))) ?? [])).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await graph.path(at('e'), at('a'))).toBeUndefined()
    expect(await graph.path(at('a'), at('nowhere'))).toBeUndefined()
    expect((await graph.components()).map((urls) => names(urls))).toEqual([['a', 'b', 'c']])
  })

  test('a chain of 100,000 pages does not exceed the stack', async () => {
    const graph = await newGraph()
    const count = 100_000
    for (let i = 0; i < count; i++)
      await graph.add({ url: at(String(i)), links: [{ url: at(String((i + 1) % count)) }] })
    expect((await graph.components()).map(({ length }) => length)).toEqual([count])
    expect((await graph.path(at('0'), at(String(count - 1))))?.length).toBe(count)
  })

  test('links and ranks of hosts', async () => {
    const graph = await newGraph()
    const links = ['https://b.example/1', 'https://b.example/2', 'https://a.example/x', 'https://c.example/']
    await graph.add({ url: 'https://a.example/', links: links.map((url) => ({ url })) })
    expect(await graph.hosts()).toEqual([
      { from: 'a.example', to: 'b.example', links: 2 },
      { from: 'a.example', to: 'c.example', links: 1 },
    ])
    await graph.rank()
    const ranks = await graph.hostRanks()
    expect(ranks.map(({ host }) => host).slice(0, 1)).toEqual(['b.example'])
    expect(ranks.reduce((sum, { rank }) => sum + rank, 0)).toBeCloseTo(1, 9)
  })

  test('exports escape what the format requires', async () => {
    const graph = await newGraph()
    await graph.add({
      url: at('?a=1&b="2"'),
      links: [{ url: at('b,c'), text: '<"\u0000&>', rel: 'nofollow' }],
    })
    expect((await all(graph.export('csv'))).join('')).toBe(
      `from,to,text,nofollow\r\n"${at('?a=1&b=""2""')}","${at('b,c')}","<"" &>",true\r\n`,
    )
    expect((await all(graph.export('dot'))).join('')).toContain(`"${at('?a=1&b=\\"2\\"')}" -> "${at('b,c')}"`)
    const xml = (await all(graph.export('graphml'))).join('')
    expect(xml).toContain(`<edge source="${at('?a=1&amp;b=&quot;2&quot;')}" target="${at('b,c')}">`)
    expect(xml).toContain('<data key="text">&lt;&quot; &amp;&gt;</data><data key="nofollow">true</data>')
  })

  test('of two graphs the later visit counts after a merge', async () => {
    const [mine, other] = [await newGraph(), await newGraph()]
    const second = (n: number) => 1_700_000_000_000 + n * 1000
    await mine.add({ url: at('a'), links: [{ url: at('b') }], seenAt: second(1) })
    await mine.add({ url: at('b'), links: [{ url: at('old') }], seenAt: second(1) })
    await other.add({ url: at('b'), links: [{ url: at('new'), text: 'New' }], seenAt: second(2) })
    await other.add({ url: at('a'), links: [], seenAt: second(0) })
    await mine.merge(other)
    expect(await mine.out(at('b'))).toEqual([{ url: at('new'), text: 'New', rel: '', nofollow: false }])
    expect(await mine.out(at('a'))).toHaveLength(1)
    expect(names(await all(mine.urls()))).toEqual(['a', 'b', 'old', 'new'])
  })

  test.each(['', 'two\nlines', 'nul\0'])('refuses the URL %j', async (url) => {
    const graph = await newGraph()
    expect(() => graph.add({ url: at('a'), links: [{ url }] })).toThrow('graph.add: url: got')
  })
})

describe('of a crawl', () => {
  test('has pages, redirects and broken links with their referrers', async () => {
    const site = await startSite({
      '/': '<a href="/a">to A</a><a href="/moved">m</a><a href="/b" rel="nofollow">b</a>',
      '/a': '<a href="/gone">dead</a><a href="/">home</a>',
      '/moved': { status: 301, headers: { location: '/gone' } },
      '/gone': { status: 410 },
    })
    onTestFinished(() => site.close())
    const folder = newFolder()
    // Opened before and during the crawl: both share one graph.
    const graph = await newGraph(join(folder, 'graph'))
    await new Crawler()
      .seeds(site.url())
      .delay(0)
      .store(level(join(folder, 'crawl')))
      .use(linkGraph(join(folder, 'graph')))
      .run()
    expect(await graph.counts()).toEqual({ urls: 5, pages: 2, links: 5, broken: 1, redirects: 1 })
    const [broken] = await all(graph.broken())
    expect(broken).toEqual({
      url: site.url('/gone'),
      status: 410,
      reason: 'http-status',
      referrers: expect.arrayContaining([site.url('/'), site.url('/a')]),
    })
    expect(await graph.in(site.url('/b'))).toEqual([
      { url: site.url('/'), text: 'b', rel: 'nofollow', nofollow: true },
    ])
  })

  test('a page that is gone drops its links, an unchanged one keeps them', async () => {
    const folder = newFolder()
    const hook = linkGraph(folder)
    await hook.open?.({ state: undefined as never })
    const page = pageNumber(1, { text: '<a href="/2">two</a>' })
    await hook.page?.(page)
    await hook.page?.(pageNumber(1, { change: 'unchanged' }))
    await hook.flush?.()
    const graph = await newGraph(folder)
    expect(await graph.out(page.url)).toHaveLength(1)
    await hook.page?.(pageNumber(1, { change: 'gone' }))
    expect(await graph.out(page.url)).toEqual([])
    expect((await all(graph.broken())).map(({ reason, status }) => [reason, status])).toEqual([['gone', 404]])
    await hook.close?.()
    expect(await graph.out(at('2'))).toEqual([])
  })

  test.runIf(existsSync('/dev/full'))('a full disk fails every flush from then on', async () => {
    const folder = newFolder()
    const graph = await openGraph(folder)
    await graph.add({ url: at('a'), links: [{ url: at('b') }] })
    await graph.flush()
    // What LevelDB calls its next logs.
    const logs = [4, 5, 6, 7].map((number) => join(folder, `00000${number}.log`))
    for (const log of logs) symlinkSync('/dev/full', log)
    const fill = async () => {
      const long = 'x'.repeat(5000)
      for (let i = 0; i < 20_000; i++) await graph.add({ url: at(`${long}${i}`) })
    }
    await expect(fill()).rejects.toMatchObject({ code: 'KUMO_STORE_FAILED' })
    // The hook's flush is what keeps a crawl from settling pages that the graph has lost.
    await expect(graph.flush()).rejects.toMatchObject({ code: 'KUMO_STORE_FAILED' })
    await expect(graph.flush()).rejects.toMatchObject({ code: 'KUMO_STORE_FAILED' })
    await expect(graph.close()).rejects.toMatchObject({ code: 'KUMO_STORE_FAILED' })
    for (const log of logs) rmSync(log)
    const again = await newGraph(folder)
    expect((await again.out(at('a'))).map(({ url }) => url)).toEqual([at('b')])
    const { urls, pages } = await again.counts()
    expect(await all(again.urls())).toHaveLength(urls)
    expect(pages).toBeLessThan(20_000)
  })

  test('cannot be opened by two programs', async () => {
    const folder = newFolder()
    await newGraph(folder)
    const program = `const { Level } = require('level'); new Level(${JSON.stringify(folder)}).open().then(() => console.log('opened'), (e) => console.log(e.cause.code))`
    expect(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' }).stdout.trim()).toBe(
      'LEVEL_LOCKED',
    )
  })
})
