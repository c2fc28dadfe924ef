/** Several indexes searched as one: the same hits, order and scores as one index of all documents. */

import { createServer } from 'node:net'
import {
  openIndex,
  openWriter,
  type SearchDocument,
  type SearchIndex,
  type SearchOptions,
  type SearchResult,
  searchHandler,
} from 'kumo/search'
import { describe, expect, onTestFinished, test } from 'vitest'
import { indexOf, madeDocuments, madeQueries } from '../corpus.js'
import { folderOf, served, serverOf } from './served.js'

const FIELDS = { kind: 'keyword', level: 'number', day: 'date', note: 'text' } as const
const KINDS = ['guide', 'reference', 'news']
const JAPANESE = [
  '東京都の天気は晴れ。',
  '検索エンジンは日本語を扱う。',
  '京都は古い都です。',
  '都の条例について。',
]

/** 240 documents of four hosts with fields, in two languages, some of them copies of others. */
function documents(): SearchDocument[] {
  const made = ['a', 'b', 'c', 'd'].flatMap((name, seed) => madeDocuments(55, seed + 1, `${name}.example`))
  const japanese = Array.from(
    { length: 16 },
    (_, at): SearchDocument => ({
      url: `https://ja.example/${at}`,
      title: `日本語 ${at}`,
      language: 'ja',
      text: JAPANESE[at % JAPANESE.length]!.repeat(1 + (at % 3)),
    }),
  )
  const copies = made.slice(0, 4).map((each) => ({ ...each, url: `${each.url}?copy` }))
  return [...made, ...japanese, ...copies].map((each, at) => ({
    ...each,
    language: each.language ?? (at % 5 === 0 ? 'de' : 'en'),
    date: Date.UTC(2026, 0, 1 + (at % 200)),
    fields: {
      kind: KINDS.filter((_, kind) => (at + kind) % 2 === 0),
      level: at % 7,
      day: `2026-03-${String(1 + (at % 28)).padStart(2, '0')}`,
      note: at % 3 === 0 ? 'karitenluso' : 'other',
    },
  }))
}

/** Document `at` goes to one of three, unevenly. */
const partOf = (at: number) => (at % 10 < 7 ? 0 : at % 10 < 9 ? 1 : 2)

async function both(): Promise<{ readonly whole: SearchIndex; readonly merged: SearchIndex }> {
  const all = documents()
  const addresses = await Promise.all(
    [0, 1, 2].map(async (part) =>
      served(
        await folderOf(
          all.filter((_, at) => partOf(at) === part),
          { fields: FIELDS },
        ),
      ),
    ),
  )
  const merged = await openIndex(addresses)
  onTestFinished(() => merged.close())
  return { whole: await indexOf(all, { fields: FIELDS }, 50), merged }
}

const untimed = ({ tookMs: _, ...result }: SearchResult) => result

