import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Crawler, type Page } from 'kumo'
import { readWarc, warcReplay } from 'kumo/warc'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LoopbackSite, type Route, startSite } from '../loopback/site.js'
import { crawlerOf, newFolder, startArchivedSite } from './archived-site.js'

let site: LoopbackSite

beforeAll(async () => {
  site = await startArchivedSite()
})
afterAll(() => site.close())

const shown = ({ url, status, title, text }: Page) => ({ url, status, title, text })

async function crawl(crawler: Crawler) {
  const pages: ReturnType<typeof shown>[] = []
  const failures: (readonly [string, string])[] = []
  await crawler
    .on('page', (page) => void pages.push(shown(page)))
    .on('failure', ({ url, code }) => void failures.push([url, code]))
    .run()
  return { pages: pages.sort((a, b) => (a.url < b.url ? -1 : 1)), failures }
}

describe.each([0, 2])('with %i workers', (workers) => {
  it('fetches once, and then serves what is kept without waiting for the host', async () => {
    const folder = newFolder()
    const first = await crawl(crawlerOf(site).workers(workers).cache(folder))
    const asked = site.requests.length
    const second = await crawl(crawlerOf(site).workers(workers).delay('1h').cache(folder))
    const third = await crawl(crawlerOf(site).workers(workers).delay('1h').cache(folder, { mode: 'only' }))
    expect(site.requests.length).toBe(asked)
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    expect(first.pages.length).toBe(9)
  })
})

it('only: what is not kept fails, and nothing is sent', async () => {
  const folder = newFolder()
  await crawl(crawlerOf(site).depth(0).cache(folder))
  const asked = site.requests.length
  const { pages, failures } = await crawl(crawlerOf(site).depth(1).cache(folder, { mode: 'only' }))
  expect(site.requests.length).toBe(asked)
  expect(pages.map(({ title }) => title)).toEqual(['Home'])
  expect(new Set(failures.map(([, code]) => code))).toEqual(new Set(['not-archived']))
})

it('only: needs a cache', async () => {
  await expect(crawl(crawlerOf(site).cache('./nowhere', { mode: 'only' }))).rejects.toMatchObject({
    code: 'KUMO_ARCHIVE_FAILED',
  })
})

it('refresh: asks for what is not fresh, and uses what has not changed', async () => {
  const version = { at: 1 }
  const changing = await startSite({
    '/': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'max-age=3600' })
      response.end('<title>fresh</title><a href="/checked">c</a><a href="/always">a</a>')
    },
    '/checked': (request, response) => {
      const etag = `"${version.at}"`
      const isKnown = request.headers['if-none-match'] === etag
      response.writeHead(isKnown ? 304 : 200, { etag, 'content-type': 'text/html' })
      response.end(isKnown ? undefined : `<title>version ${version.at}</title>`)
    },
    '/always': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' })
      response.end(`<title>always ${version.at}</title>`)
    },
    '/robots.txt': { headers: { 'cache-control': 'max-age=3600' }, body: '' },
  })
  const folder = newFolder()
  const titles = async () => {
    const before = changing.requests.length
    const { pages } = await crawl(crawlerOf(changing).cache(folder, { mode: 'refresh' }))
    return [
      pages.map(({ title }) => title).join(', '),
      changing.requests.slice(before).map(({ path }) => path),
    ]
  }
  expect(await titles()).toEqual(['fresh, always 1, version 1', ['/robots.txt', '/', '/checked', '/always']])
  expect(await titles()).toEqual(['fresh, always 1, version 1', ['/checked', '/always']])
  version.at = 2
  expect(await titles()).toEqual(['fresh, always 2, version 2', ['/checked', '/always']])
  await changing.close()
})

