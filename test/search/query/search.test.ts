/** Asking: what a query means, and that none can do harm. */

import type { SearchDocument, SearchOptions } from 'kumo/search'
import { openIndex, openWriter } from 'kumo/search'
import { describe, expect, test } from 'vitest'
import { freshFolder, indexOf } from '../corpus.js'

const DOCUMENTS: SearchDocument[] = [
  {
    url: 'https://docs.example.com/install',
    title: 'Install',
    language: 'en',
    date: '2026-02-01',
    sections: [
      {
        anchor: 'linux',
        heading: 'Install on Linux',
        text: 'Use the package manager to install the program.',
      },
      {
        anchor: 'windows',
        heading: 'Install on Windows',
        text: 'Download the installer. A draft of this page exists.',
      },
    ],
    fields: { kind: ['guide', 'setup'], level: 1 },
  },
  {
    url: 'https://docs.example.com/manager',
    title: 'Manager of packages',
    language: 'en',
    date: '2025-06-01',
    text: 'The manager keeps every package. A package is a file.',
    fields: { kind: 'reference', level: 3 },
  },
  {
    url: 'https://blog.example.org/ja',
    title: '日本語の検索',
    language: 'ja',
    date: '2026-03-01',
    text: '東京都の天気。検索エンジンは日本語を扱う。',
    fields: { kind: 'guide', level: 2 },
  },
  { url: 'https://www.example.net/kyoto', title: '京都', language: 'ja', text: '京都は古い都です。' },
]
const FIELDS = { kind: 'keyword', level: 'number' } as const
const index = () => indexOf(DOCUMENTS, { fields: FIELDS })
const urls = ({ hits }: { hits: readonly { url: string; anchor: string | undefined }[] }) =>
  hits.map(({ url, anchor }) => new URL(url).pathname.slice(1) + (anchor === undefined ? '' : `#${anchor}`))

describe('queries', () => {
  test.each<[string, string[]]>([
    ['install', ['install#linux']],
    ['INSTALL linux', ['install#linux']],
    ['"package manager"', ['install#linux']],
    ['"manager package"', []],
    ['manager package', ['manager', 'install#linux']],
    ['manager -linux', ['manager']],
    ['-linux install', ['install#windows']],
    ['title:manager', ['manager']],
    ['headings:windows', ['install#windows']],
    ['download site:example.com', ['install#windows']],
    ['package site:example.org', []],
    ['site:example.org', ['ja']],
    ['lang:ja', ['ja', 'kyoto']],
    ['package after:2026-01-01', ['install#linux']],
    ['package before:2026', ['manager']],
    ['package after:soon', ['manager', 'install#linux']],
    ['kind:setup', ['install#linux']],
    ['level:2..3 lang:en', ['manager']],
    ['level:>2', ['manager']],
    ['pack*', ['manager', 'install#linux']],
    ['検索エンジン', ['ja']],
    ['日本', ['ja']],
    ['京都', ['kyoto', 'ja']],
    ['都', ['kyoto', 'ja']],
    ['日本語　検索', ['ja']],
    ['unknown:package', []],
    ['', []],
    ['!!! "" -', []],
  ])('%s', async (query, expected) => {
    const result = await (await index()).search(query, { fuzzy: false })
    expect(result.matched === 'partial' ? [] : urls(result).sort()).toEqual([...expected].sort())
    if (query === '京都') expect(urls(result)[0]).toBe('kyoto')
  })

  test('misspelled words are corrected, and the correction is reported', async () => {
    const result = await (await index()).search('pakcage managr')
    expect(result).toMatchObject({
      matched: 'corrected',
      corrections: { pakcage: 'package', managr: 'manager' },
    })
    expect(urls(result)).toContain('install#linux')
  })

  test('with words that no document has all of, some are enough', async () => {
    const result = await (await index()).search('download file elephants', { fuzzy: false })
    expect(result.matched).toBe('partial')
    expect(urls(result).sort()).toEqual(['install#windows', 'manager'])
  })

  test('while typing, results of a longer prefix are among those of a shorter one', async () => {
    const found = await index()
    let before: string[] | undefined
    for (const typed of ['ins', 'inst', 'insta', 'instal', 'install']) {
      const now = urls(await found.search(typed, { prefix: true, groupBy: 'none' }))
      if (before !== undefined) expect(before).toEqual(expect.arrayContaining(now))
      expect(now.length).toBeGreaterThan(0)
      before = now
    }
  })

  test.each<[string, string]>([
    ['a long one', 'word '.repeat(20_000)],
    ['one word of 100 KB', 'x'.repeat(100_000)],
    ['unbalanced quotes', '"package "manager'],
    ['words that every text has', 'the of and a to in is'],
    ['operators alone', 'site: lang: after: - -- -"" title:"" *'],
    ['emoji', '😀 👩‍👩‍👧 ❤️'],
    ['right to left', 'שלום "עולם -ויקיפדיה'],
    ['lone surrogates', '\ud800 \udc00 "\ud83d'],
    ['control characters', '\0\u0001\u0002 package'],
    ['a regular expression', '(.*)+$ [a-'],
    ['a prototype', '__proto__:x constructor:y hasOwnProperty'],
  ])('nothing throws: %s', async (_, query) => {
    const found = await index()
    await found.search(query, { prefix: true, fuzzy: true, facets: ['host'] })
    await found.suggest(query)
    await found.similar(query)
  })
})