describe('three served indexes and one of all documents', () => {
  test('find the same for many queries, with the same scores, in the same order', async () => {
    const { whole, merged } = await both()
    const queries = [
      ...madeQueries(40),
      ...madeQueries(10, 7).map((query) => `"${query}"`),
      ...madeQueries(10, 8).map((query) => `${query} -${madeQueries(1, 9)[0]}`),
      ...[
        '京都',
        '検索エンジン',
        '都',
        '日本語　天気',
        'note:karitenluso',
        'kind:guide',
        'level:2..4 lang:de',
        '',
      ],
      ...[
        'site:a.example',
        'kari*',
        'karitenlusu',
        'nowhere kari',
        'title:kari',
        '!!!',
        'kari after:2026-03-01',
      ],
    ]
    for (const query of queries)
      expect({ query, ...untimed(await merged.search(query)) }).toEqual({
        query,
        ...untimed(await whole.search(query)),
      })
  })

  const OPTIONS: readonly SearchOptions[] = [
    { limit: 3, offset: 5 },
    { limit: 200 },
    { facets: ['host', 'language', 'kind'] },
    { groupBy: 'none', limit: 30 },
    { groupBy: 'host', facets: ['host'] },
    { groupBy: 'kind' },
    { sort: 'level' },
    { sort: { by: 'date', order: 'ascending' } },
    { filters: { kind: ['guide', 'news'], level: { min: 2, max: 5 } } },
    { filters: { day: { min: new Date('2026-03-10') }, date: { max: '2026-05-01' } } },
    { perHost: 1 },
    { highlight: false },
    { fuzzy: true },
    { fuzzy: false },
    { prefix: true },
    { boosts: { title: 9, note: 3 } },
  ]
  test('find the same with every option', async () => {
    const { whole, merged } = await both()
    for (const options of OPTIONS)
      for (const query of ['kari', 'ten mo', 'karii', '京都'])
        expect({ query, options, ...untimed(await merged.search(query, options)) }).toEqual({
          query,
          options,
          ...untimed(await whole.search(query, options)),
        })
  })

  test('complete words, find similar documents, and return documents alike', async () => {
    const { whole, merged } = await both()
    for (const typed of ['k', 'ten mo', 'kari te', '京', '', '"ka'])
      expect(await merged.suggest(typed)).toEqual(await whole.suggest(typed))
    for (const { url } of documents().slice(0, 40)) {
      expect(untimed(await merged.similar(url))).toEqual(untimed(await whole.similar(url)))
      expect(await merged.get(url)).toEqual(await whole.get(url))
    }
    expect(await merged.get('https://nowhere.example/')).toBeUndefined()
    const { documents: count, sections } = await whole.stats()
    expect(await merged.stats()).toMatchObject({ documents: count, sections })
  })

  test('read synonyms alike', async () => {
    const all = documents()
    const parts = [all.slice(0, 100), all.slice(100), all]
    const [one, two, three] = await Promise.all(parts.map((each) => folderOf(each, { fields: FIELDS })))
    const options = { synonyms: [['kari', 'mo']] }
    const merged = await openIndex([one!, await served(two!)], options)
    const whole = await openIndex(three!, options)
    expect(untimed(await merged.search('kari'))).toEqual(untimed(await whole.search('kari')))
    await Promise.all([merged.close(), whole.close()])
  })
})

describe('what changes', () => {
  test('is found by the next search, in a folder and behind an address', async () => {
    const [one, two] = [await folderOf(madeDocuments(5)), await folderOf(madeDocuments(5, 2, 'b.example'))]
    const index = await openIndex([one, await served(two)])
    for (const folder of [one, two]) {
      const writer = await openWriter(folder, { sync: false })
      await writer.put({ url: `https://new.example/${folder}`, text: 'zebra' })
      await writer.close()
    }
    expect((await index.search('zebra')).total).toBe(2)
    await index.close()
  })

  test('during a search makes it begin again, so that it sees one commit of each index', async () => {
    const folder = await folderOf(madeDocuments(5))
    let asked = 0
    const address = await served(folder, async () => {
      if (++asked > 6) return
      const writer = await openWriter(folder, { sync: false })
      await writer.put({ url: `https://new.example/${asked}`, text: 'zebra' })
      await writer.close()
    })
    const index = await openIndex(address)
    const { total, hits } = await index.search('zebra')
    expect([total, hits.length]).toEqual([6, 6])
    await index.close()
  })

  test('a document that two indexes have is found once', async () => {
    const document = { url: 'https://example.com/', text: 'zebra' }
    const index = await openIndex([await folderOf([document]), await folderOf([document])])
    expect((await index.search('zebra')).hits).toHaveLength(1)
    expect((await index.search('zebra', { groupBy: 'host' })).total).toBe(1)
    await index.close()
  })
})