it('a 304 confirms the answer before it, also if another URL had its payload', async () => {
  const links = '<a href="/twin">t</a><a href="/other">o</a>'
  const contents: Record<string, string> = {
    '/': links,
    '/twin': '<title>first</title>',
    '/other': '<title>other</title>',
  }
  const route =
    (path: string): Route =>
    (request, response) => {
      const etag = `"${Buffer.from(contents[path]!).toString('hex')}"`
      const isKnown = request.headers['if-none-match'] === etag
      response.writeHead(isKnown ? 304 : 200, {
        etag,
        'content-type': 'text/html',
        'cache-control': 'no-cache',
      })
      response.end(isKnown ? undefined : contents[path])
    }
  const twins = await startSite({
    '/': route('/'),
    '/twin': route('/twin'),
    '/other': route('/other'),
    // An empty answer, as a 304 is.
    '/robots.txt': { status: 404, headers: {}, body: '' },
  })
  const folder = newFolder()
  const titles = async (crawler: Crawler) =>
    (await crawl(crawler.concurrency(1))).pages.map(({ url, title }) => [
      url.slice(twins.url('').length),
      title,
    ])
  const refreshed = () => titles(crawlerOf(twins).cache(folder, { mode: 'refresh' }))
  await refreshed()
  contents['/twin'] = contents['/other']!
  await refreshed()
  const asked = twins.requests.length
  const confirmed = await refreshed()
  expect(confirmed.map(([, title]) => title)).toEqual(['', 'other', 'other'])
  expect(twins.requests.length).toBeGreaterThan(asked)
  expect(await titles(crawlerOf(twins).cache(folder, { mode: 'only' }))).toEqual(confirmed)
  expect(await titles(crawlerOf(twins).fetcher(warcReplay(folder)))).toEqual(confirmed)
  for (const name of readdirSync(folder)) if (name.endsWith('.cdxj')) rmSync(join(folder, name))
  expect(await titles(crawlerOf(twins).fetcher(warcReplay(folder)))).toEqual(confirmed)
  await twins.close()
})

it('refresh: a 304 makes an old answer fresh again, and what must not be kept is not', async () => {
  const old = new Date(Date.now() - 86_400_000).toUTCString()
  let isOld = true
  const aged = await startSite({
    '/': (request, response) => {
      const isKnown = request.headers['if-none-match'] === '"1"'
      const headers = { etag: '"1"', 'content-type': 'text/html', 'cache-control': 'max-age=3600' }
      response.writeHead(isKnown ? 304 : 200, isOld ? { ...headers, date: old } : headers)
      response.end(isKnown ? undefined : '<title>old</title><a href="/secret">s</a>')
    },
    '/secret': { headers: { 'content-type': 'text/html', 'cache-control': 'no-store' }, body: 'a secret' },
    '/robots.txt': { headers: { 'cache-control': 'max-age=3600' }, body: '' },
  })
  const folder = newFolder()
  const asked = async () => {
    const before = aged.requests.length
    const { pages } = await crawl(crawlerOf(aged).cache(folder, { mode: 'refresh' }))
    expect(pages.map(({ title }) => title).sort()).toEqual(['', 'old'])
    return aged.requests.slice(before).map(({ path }) => path)
  }
  expect(await asked()).toEqual(['/robots.txt', '/', '/secret'])
  isOld = false
  expect(await asked()).toEqual(['/', '/secret'])
  expect(await asked()).toEqual(['/secret'])
  await aged.close()
  for await (const record of readWarc(folder))
    if (record.ok) expect(record.url ?? '').not.toContain('/secret')
})

it('keeps the delay between visits to the web', async () => {
  const folder = newFolder()
  await crawl(crawlerOf(site).depth(0).cache(folder))
  const before = site.requests.length
  // The first page comes from the cache; the others keep the interval.
  await crawl(
    crawlerOf(site).depth(1).delay('60ms').include('/', '/plain', '/chunked', '/utf-8').cache(folder),
  )
  const times = site.requests.slice(before).map(({ at }) => at)
  expect(times.length).toBe(3)
  for (const [i, at] of times.entries()) if (i > 0) expect(at - times[i - 1]!).toBeGreaterThanOrEqual(59)
})

it('does not keep answers that pass, and is an archive', async () => {
  let isUp = false
  const failing = await startSite({
    '/': (_, response) => {
      response.writeHead(isUp ? 200 : 503, { 'content-type': 'text/html' })
      response.end('<title>up</title>')
    },
  })
  const folder = newFolder()
  expect((await crawl(crawlerOf(failing).cache(folder))).failures).toEqual([
    [failing.url('/'), 'http-status'],
  ])
  isUp = true
  expect((await crawl(crawlerOf(failing).cache(folder))).pages.map(({ title }) => title)).toEqual(['up'])
  await failing.close()
  const urls: (string | undefined)[] = []
  for await (const record of readWarc(folder))
    if (record.ok && record.type === 'response') urls.push(record.url)
  expect(urls).toEqual([failing.url('/robots.txt'), failing.url('/')])
})

it.each([[''], [7], ['./a', { mode: 'never' }], ['./a', { age: 1 }]] as unknown as [string, object?][])(
  'rejects %j',
  (...given) => {
    expect(() => new Crawler().cache(...given)).toThrow(/^cache/)
  },
)
