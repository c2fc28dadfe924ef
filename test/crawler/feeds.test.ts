/** Feeds over real sockets: seeds, discovery, articles, hooks, stores, and everything that a server may send instead. */

import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspectCrawl, level } from 'kumo'
import { type Clock, systemClock } from 'kumo/adapters'
import type { FeedEvent } from 'kumo/feeds'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import { askedPaths, crawl, direct, quick, rejectionOf, site, until, WORKERS } from './support.js'

const NOW = Date.UTC(2024, 4, 1, 12)

const item = (id: number | string, more = '') =>
  `<item><guid>${id}</guid><link>/posts/${id}</link><title>Post ${id}</title><pubDate>${new Date(NOW + Number(id) * 60_000).toUTCString()}</pubDate>${more}</item>`
const rss = (...items: readonly string[]) =>
  `<rss version="2.0"><channel><title>News</title><link>/</link>${items.join('')}</channel></rss>`
const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => item(to - i))

/** The time, so many days later. */
function later(days: number): Clock {
  const real = systemClock()
  const ms = days * 24 * 3_600_000
  return { now: () => real.now() + ms, wakeAt: (at, callback) => real.wakeAt(at - ms, callback) }
}

/** Follows the feeds of a site once, and keeps what it is told. */
async function follow(crawler: typeof direct, options: Parameters<typeof direct.feeds>[0] = {}) {
  const events: FeedEvent[] = []
  const heard = await crawl(
    crawler.feeds({ once: true, ...options }).on('feed', (event) => void events.push(event)),
  )
  return { ...heard, events, ids: events.flatMap((each) => each.new.map(({ id }) => id)) }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'kumo-feeds-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('seeds', () => {
  test('may be feeds and pages: a page is fetched once and crawled as usual', async () => {
    const news = await site({
      '/feed': rss(...numbered(1, 3)),
      '/': '<title>Home</title><a href="/a">a</a>',
      '/a': 'A',
    })
    const { events, pages, ids } = await follow(direct.seeds(news.url('/feed'), news.url('/')))
    expect(ids).toEqual(['1', '2', '3'])
    expect(events[0]).toMatchObject({
      feed: { url: news.url('/feed'), kind: 'rss', title: 'News', link: news.url('/') },
      new: [
        { url: news.url('/posts/1'), title: 'Post 1', key: expect.stringMatching(/^[0-9a-f]{16}$/) },
        {},
        {},
      ],
      lost: 0,
      recovered: 0,
      poll: { first: true, status: 200, delta: false, window: 3 },
    })
    expect(pages.map(({ url }) => url).sort()).toEqual([news.url('/'), news.url('/a')])
    expect(askedPaths(news).sort()).toEqual(['/', '/a', '/feed'])
  })

  test('keep their label and data if they are pages', async () => {
    const news = await site({ '/': 'Home' })
    const { pages } = await follow(direct.seeds({ url: news.url('/'), label: 'home', data: { n: 1 } }))
    expect(pages[0]!.request).toMatchObject({ label: 'home', data: { n: 1 } })
  })

  test('robots.txt and block() apply to feeds', async () => {
    const news = await site({
      '/robots.txt': 'User-agent: *\nDisallow: /secret',
      '/secret/feed': rss(item(1)),
      '/open/feed': rss(item(2)),
      '/blocked/feed': rss(item(3)),
    })
    const { ids, skips } = await follow(
      quick
        .seeds(news.url('/secret/feed'), news.url('/open/feed'), news.url('/blocked/feed'))
        .block('/blocked/**'),
    )
    expect(ids).toEqual(['2'])
    expect(skips.map(({ reason }) => reason).sort()).toEqual(['blocked', 'robots'])
  })

  test('polls of one host keep its visit interval', async () => {
    const routes = Object.fromEntries([1, 2, 3].map((n) => [`/feed${n}`, rss(item(n))]))
    const news = await site(routes)
    const seeds = Object.keys(routes).map((path) => news.url(path))
    const { ids } = await follow(direct.delay('300ms').seeds(seeds))
    expect(ids.sort()).toEqual(['1', '2', '3'])
    const times = news.requests.map(({ at }) => at)
    expect(Math.min(...times.slice(1).map((at, i) => at - times[i]!))).toBeGreaterThanOrEqual(299)
  })
})

