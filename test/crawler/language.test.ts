/** A scope that depends on the language of pages, which only the fetched page tells. */

import { all, any, type Crawler, domain, glob, not, pageLanguage, type ScopeLike } from 'kumo'
import { describe, expect, test } from 'vitest'
import { scopeTarget } from '../../src/url/scope/scope.js'
import { crawl, direct, linksTo, site, WORKERS } from './support.js'

const JA =
  '蜘蛛はウェブページを読み、リンクをたどって次のページへ進みます。この文章は日本語で書かれていますので、' +
  '日本語のページとして扱われるべきです。気候や文化についての記事も同じように集められます。'
const EN =
  'The spider reads the pages of the web and follows their links to the next page. This text is written in ' +
  'English, so it should be treated as an English page, and it is not what we are looking for in this crawl.'
const DE =
  'Die Spinne liest die Seiten des Netzes und folgt ihren Verweisen zur nächsten Seite. Dieser Text ist auf Deutsch ' +
  'geschrieben und soll deshalb als deutsche Seite gelten, nach der in diesem Lauf niemand gesucht hat.'

const page = (text: string, ...links: string[]) => `<html><body><p>${text}</p>${linksTo(...links)}`

async function kept(
  routes: Record<string, string>,
  rules: [ScopeLike, ...ScopeLike[]],
  change: (crawler: Crawler) => Crawler = (crawler) => crawler,
) {
  const { url, requests } = await site(routes)
  // Rules of Kumo's own travel to workers, whatever the crawler of the tests thinks of objects.
  const crawler = change(direct.seeds(url('/')).scope(...rules)).workers(WORKERS)
  const { pages, skips, failures, summary } = await crawl(crawler)
  const pathOf = (each: { readonly url: string }) => new URL(each.url).pathname
  return {
    pages: pages.map(pathOf).sort(),
    skips: skips
      .filter(({ reason }) => reason === 'language')
      .map(pathOf)
      .sort(),
    fetched: requests.map(({ path }) => path).sort(),
    failures,
    summary,
  }
}

