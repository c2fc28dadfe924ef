/** The hook: an index follows the crawl. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, level } from 'kumo'
import { type Clock, systemClock } from 'kumo/adapters'
import { hookSuite, pageOf } from 'kumo/conformance'
import { searchIndex } from 'kumo/search'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { freshFolder, opened } from './corpus.js'

describe('its contract', () => {
  const page = () => pageOf({ url: 'https://example.com/', body: '<title>Hello</title><p>World' })
  // The suite knows no folders to remove; these are a few kilobytes.
  hookSuite({
    it,
    create: () => searchIndex(mkdtempSync(join(tmpdir(), 'kumo-hook-')), { sync: false }),
    page,
  })
})

/** The time, so many days later. */
function later(days: number): Clock {
  const real = systemClock()
  const ms = days * 24 * 3_600_000
  return { now: () => real.now() + ms, wakeAt: (at, callback) => real.wakeAt(at - ms, callback) }
}

type Answers = Record<string, { status?: number; headers?: Record<string, string>; body?: string }>

async function site(answers: Answers): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const { status = 200, headers = {}, body = '' } = answers[url] ?? { status: 404 }
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const html = (title: string, body: string, head = '') =>
  `<html lang="en"><head><title>${title}</title>${head}</head><body><main>${body}</main></body></html>`

test('pages are found by section; pages that change replace, and those that leave the site leave the index', async () => {
  const links = ['/a', '/b', '/c', '/d', '/e'].map((path) => `<a href="${path}">x</a>`).join('')
  const answers: Answers = {
    '/': { body: html('Home', `<h1>Start</h1><p>Welcome aboard. ${links}</p>`) },
    '/a': {
      body: html(
        'Alpha',
        '<h1>Alpha</h1><p>Introduction</p><h2 id="setup">Setup</h2><p>Use a screwdriver.</p>',
      ),
    },
    '/b': { body: html('Beta', '<h1>Beta</h1><p>A hammer is a tool.</p>') },
    '/c': { body: html('Gamma', '<h1>Gamma</h1><p>Pliers are a tool.</p>') },
    '/d': { body: html('Delta', '<p>Wrenches turn.</p>', '<link rel="canonical" href="/a">') },
    '/e': { body: html('Epsilon', '<p>Chisels cut.</p>') },
  }
  const base = await site(answers)
  const folder = freshFolder()
  const crawl = () =>
    new Crawler()
      .seeds(`${base}/`)
      .delay(0)
      .store(level(join(folder, 'crawl')))
      .refresh({ rounds: 1, complete: true })
      .use(searchIndex(join(folder, 'index'), { sync: false }))
      .run()
  await crawl()
  const index = await opened(join(folder, 'index'))
  expect((await index.stats()).documents).toBe(5)
  expect((await index.search('screwdriver')).hits[0]).toMatchObject({
    url: `${base}/a`,
    anchor: 'setup',
    headings: ['Alpha', 'Setup'],
    language: 'en',
  })
  expect((await index.search('wrenches', { fuzzy: false })).total).toBe(0)

  answers['/a'] = { body: html('Alpha', '<h1>Alpha</h1><h2 id="setup">Setup</h2><p>Use a spanner.</p>') }
  answers['/b'] = { status: 301, headers: { location: '/c' } }
  answers['/c'] = {
    body: html('Gamma', '<p>Pliers are a tool.</p>', '<meta name="robots" content="noindex">'),
  }
  answers['/e'] = { status: 410 }
  await crawl()
  for (const [word, total] of Object.entries({
    spanner: 1,
    screwdriver: 0,
    hammer: 0,
    pliers: 0,
    chisels: 0,
  }))
    expect((await index.search(word, { fuzzy: false })).total, word).toBe(total)
  expect((await index.verify()).documents).toBe(2)
})

