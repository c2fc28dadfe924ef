/** Requests with a label and data, from the seed to the page, the failure, the skip or the redirect. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KumoError, level, type SeedInput } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { crawl, direct, linksTo, pathsOf, site } from './support.js'

const HTML = { 'content-type': 'text/html' }
const PLAIN = { method: 'GET', label: undefined, data: undefined, priority: 0 }

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kumo-requests-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('a seed with a label and data', () => {
  test('comes back with its page, its failure, its skip and its redirect', async () => {
    const { url } = await site({
      '/list': linksTo('/plain'),
      '/plain': 'end',
      '/gone': { status: 404 },
      '/moved': { status: 302, headers: { location: '/list?moved' } },
      '/list?moved': 'end',
      '/data.bin': { headers: { 'content-type': 'application/octet-stream' }, body: 'x'.repeat(9) },
    })
    const asked = (path: string) => ({
      url: url(path),
      label: path,
      data: { path, list: [1, 'ü', null] },
      priority: 2,
      depth: 1,
    })
    const answered = (path: string) => ({
      method: 'GET',
      label: path,
      data: { path, list: [1, 'ü', null] },
      priority: 2,
    })
    const paths = ['/list', '/gone', '/moved', '/data.bin']
    const { pages, failures, skips, redirects } = await crawl(direct.seeds(paths.map(asked)))
    const requestOf = (path: string) => pages.find((page) => page.url === url(path))?.request
    expect(requestOf('/list')).toEqual(answered('/list'))
    expect(requestOf('/plain')).toEqual(PLAIN)
    expect(pages.find((page) => page.url === url('/plain'))).toMatchObject({ depth: 2, parent: url('/list') })
    expect(failures).toMatchObject([
      { url: url('/gone'), parent: undefined, depth: 1, redirectedFrom: [], request: answered('/gone') },
    ])
    expect(skips).toMatchObject([
      { url: url('/data.bin'), reason: 'media-type', request: answered('/data.bin') },
    ])
    expect(redirects).toMatchObject([
      { url: url('/moved'), parent: undefined, depth: 1, redirectedFrom: [], request: answered('/moved') },
    ])
  })

  test('what the program changes afterwards has no effect', async () => {
    const { url } = await site({ '/': 'end' })
    const seed = { url: url(), label: 'before', data: { n: 1 } }
    const crawler = direct.seeds(seed)
    seed.label = 'after'
    seed.data.n = 2
    const { pages } = await crawl(crawler)
    expect(pages[0]!.request).toMatchObject({ label: 'before', data: { n: 1 } })
  })

  test('the same URL twice: the first request wins', async () => {
    const { url } = await site({ '/': 'end' })
    const { pages } = await crawl(
      direct.seeds({ url: url(), label: 'first' }, { url: url(), label: 'second' }),
    )
    expect(pages.map(({ request }) => request.label)).toEqual(['first'])
  })

  test('a link that is skipped says which request it would have been', async () => {
    const { url } = await site({ '/': linksTo('http://elsewhere.example/') })
    const extractor = {
      name: 'urgent',
      extract: () => ({ links: [{ href: 'http://urgent.example/', tag: 'plugin', priority: 7 }] }),
    }
    const { skips } = await crawl(direct.seeds(url()).extract(extractor))
    expect(skips.map(({ url, request }) => [url, request])).toEqual([
      ['http://elsewhere.example/', PLAIN],
      ['http://urgent.example/', { ...PLAIN, priority: 7 }],
    ])
  })

  test('the page of a GET has the id of its URL, whatever its label', async () => {
    const { url } = await site({ '/': 'end' })
    const plain = await crawl(direct.seeds(url()))
    const labelled = await crawl(direct.seeds({ url: url(), label: 'a', data: 1 }))
    expect(labelled.pages[0]!.id).toBe(plain.pages[0]!.id)
  })
})

describe('label and data survive', () => {
  const asked = { label: 'kept', data: { n: [1, 'ü'] }, priority: 2 }
  const answered = { method: 'GET', ...asked }

  test('retries', async () => {
    let visits = 0
    const { url } = await site({
      '/': (_, response) => void response.writeHead(visits++ === 0 ? 503 : 200, HTML).end('end'),
    })
    const crawler = direct.retries({ times: 1, backoff: 10 }).seeds({ url: url(), ...asked })
    const { pages, failures } = await crawl(crawler)
    expect(failures).toMatchObject([{ final: false, request: answered }])
    expect(pages).toMatchObject([{ attempt: 1, request: answered }])
  })

  test('giving up, and retryFailed() in a later run', async () => {
    let status = 404
    const { url } = await site({ '/': (_, response) => void response.writeHead(status, HTML).end('end') })
    const crawler = direct.store(level(await folder())).seeds({ url: url(), ...asked })
    await crawl(crawler)
    status = 200
    const { pages } = await crawl(crawler.retryFailed())
    expect(pages).toMatchObject([{ url: url(), request: answered }])
  })

  test('revisits, in rounds and by schedule', async () => {
    const { url } = await site({ '/': 'end' })
    const crawler = direct.store(level(await folder())).seeds({ url: url(), ...asked })
    const { pages: first } = await crawl(crawler.refresh({ rounds: 2, unchanged: true }))
    expect(first.map(({ request }) => request.label)).toEqual(['kept', 'kept'])
    expect(first[1]!.request.data).toEqual(asked.data)
    const scheduled = direct.seeds({ url: url(), ...asked }).refresh({ first: 50, min: 50, unchanged: true })
    const { pages } = await crawl(scheduled.limit({ pages: 2 }))
    expect(pages.map(({ request }) => request)).toEqual([answered, answered])
  })
})

describe('a wrong request', () => {
  const circular: Record<string, unknown> = { url: 'https://example.com/' }
  circular.data = circular

  test.each<[string, object, string]>([
    ['no URL', { label: 'a' }, 'seeds.url'],
    ['another key', { url: 'https://example.com/', lable: 'a' }, "the key 'lable'"],
    ['data that is circular', circular, 'not JSON'],
    ['data that is too large', { url: 'https://example.com/', data: 'x'.repeat(70_000) }, 'seeds.data'],
    ['a stream as body', { url: 'https://example.com/', body: new ReadableStream() }, 'seeds.body'],
    ['a method that is not one', { url: 'https://example.com/', method: 'GET IT' }, 'seeds.method'],
  ])('%s throws at its line, and from a source it is a failure', async (_, given, message) => {
    const seed = given as SeedInput
    expect(() => direct.seeds(seed)).toThrow(message)
    expect(() => direct.seeds([seed] as SeedInput)).toThrow(message)
    const { url } = await site({ '/': 'end' })
    async function* source() {
      yield seed
      yield { url: url(), label: 'good' }
    }
    const { pages, failures } = await crawl(direct.seeds(source() as SeedInput))
    expect(pages.map(({ request }) => request.label)).toEqual(['good'])
    expect(failures).toMatchObject([{ code: 'invalid-seed', request: PLAIN }])
    expect(failures[0]!.message).toContain(message)
  })
})

describe('page.follow', () => {
  const routes = {
    '/': linksTo('/both', '/link'),
    '/both': 'end',
    '/link': 'end',
    '/only': 'end',
  }
  const followed = { label: 'detail', data: { from: '/' }, priority: 1 }
  const expected = { method: 'GET', ...followed }
  const where: [string, (start: string) => ReturnType<typeof direct.seeds>][] = [
    [
      'an extractor',
      (start) =>
        direct.seeds(start).extract({
          field: (page) => {
            if (page.depth === 0) for (const to of ['/both', 'only']) page.follow(to, followed)
            return 1
          },
        }),
    ],
    [
      'a hook that waits',
      (start) =>
        direct.seeds(start).use({
          name: 'mine',
          page: async (page) => {
            await new Promise((resolve) => setTimeout(resolve, 5))
            if (page.depth === 0) for (const to of ['/both', 'only']) page.follow(to, followed)
          },
        }),
    ],
    [
      'a listener',
      (start) =>
        direct.seeds(start).on('page', (page) => {
          if (page.depth > 0) return
          page.follow({ url: '/both', ...followed })
          page.follow(new URL('/only', page.url), followed)
        }),
    ],
    [
      'a module',
      (start) => direct.seeds(start).use(new URL('./programs/following-hook.mjs', import.meta.url)),
    ],
  ]

  test.each(where)('from %s: before the links of the page', async (_, crawler) => {
    const { url, requests } = await site(routes)
    const { pages } = await crawl(crawler(url()) as typeof direct)
    const requestOf = (path: string) => pages.find((page) => page.url === url(path))
    expect(requestOf('/both')).toMatchObject({ depth: 1, parent: url(), request: expected })
    expect(requestOf('/only')).toMatchObject({ depth: 1, parent: url(), request: expected })
    expect(requestOf('/link')!.request).toEqual(PLAIN)
    expect(requests).toHaveLength(4)
  })

  test('from a loop over the pages, until it asks for the next one', async () => {
    const { url } = await site(routes)
    const labels = new Map<string, string | undefined>()
    for await (const page of direct.seeds(url())) {
      labels.set(new URL(page.url).pathname, page.request.label)
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (page.depth === 0) for (const to of ['/both', 'only']) page.follow(to, followed)
    }
    expect([...labels].sort()).toEqual([
      ['/', undefined],
      ['/both', 'detail'],
      ['/link', undefined],
      ['/only', 'detail'],
    ])
  })

  test('resolves against the base element, in the encoding of the page', async () => {
    const headers = { 'content-type': 'text/html; charset=windows-1251' }
    const { url } = await site({ '/': { headers, body: '<base href="/docs/">' }, '/docs/a?q=%FF': 'end' })
    const { pages, failures } = await crawl(
      direct.seeds(url()).on('page', (page) => {
        if (page.depth === 0) page.follow('a?q=я')
      }),
    )
    expect(failures).toEqual([])
    expect(pages.map((page) => page.url)).toContain(url('/docs/a?q=%FF'))
  })

  test('block-list, scope and depth apply, nofollow does not', async () => {
    const { url } = await site({
      '/': '<meta name="robots" content="nofollow"><a href="/link">',
      '/a': 'end',
    })
    const label = 'x'
    const { pages, skips } = await crawl(
      direct
        .seeds(url())
        .depth(1)
        .block('/blocked')
        .on('page', (page) => {
          for (const to of ['/a', '/blocked', 'http://elsewhere.example/']) page.follow(to, { label })
          if (page.depth === 1) page.follow('/deep', { label })
        }),
    )
    expect(pathsOf(pages)).toEqual(['/', '/a'])
    const reasons = new Map(skips.map(({ url, reason, request }) => [url, [reason, request.label]]))
    expect(Object.fromEntries(reasons)).toMatchObject({
      [url('/blocked')]: ['blocked', 'x'],
      'http://elsewhere.example/': ['scope', 'x'],
      [url('/deep')]: ['depth', 'x'],
      [url('/')]: ['nofollow', undefined],
    })
  })

  test('a wrong request throws and names it; the page fails, the crawl goes on', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const { pages, failures } = await crawl(
      direct.seeds(url()).use({
        name: 'mine',
        page: (page) => {
          if (page.depth === 0) page.follow('/b', { data: 1n })
        },
      }),
    )
    expect(pathsOf(pages)).toEqual(['/', '/a'])
    expect(failures).toMatchObject([{ url: url(), code: 'hook-failed' }])
    expect(failures[0]!.message).toContain('page.follow.data')
  })

  test('after the page was settled it throws and says what to do', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const { pages } = await crawl(direct.seeds(url()))
    let error: KumoError | undefined
    try {
      pages[0]!.follow('/late')
    } catch (thrown) {
      error = thrown as KumoError
    }
    expect(error).toMatchObject({ name: 'KumoError', code: 'KUMO_PAGE_SETTLED' })
    expect(error!.message).toContain(url())
    expect(error!.message).toContain('/late')
    expect(error!.message).toContain('run.add()')
  })

  test('what was followed before a hook threw is kept', async () => {
    const { url } = await site({ '/': 'end', '/a': 'end' })
    const { pages } = await crawl(
      direct.seeds(url()).use({
        name: 'mine',
        page: (page) => {
          if (page.depth > 0) return
          page.follow('/a', { label: 'kept' })
          throw new Error('mine')
        },
      }),
    )
    expect(pages.map(({ request }) => request.label)).toEqual([undefined, 'kept'])
  })
})