describe('pageLanguage()', () => {
  test('delivers and follows only pages in the language', async () => {
    const found = await kept(
      {
        '/': page(JA, '/ja', '/en'),
        '/ja': page(JA, '/en2'),
        '/en': page(EN, '/behind'),
        '/en2': page(EN),
        '/behind': page(JA),
      },
      [pageLanguage('ja')],
    )
    expect(found).toMatchObject({
      pages: ['/', '/ja'],
      skips: ['/en', '/en2'],
      fetched: ['/', '/en', '/en2', '/ja'],
      failures: [],
      summary: { pages: 2, skips: { language: 2 }, unusedRules: [] },
    })
  })

  test('judges seeds too', async () => {
    const found = await kept({ '/': page(EN, '/ja'), '/ja': page(JA) }, [pageLanguage('ja')])
    expect(found).toMatchObject({ pages: [], skips: ['/'], fetched: ['/'] })
    expect(found.summary.unusedRules).toEqual(['scope: page language ja'])
  })

  test('combines with rules about URLs, which decide alone where they can', async () => {
    const routes = {
      '/': page(EN, '/jp/en', '/ja', '/en', '/no/ja'),
      '/jp/en': page(EN, '/en'),
      '/ja': page(JA),
      '/en': page(EN),
      '/no/ja': page(JA),
    }
    const scope = all(any(glob('/'), '/jp/**', pageLanguage('ja')), not('/no/**'))
    expect(await kept(routes, [scope])).toMatchObject({
      pages: ['/', '/ja', '/jp/en'],
      skips: ['/en'],
      fetched: ['/', '/en', '/ja', '/jp/en'],
    })
  })

  test('believes what a page declares, unless its text clearly says otherwise', async () => {
    const { url } = await site({
      '/': `<html lang="ja">${linksTo('/short', '/lies', '/header')}`,
      '/short': '<html lang=ja-JP><p>1.0',
      '/lies': `<html lang="ja"><p>${EN}`,
      '/header': { headers: { 'content-type': 'text/html', 'content-language': 'ja' }, body: '<p>2.0' },
    })
    const { pages } = await crawl(direct.seeds(url('/')).scope(pageLanguage('ja')).workers(WORKERS))
    expect(pages.map((each) => new URL(each.url).pathname).sort()).toEqual(['/', '/header', '/short'])
  })

  test('narrows as include and exclude, also by not()', async () => {
    const routes = { '/': page(JA, '/de', '/en'), '/de': page(DE), '/en': page(EN) }
    const without = (crawler: Crawler) => crawler.exclude(pageLanguage('de'))
    expect((await kept(routes, ['host'], without)).pages).toEqual(['/', '/en'])
    const only = (crawler: Crawler) => crawler.include(pageLanguage('ja'), pageLanguage('de'))
    expect((await kept(routes, ['host'], only)).pages).toEqual(['/', '/de'])
    expect((await kept(routes, [not(pageLanguage('en'))])).pages).toEqual(['/', '/de'])
  })

  test('keeps pages around those in the language', async () => {
    const routes = {
      '/': page(JA, '/1', '/moved'),
      '/1': page(EN, '/2', '/ja'),
      '/2': page(EN, '/3'),
      '/3': page(EN, '/4'),
      '/4': page(JA),
      '/ja': page(JA, '/5'),
      '/5': page(EN),
    }
    const one = await kept(routes, [pageLanguage('ja', { around: 1 })])
    expect(one).toMatchObject({ pages: ['/', '/1', '/5', '/ja'], skips: ['/2'] })
    const two = await kept(routes, [pageLanguage('ja', { around: 2 })])
    expect(two).toMatchObject({ pages: ['/', '/1', '/2', '/5', '/ja'], skips: ['/3'] })
    const seed = await kept({ '/': page(EN) }, [pageLanguage('ja', { around: 1 })])
    expect(seed).toMatchObject({ pages: [], skips: ['/'] })
  })

  test('counts the distance over redirects', async () => {
    const { url } = await site({
      '/': page(JA, '/1'),
      '/1': page(EN, '/moved'),
      '/moved': { status: 301, headers: { location: '/2' } },
      '/2': page(EN),
    })
    const scope = pageLanguage('ja', { around: 1 })
    const { pages } = await crawl(direct.seeds(url('/')).scope(scope).workers(WORKERS))
    expect(pages.map((each) => new URL(each.url).pathname)).toEqual(['/', '/1'])
  })

  test('does not know pages that only a sitemap lists', async () => {
    const { url } = await site({
      '/robots.txt': 'Sitemap: /sitemap.xml',
      '/sitemap.xml': '<urlset><url><loc>/en</loc></url><url><loc>/ja</loc></url></urlset>',
      '/': page(JA),
      '/en': page(EN),
      '/ja': page(JA),
    })
    const scope = pageLanguage('ja', { around: 1 })
    const crawler = direct.robots(true).seeds(url('/')).scope(scope).workers(WORKERS)
    const { pages } = await crawl(crawler)
    expect(pages.map((each) => new URL(each.url).pathname).sort()).toEqual(['/', '/ja'])
  })

  test('with refresh(), a page that leaves the language is gone, and one that comes back is there again', async () => {
    const texts = [JA, EN, EN, JA]
    let visits = 0
    const { url } = await site({
      '/': page(JA, '/p', '/en'),
      '/p': (_, response) => {
        response.setHeader('content-type', 'text/html; charset=utf-8')
        response.end(page(texts[Math.min(visits, texts.length - 1)]!) + visits++)
      },
      '/en': page(EN),
    })
    const scope = pageLanguage('ja')
    const rounds = direct.seeds(url('/')).scope(scope).workers(WORKERS).refresh({ rounds: 8 })
    const changes: string[] = []
    const summary = await rounds
      .on('page', (each) => {
        if (each.url === url('/p')) changes.push(each.change)
      })
      .run()
    // Gone, as if it were not found: with the second visit in a row.
    expect(changes).toEqual(['new', 'gone', 'new', ...changes.slice(3)])
    expect(changes.slice(3).every((change) => change === 'changed')).toBe(true)
    expect(summary.skips.language).toBe(3)
  })

  test('with refresh() in rounds, pages around those in the language stay', async () => {
    const { url } = await site({ '/': page(JA, '/en'), '/en': page(EN) })
    const scope = pageLanguage('ja', { around: 1 })
    const rounds = direct
      .seeds(url('/'))
      .scope(scope)
      .workers(WORKERS)
      .refresh({ rounds: 3, unchanged: true })
    const changes: string[] = []
    const summary = await rounds
      .on('page', (each) => {
        if (each.url === url('/en')) changes.push(each.change)
      })
      .run()
    expect(changes).toEqual(['new', 'unchanged', 'unchanged'])
    expect(summary.skips.language).toBeUndefined()
  })

  test('may not be used where the page comes too late', () => {
    expect(() => direct.block(pageLanguage('en'))).toThrow(/block: .*'page language en'.*\.exclude\(\)/)
    expect(() => direct.prioritize(any('/a', pageLanguage('en')), 5)).toThrow(/prioritize: .*needs no page/)
  })

  test.each([[''], ['japanese!'], [5], [undefined]])('refuses %j', (language) => {
    expect(() => pageLanguage(language as never)).toThrow(/pageLanguage\(\): got .*language tag/)
  })

  test('refuses unknown options', () => {
    expect(() => pageLanguage('ja', { around: -1 })).toThrow(/pageLanguage\(\)\.around: got -1/)
    expect(() => pageLanguage('ja', { arround: 1 } as never)).toThrow(/got 'arround'/)
  })
})