describe('discovery', () => {
  const home = `<link rel="alternate" type="application/rss+xml" href="/feed">
    <link rel="alternate" type="application/rss+xml" title="Comments on Home" href="/comments/feed">
    <a href="/atom.xml">Atom</a>`
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><entry><id>x</id><title>X</title></entry></feed>`

  test('follows what pages declare and link to, but not comments', async () => {
    const news = await site({
      '/': home,
      '/feed': rss(item(1)),
      '/atom.xml': atom,
      '/comments/feed': rss(item(9)),
    })
    const { ids, events } = await follow(direct.seeds(news.url('/')).depth(0), { discover: true })
    expect(ids.sort()).toEqual(['1', 'x'])
    expect(events.map(({ feed }) => feed.kind).sort()).toEqual(['atom', 'rss'])
  })

  test('is off by default, bounded per host, and what is no feed is left alone', async () => {
    const many = Array.from(
      { length: 5 },
      (_, n) => `<link rel="alternate" type="application/rss+xml" href="/${n}">`,
    )
    const routes: Record<string, Route> = { '/': many.join('') }
    for (let n = 0; n < 5; n++) routes[`/${n}`] = n === 0 ? '<html><body>no feed' : rss(item(n))
    const news = await site(routes)
    expect((await follow(direct.seeds(news.url('/')).depth(0))).ids).toEqual([])
    const { ids, failures } = await follow(direct.seeds(news.url('/')).depth(0), { discover: { perHost: 3 } })
    expect(ids.sort()).toEqual(['1', '2'])
    expect(failures).toEqual([])
  })
})

describe('guesses', () => {
  test('are tried where a page names no feed; those that are none are no failures, and no redirect is followed', async () => {
    const news = await site({
      '/blog/': '<a href="/blog/named">named</a>',
      '/blog/named': '<link rel="alternate" type="application/rss+xml" href="/late">',
      '/late': rss(item(3)),
      '/feed': { status: 301, headers: { location: '/elsewhere' } },
      '/elsewhere': rss(item(1)),
      '/blog/feed': rss(item(2)),
    })
    const { ids, failures, summary } = await follow(direct.seeds(news.url('/blog/')).depth(1), {
      discover: { guess: true, perHost: 12 },
    })
    expect(ids.sort()).toEqual(['2', '3'])
    expect(failures).toEqual([])
    expect(summary).toMatchObject({ failed: 0, feeds: { feeds: 2 } })
    expect(askedPaths(news)).toContain('/rss.xml')
    expect(askedPaths(news)).not.toContain('/elsewhere')
  })

  test('take no room from feeds that later pages name', async () => {
    const news = await site({
      '/': '<a href="/a">a</a>',
      '/a': '<link rel="alternate" type="application/rss+xml" href="/named">',
      '/named': rss(item(1)),
    })
    const { ids } = await follow(direct.seeds(news.url('/')).depth(1), {
      discover: { guess: true, perHost: 2 },
    })
    expect(ids).toEqual(['1'])
  })
})

describe('articles', () => {
  test('are fetched as pages, with the entry as data and a label, whatever the scope', async () => {
    const other = await site({ '/far': '<title>Far</title>' })
    const news = await site({
      '/feed': rss(
        item(1),
        `<item><guid>far</guid><link>${other.url('/far', '127.0.0.2')}</link><title>Far</title></item>`,
      ),
      '/posts/1': '<title>One</title><a href="/posts/2">next</a>',
    })
    const { pages } = await follow(direct.seeds(news.url('/feed')).depth(0).allowPrivate('all'), {
      articles: 'fetch',
    })
    expect(pages).toHaveLength(2)
    const near = pages.find(({ url }) => url === news.url('/posts/1'))!
    expect(near.request).toMatchObject({
      label: 'article',
      data: { id: '1', title: 'Post 1', url: near.url },
    })
    expect(near.parent).toBe(news.url('/feed'))
    expect(pages.find(({ url }) => url.endsWith('/far'))!.request).toMatchObject({ data: { id: 'far' } })
  })

  test('have another label if you want', async () => {
    const news = await site({ '/feed': rss(item(1)), '/posts/1': 'One' })
    const { pages } = await follow(direct.seeds(news.url('/feed')), { articles: { label: 'story' } })
    expect(pages[0]!.request.label).toBe('story')
  })
})

describe('hooks', () => {
  test('receive what listeners receive', async () => {
    const news = await site({ '/feed': rss(item(1)) })
    const heard: (string | undefined)[] = []
    await follow(
      direct.seeds(news.url('/feed')).use({
        name: 'mine',
        feed: async (event) => void heard.push(...event.new.map(({ title }) => title)),
      }),
    )
    expect(heard).toEqual(['Post 1'])
  })

  test('if one throws, the entries come again with the next poll, with the same keys, until they are given up', async () => {
    const news = await site({ '/feed': rss(item(1)) })
    const keys: string[] = []
    const path = folder()
    const failures: [string, boolean][] = []
    for (let run = 0; run < 4; run++) {
      await direct
        .seeds(news.url('/feed'))
        .store(level(path))
        .retries(1)
        // The feed waits an hour after a failed delivery.
        .clock(later(run * 40))
        .feeds({ once: true, min: '1s' })
        .on('failure', ({ code, final }) => void failures.push([code, final]))
        .on('feed', (event) => {
          keys.push(...event.new.map(({ key }) => key))
          throw new Error('no room')
        })
        .run()
    }
    expect(failures).toEqual([
      ['hook-failed', false],
      ['hook-failed', true],
    ])
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
  })
})

describe('stores', () => {
  test('remember what was delivered; the next run delivers the rest', async () => {
    let last = 3
    const news = await site({
      '/feed': (_, response) =>
        void response.setHeader('content-type', 'application/xml').end(rss(...numbered(1, last))),
    })
    const path = folder()
    const run = (days: number) =>
      follow(direct.seeds(news.url('/feed')).store(level(path)).clock(later(days)), { budget: '500/day' })
    expect((await run(0)).ids).toEqual(['1', '2', '3'])
    last = 5
    const second = await run(30)
    expect(second.ids).toEqual(['4', '5'])
    expect(second.summary.feeds!.total).toMatchObject({ polls: 2, fresh: 2 })
    const { feeds } = await inspectCrawl(path)
    expect(feeds).toMatchObject({ followed: 1, ended: 0, failing: 0, total: { polls: 2, fresh: 2 } })
    expect(feeds!.listed[0]).toMatchObject({ url: news.url('/feed'), title: 'News', window: 5, lost: 0 })
  })

  test('that follow feeds are not opened without feeds()', async () => {
    const news = await site({ '/feed': rss(item(1)) })
    const path = folder()
    await follow(direct.seeds(news.url('/feed')).store(level(path)))
    expect(await rejectionOf(direct.seeds(news.url('/feed')).store(level(path)).run())).toMatchObject({
      code: 'KUMO_STORE_MISMATCH',
      message: expect.stringContaining('.feeds('),
    })
  })
})

describe('what a server may send instead', () => {
  const BOMB = `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(1000)}">${Array.from({ length: 9 }, (_, n) => `<!ENTITY ${'b'.repeat(n + 1)} "${`&${n === 0 ? 'a' : 'b'.repeat(n)};`.repeat(10)}">`).join('')}]><rss><channel><title>&bbbbbbbbb;</title>${item(1)}</channel></rss>`
  let version = 0
  const large = (response: ServerResponse) => {
    response.setHeader('content-type', 'application/xml')
    response.write('<rss><channel><title>Large</title>')
    const filler = `<description>${'x'.repeat(10_000)}</description>`
    let n = 0
    const more = () => {
      while (n < 5000)
        if (!response.write(item(`large${n++}`, filler))) return void response.once('drain', more)
      response.end('</channel></rss>')
    }
    more()
  }
  const routes: Record<string, Route> = {
    '/html': {
      headers: { 'content-type': 'application/rss+xml' },
      body: '<!doctype html><html><body>Sign in',
    },
    '/empty': { headers: { 'content-type': 'application/rss+xml' }, body: '' },
    '/image': { headers: { 'content-type': 'image/png' }, body: 'PNG' },
    '/50mb': (_, response) => large(response),
    '/100000': {
      headers: { 'content-type': 'application/xml' },
      body: rss(...numbered(1, 100_000).map((each) => each.replace(/<link>.*<\/pubDate>/, ''))),
    },
    '/nothing': rss('<item></item>', '<item/>', '<item></item>'),
    '/same-id': rss(...[1, 2, 3].map((n) => item(n).replace(/<guid>.*<\/guid>/, '<guid>same</guid>'))),
    '/years': rss(
      '<item><guid>old</guid><pubDate>Sat, 01 Jan 0000 00:00:00 GMT</pubDate></item>',
      '<item><guid>new</guid><pubDate>Fri, 31 Dec 9999 23:59:59 GMT</pubDate></item>',
    ),
    '/bomb': BOMB,
    '/random-ids': (_, response) => {
      version++
      const items = [1, 2, 3].map((n) => item(n).replace(/<guid>.*<\/guid>/, `<guid>${n}-${version}</guid>`))
      response.setHeader('content-type', 'application/xml').end(rss(...items))
    },
    '/ahead': (_, response) => {
      const at = new Date(Date.now() + 3_600_000).toUTCString()
      response
        .setHeader('content-type', 'application/xml')
        .end(rss(`<item><guid>1</guid><title>t</title><pubDate>${at}</pubDate></item>`))
    },
    '/good': rss(item(1)),
  }

  test('none of it stops a feed, or keeps others waiting', async () => {
    const news = await site(routes)
    const paths = Object.keys(routes)
    const { events, failures, summary } = await follow(
      direct
        .seeds(paths.map((path) => news.url(path)))
        .perHost({ connections: 4, growAt: 1 })
        .depth(0),
    )
    const of = (path: string) => events.find(({ feed }) => feed.url === news.url(path))
    expect(summary.reason).toBe('done')
    expect(failures.map(({ code }) => code)).toEqual([])
    for (const path of ['/html', '/empty', '/image']) expect(of(path)).toBeUndefined()
    const { new: first } = of('/50mb')!
    // As much of it as a page may have.
    expect(first.length).toBeGreaterThan(700)
    expect(first.length).toBeLessThan(1000)
    expect(of('/100000')!.new).toHaveLength(10_000)
    expect(of('/nothing')!.new.length).toBeLessThanOrEqual(1)
    expect(of('/same-id')!.new).toHaveLength(3)
    expect(new Set(of('/same-id')!.new.map(({ key }) => key)).size).toBe(3)
    expect(of('/years')!.new.map(({ published }) => published)).toEqual([undefined, undefined])
    expect(of('/bomb')!.new).toHaveLength(1)
    expect(of('/bomb')!.feed.title!.length).toBeLessThan(2_000_000)
    expect(of('/ahead')!.new).toHaveLength(1)
    expect(of('/good')!.new).toHaveLength(1)
  })

  test('ids that change with every request do not make entries new', async () => {
    const news = await site({ '/random-ids': routes['/random-ids']! })
    const path = folder()
    const ids: number[] = []
    for (let run = 0; run < 3; run++) {
      const { events } = await follow(
        direct
          .seeds(news.url('/random-ids'))
          .store(level(path))
          .clock(later(40 * run)),
      )
      ids.push(events.flatMap((each) => each.new).length)
    }
    expect(ids).toEqual([3, 0, 0])
  })
})

test('follows until it is stopped, and reports the account while it runs', async () => {
  let last = 1
  const news = await site({
    '/feed': (_, response) =>
      void response.setHeader('content-type', 'application/xml').end(rss(...numbered(1, last))),
  })
  const ids: (string | undefined)[] = []
  const run = direct
    .seeds(news.url('/feed'))
    .feeds({ min: '1s', max: '1s' })
    .on('feed', (event) => void ids.push(...event.new.map(({ id }) => id)))
    .start()
  await until(() => ids.length === 1, 'the first entry')
  last = 3
  await until(() => ids.length === 3, 'two more')
  await until(() => (run.stats()?.feeds?.total.polls ?? 0) >= 3, 'three polls')
  expect(run.stats()!.feeds).toMatchObject({
    feeds: 1,
    total: { fresh: 2 },
    listed: [{ url: news.url('/feed') }],
  })
  await until(() => run.stats()?.feeds?.feasibility !== undefined, 'feasibility')
  run.stop()
  const { reason, feeds } = await run.done
  expect(reason).toBe('stopped')
  expect(feeds!.total.fresh).toBe(2)
  expect(ids).toEqual(['1', '2', '3'])
  expect(WORKERS).toBeGreaterThanOrEqual(0)
})