describe('an index that does not answer', () => {
  const DOCUMENT = { url: 'https://example.com/', text: 'zebra' }
  const BAD: readonly [string, () => Promise<string>, RegExp][] = [
    ['silent', () => serverOf(() => {}), /no answer within 200 ms/],
    ['another server', () => serverOf((_, response) => void response.writeHead(404).end('no')), /status 404/],
    ['no JSON', () => serverOf((_, response) => void response.end('<html>')), /JSON/],
    ['closed', closedPort, /ECONNREFUSED/],
  ]
  test.each(BAD)('%s: the search fails, or says what is missing', async (_, start, message) => {
    const folder = await folderOf([DOCUMENT])
    const address = await start()
    await expect(openIndex([folder, address], { timeout: 200 })).rejects.toMatchObject({
      code: 'KUMO_INDEX_UNREACHABLE',
      message: expect.stringMatching(message),
    })
    const index = await openIndex([folder, address], { timeout: 200, partial: true })
    const { hits, missing } = await index.search('zebra')
    expect([hits.length, missing]).toEqual([1, [address]])
    await index.close()
    await expect(openIndex(address, { timeout: 200, partial: true })).rejects.toMatchObject({
      code: 'KUMO_INDEX_UNREACHABLE',
    })
  })

  test('comes back', async () => {
    const folder = await folderOf([DOCUMENT])
    let isDown = false
    const address = await served(folder, () => (isDown ? new Promise(() => {}) : Promise.resolve()))
    const index = await openIndex([await folderOf([]), address], { timeout: 300, partial: true })
    expect(await index.search('zebra')).toMatchObject({ total: 1, missing: [] })
    isDown = true
    expect(await index.search('zebra')).toMatchObject({ total: 0, missing: [address] })
    isDown = false
    expect(await index.search('zebra')).toMatchObject({ total: 1, missing: [] })
    await index.close()
  })

  test('a password goes into a header, and not into messages', async () => {
    let authorization: string | undefined
    const address = await serverOf((request, response) => {
      authorization = request.headers.authorization
      response.writeHead(401).end()
    })
    const error = await openIndex(address.replace('//', '//me:secret@')).catch((thrown: unknown) => thrown)
    expect(String(error)).toMatch(/status 401/)
    expect(String(error)).not.toMatch(/secret/)
    expect(authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`)
  })
})

describe('what is refused', () => {
  test('indexes with different fields, and two times the same', async () => {
    const one = await folderOf([])
    const other = await folderOf([], { fields: { price: 'number' } })
    await expect(openIndex([one, other])).rejects.toMatchObject({ code: 'KUMO_INDEX_MISMATCH' })
    for (const wrong of [[one, one], [], [''], ['http://'], 'http://:99999/'])
      await expect(openIndex(wrong)).rejects.toMatchObject({ code: 'KUMO_INVALID_OPTION' })
    await expect(openIndex([one], { timeout: 0 })).rejects.toMatchObject({ code: 'KUMO_INVALID_OPTION' })
  })

  test('functions that cannot be sent, and options that one index refuses too', async () => {
    const index = await openIndex([await folderOf([]), await folderOf([])])
    for (const options of [
      { score: () => 1 },
      { limit: -1 },
      { filters: { nothing: 1 } },
      { sort: 'nothing' },
    ])
      await expect(index.search('kari', options)).rejects.toMatchObject({ code: 'KUMO_INVALID_OPTION' })
    await index.close()
    await expect(index.search('kari')).rejects.toMatchObject({ code: 'KUMO_INDEX_FAILED' })
  })

  test('questions that nobody asks', async () => {
    const index = await openIndex(await folderOf([]))
    onTestFinished(() => index.close())
    const handler = searchHandler(index)
    const ask = async (body: unknown, method = 'POST') => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const init = method === 'POST' ? { method, body: text } : { method }
      return (await handler(new Request('http://localhost/part.json', init))).status
    }
    const { version } = (
      (await (
        await handler(
          new Request('http://localhost/part.json', {
            method: 'POST',
            body: JSON.stringify({ protocol: 1, method: 'describe', asked: {} }),
          }),
        )
      ).json()) as { answer: { version: string } }
    ).answer
    const lookups = Array.from({ length: 2000 }, () => ({ kind: 'near', term: 'karitenlu' }))
    expect(await ask('{}', 'GET')).toBe(405)
    expect(await ask('no JSON')).toBe(400)
    expect(await ask('null')).toBe(400)
    expect(await ask({ protocol: 2, method: 'describe', asked: {} })).toBe(400)
    expect(await ask({ protocol: 1, method: 'constructor', asked: {} })).toBe(400)
    expect(await ask({ protocol: 1, method: 'terms', asked: { version, lookups } })).toBe(400)
    expect(await ask({ protocol: 1, method: 'terms', asked: { version } })).toBe(400)
    expect(await ask({ protocol: 1, method: 'hits', asked: { version, places: [[9, 9, 9]] } })).toBe(400)
    expect(await ask({ protocol: 1, method: 'collect', asked: { version, most: 1e9 } })).toBe(400)
    expect(await ask(' '.repeat(5 * 1024 * 1024))).toBe(413)
  })
})

async function closedPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}