describe('all, any and not', () => {
  const yes = glob('/**')
  const no = domain('other.example')
  const later = pageLanguage('ja')
  const target = scopeTarget('https://example.com/', 1, undefined)
  const answer = (rule: ScopeLike) => all(rule).start().test(target)
  const verdict = (rule: ScopeLike, language: string) =>
    all(rule).start().testPage!(target, { language, distance: Number.POSITIVE_INFINITY })

  test('combine yes, no and after-the-fetch as Kleene did', () => {
    expect([answer(all(yes, later)), answer(all(later, no)), answer(all(no, later))]).toEqual([
      'after-fetch',
      false,
      false,
    ])
    expect([answer(any(later, yes)), answer(any(no, later)), answer(any(later, no))]).toEqual([
      true,
      'after-fetch',
      'after-fetch',
    ])
    expect([answer(not(later)), answer(not(later, yes)), answer(not(no, later))]).toEqual([
      'after-fetch',
      false,
      'after-fetch',
    ])
  })

  test('decide with the page', () => {
    expect([verdict(all(yes, later), 'ja'), verdict(all(yes, later), 'en')]).toEqual([true, false])
    expect([verdict(any(no, later), 'ja'), verdict(any(no, later), 'en')]).toEqual([true, false])
    expect([verdict(not(later), 'ja'), verdict(not(later), 'en')]).toEqual([false, true])
    expect([verdict(pageLanguage('zh-Hant'), 'zh-hant-tw'), verdict(pageLanguage('zh-Hant'), 'zh')]).toEqual([
      true,
      false,
    ])
  })
})

test.each<[string, (crawler: Crawler) => Crawler]>([
  ['once', (crawler) => crawler],
  ['with refresh()', (crawler) => crawler.refresh({ rounds: 1 })],
])('a page whose language was detected for the scope is delivered with it, %s', async (_, change) => {
  let detected = 0
  const headers = {
    get(name: string) {
      if (name === 'content-language') detected++
      return name === 'content-type' ? 'text/html; charset=utf-8' : undefined
    },
    entries: () => [],
  }
  const body = Buffer.from(page(JA))
  const crawler = direct
    .seeds('https://a.example/')
    .scope(pageLanguage('ja'))
    .fetcher(() => ({ ok: true, status: 200, headers, body, wireBytes: body.length, skippedBody: false }))
  const languages: string[] = []
  await change(crawler)
    .on('page', ({ language }) => void languages.push(String(language.code)))
    .run()
  expect(languages).toEqual(['ja'])
  expect(detected).toBe(1)
})
