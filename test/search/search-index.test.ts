/** The hook: an index follows the crawl. */

import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, level } from 'kumo'
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