test.each<[string, string | undefined]>([
  ['inst', 'install'],
  ['red INST', 'red install'],
  ['red-inst', 'red-install'],
  ['"package man', '"package manager'],
  ['title:inst', 'title:install'],
  ['東京　日', '東京　日本'],
  ['"日', '"日本'],
  ['install ', undefined],
  ['!!!', undefined],
  ['', undefined],
])('suggest(%j) completes the last word and keeps what stands before it', async (typed, expected) => {
  const found = await index()
  const suggestions = await found.suggest(typed)
  if (expected === undefined) expect(suggestions).toEqual([])
  else expect(suggestions.map(({ text }) => text)).toContain(expected)
  expect(await found.suggest(typed, { limit: 1 })).toEqual(suggestions.slice(0, 1))
  await expect(found.suggest(typed, { limit: -1 })).rejects.toMatchObject({ code: 'KUMO_INVALID_OPTION' })
})

type Filters = NonNullable<SearchOptions['filters']>

describe('options', () => {
  test.each<[unknown, string[]]>([
    [{ level: 3 }, ['manager']],
    [{ level: '3' }, ['manager']],
    [{ level: { min: '2', max: 3 } }, ['ja', 'manager']],
    [{ level: {} }, ['install#linux', 'ja', 'manager']],
    [{ date: { min: '2026-01-01', max: new Date('2026-02-15') } }, ['install#linux']],
    [{ language: 'ja', kind: ['guide', 'reference'] }, ['ja']],
    [{ kind: [] }, []],
  ])('filters: %j', async (filters, expected) => {
    const result = await (await index()).search('install -nothing', {
      filters: filters as Filters,
      fuzzy: false,
    })
    const all = await (await index()).search('-nothing', { filters: filters as Filters })
    expect(urls(all).sort()).toEqual(expected)
    expect(result.total).toBe(expected.includes('install#linux') ? 1 : 0)
  })

  test.each<[unknown]>([
    [{ level: 'x' }],
    [{ level: null }],
    [{ level: '' }],
    [{ date: 'soon' }],
    [{ kind: { min: 1 } }],
  ])('a filter that means nothing is refused: %j', async (filters) => {
    const found = await index()
    await expect(found.search('x', { filters: filters as Filters })).rejects.toMatchObject({
      code: 'KUMO_INVALID_OPTION',
    })
  })

  test('facets, filters, sorting, groups', async () => {
    const found = await index()
    const all = 'site:example.com'
    expect((await found.search('lang:ja', { facets: ['host', 'kind'] })).facets).toEqual({
      host: [
        { value: 'blog.example.org', count: 1 },
        { value: 'www.example.net', count: 1 },
      ],
      kind: [{ value: 'guide', count: 1 }],
    })
    expect(urls(await found.search('package', { filters: { level: { min: 2 } } }))).toEqual(['manager'])
    expect(urls(await found.search('package', { filters: { kind: ['setup', 'other'] } }))).toEqual([
      'install#linux',
    ])
    expect(urls(await found.search(all, { sort: { by: 'date', order: 'ascending' } }))[0]).toBe('manager')
    expect(urls(await found.search(all, { sort: 'date' }))[0]).toBe('install#linux')
    expect((await found.search('install', { groupBy: 'none' })).total).toBe(2)
    expect((await found.search('install')).hits[0]).toMatchObject({ sections: 2 })
    expect((await found.search(all, { perHost: 1 })).hits).toHaveLength(1)
    expect((await found.search(all, { limit: 1, offset: 1 })).hits).toHaveLength(1)
    await expect(found.search('x', { filters: { colour: 'red' } })).rejects.toMatchObject({
      code: 'KUMO_INVALID_OPTION',
    })
    await expect(found.search('x', { limit: -1 })).rejects.toMatchObject({ code: 'KUMO_INVALID_OPTION' })
  })

  test('boosts, freshness and own scores change the order', async () => {
    const found = await index()
    expect(urls(await found.search('package'))[0]).toBe('manager')
    expect(
      urls(
        await found.search('package', {
          boosts: { title: 0, headings: 0, body: 1 },
          score: ({ level }) => 1 / (level ?? 1) ** 3,
        }),
      )[0],
    ).toBe('install#linux')
    expect(urls(await found.search('package', { freshness: { halfLifeDays: 30, weight: 1e6 } }))[0]).toBe(
      'install#linux',
    )
  })

  test('synonyms', async () => {
    const folder = freshFolder()
    const writer = await openWriter(folder, { sync: false })
    await writer.put({ url: 'https://a.example/', text: 'JavaScript runs here' })
    await writer.close()
    const found = await openIndex(folder, { synonyms: [['js', 'javascript']] })
    expect((await found.search('js')).total).toBe(1)
    await found.close()
  })
})