test('entries of feeds are documents, which change and disappear with their feed', async () => {
  const item = (id: number, text: string) =>
    `<item><guid>${id}</guid><link>/posts/${id}</link><title>Post ${id}</title><pubDate>${new Date(id * 1e9).toUTCString()}</pubDate><description>&lt;p&gt;${text}&lt;/p&gt;</description></item>`
  const feed = (...items: string[]) => ({
    headers: { 'content-type': 'application/rss+xml' },
    body: `<rss version="2.0"><channel><title>News</title><link>/</link>${items.join('')}</channel></rss>`,
  })
  const answers: Answers = { '/feed': feed(item(3, 'pears'), item(2, 'plums'), item(1, 'figs')) }
  const base = await site(answers)
  const folder = freshFolder()
  const crawl = (days: number) => {
    return new Crawler()
      .seeds(`${base}/feed`)
      .clock(later(days))
      .delay(0)
      .store(level(join(folder, 'crawl')))
      .feeds({ once: true })
      .use(searchIndex(join(folder, 'index'), { entries: true, sync: false }))
      .run()
  }
  await crawl(0)
  const index = await opened(join(folder, 'index'))
  expect((await index.search('plums')).hits).toMatchObject([{ url: `${base}/posts/2`, title: 'Post 2' }])
  answers['/feed'] = feed(item(3, 'cherries'), item(1, 'figs'))
  await crawl(30)
  const totals = await Promise.all(
    ['pears', 'cherries', 'plums', 'figs'].map(
      async (word) => (await index.search(word, { fuzzy: false })).total,
    ),
  )
  expect(totals).toEqual([0, 1, 0, 1])
})

test('pages that robots.txt disallows leave', async () => {
  const answers: Answers = {
    '/': { body: html('Home', '<p>Welcome. <a href="/a">a</a>') },
    '/a': { body: html('Alpha', '<p>A screwdriver.') },
  }
  const base = await site(answers)
  const folder = freshFolder()
  const crawl = (days: number) =>
    new Crawler()
      .seeds(`${base}/`)
      .clock(later(days))
      .delay(0)
      .store(level(join(folder, 'crawl')))
      .refresh({ rounds: 1, complete: true })
      .use(searchIndex(join(folder, 'index'), { sync: false }))
      .run()
  const { queues } = await crawl(0)
  // The stages of its work are those that the statistics show.
  const { segment, index: written, merge } = queues['search-index']!.stages
  expect(segment).toMatchObject({ done: 2 })
  expect(segment!.busyShare).toBeGreaterThan(0)
  expect(written!.done).toBeGreaterThan(0)
  expect(merge!.done).toBeGreaterThanOrEqual(0)
  const index = await opened(join(folder, 'index'))
  expect((await index.search('screwdriver')).total).toBe(1)
  answers['/robots.txt'] = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /a' }
  // Rules are kept for a day.
  await crawl(30)
  expect((await index.search('screwdriver', { fuzzy: false })).total).toBe(0)
})

test('a complete update brings a lost index back; a simple one indexes only what changed', async () => {
  const answers: Answers = {
    '/': { body: html('Home', '<p>Welcome. <a href="/a">a</a>') },
    '/a': { body: html('Alpha', '<p>A screwdriver.') },
  }
  const base = await site(answers)
  const folder = freshFolder()
  const crawl = (complete: boolean) =>
    new Crawler()
      .seeds(`${base}/`)
      .delay(0)
      .store(level(join(folder, 'crawl')))
      .refresh({ rounds: 1, complete, unchanged: true })
      .use(searchIndex(join(folder, 'index'), { sync: false }))
      .run()
  const documents = async () => (await (await opened(join(folder, 'index'))).stats()).documents
  await crawl(false)
  expect(await documents()).toBe(2)
  rmSync(join(folder, 'index'), { recursive: true })
  answers['/a'] = { body: html('Alpha', '<p>A hammer.') }
  await crawl(false)
  expect(await documents()).toBe(1)
  await crawl(true)
  expect(await documents()).toBe(2)
})

test("fields come from the page's data", async () => {
  const base = await site({ '/': { body: html('Tea', '<p>Green tea. <b class="price">4.50</b></p>') } })
  const folder = freshFolder()
  await new Crawler()
    .seeds(`${base}/`)
    .extract({ price: ({ document }) => Number(document.querySelector('.price')?.textContent) })
    .use(searchIndex(join(folder, 'one'), { fields: { price: 'number' }, sync: false }))
    .run()
  const index = await opened(join(folder, 'one'))
  expect((await index.search('tea', { filters: { price: { min: 4, max: 5 } } })).hits[0]?.fields).toEqual({
    price: 4.5,
  })
  expect((await index.search('tea', { filters: { price: { min: 5 } } })).total).toBe(0)
})

test('offload is off unless it is asked for, and must be true or false', () => {
  expect(searchIndex('./index').queue?.offload).toBeUndefined()
  expect(searchIndex('./index', { offload: true }).queue?.offload).toBe(true)
  expect(() => searchIndex('./index', { offload: 1 as never })).toThrow(
    /offload: got 1; allowed: true or false/,
  )
})