describe('snippets', () => {
  test('mark matches, and escape everything else', async () => {
    const text = `${'filler '.repeat(100)}<script>alert("tea & café")</script> ${'more '.repeat(100)}`
    const { hits } = await (await indexOf([{ url: 'https://a.example/', text }])).search('cafe tea')
    const { text: shown, ranges, html } = hits[0]!.snippet!
    expect(ranges.map(([start, end]) => shown.slice(start, end))).toEqual(['tea', 'café'])
    expect(html).toContain('&lt;script&gt;alert(&quot;<mark>tea</mark> &amp; <mark>café</mark>&quot;)')
    expect(shown.length).toBeLessThan(300)
  })

  test('mark the original characters when the normal form is another', async () => {
    const { hits } = await (
      await indexOf([{ url: 'https://a.example/', text: '㍿ ｶﾞｲﾄﾞ と ＴＥＡ です' }])
    ).search('tea ガイド')
    const { text, ranges } = hits[0]!.snippet!
    expect(ranges.map(([start, end]) => text.slice(start, end))).toEqual(['ｶﾞｲﾄﾞ', 'ＴＥＡ'])
  })
})

describe('documents that are unusual', () => {
  test.each<[string, string]>([
    ['8 MB', 'lorem ipsum dolor '.repeat(450_000)],
    ['one word repeated', 'again '.repeat(200_000)],
    [
      'binary',
      Buffer.from(Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 256)).toString('latin1'),
    ],
    ['one long word', 'x'.repeat(1_000_000)],
    ['nothing', ''],
  ])('%s', async (_, text) => {
    const found = await indexOf([{ url: 'https://a.example/', title: 'needle', text }])
    expect((await found.search('needle')).total).toBe(1)
    await found.search(text.slice(0, 20))
    await found.verify()
    expect((await found.get('https://a.example/'))?.sections[0]?.text).toBe(text)
  })
})

describe('near-duplicates', () => {
  test('count once, and are named', async () => {
    const body = Array.from(
      { length: 40 },
      (_, at) => `Sentence ${at} about subject ${at % 7} and more words${at}.`,
    )
    const other = Array.from(
      { length: 40 },
      (_, at) => `Another ${at} text about things ${at % 5} of others${at}.`,
    )
    const found = await indexOf([
      { url: 'https://a.example/1', title: 'Copy', text: body.join(' ') },
      { url: 'https://b.example/2', title: 'Copy', text: `${body.join(' ')} Printed 2026-01-01.` },
      { url: 'https://c.example/3', title: 'Copy', text: other.join(' ') },
    ])
    const { hits } = await found.search('copy')
    expect(hits).toHaveLength(2)
    expect(hits.flatMap(({ duplicates }) => duplicates)).toHaveLength(1)
  })
})
