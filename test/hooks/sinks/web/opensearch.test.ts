import { opensearch } from 'kumo/sinks'
import { describe, expect, test } from 'vitest'
import { pageNumber, writeAll } from '../support.js'
import { openSearchDouble } from './doubles.js'

const quick = { retry: { first: 1, most: 5, attempts: 5 } }

describe('opensearch', () => {
  test('keeps a document for each page, deletes those that are gone, and leaves unchanged ones', async () => {
    const { url, indexes, asked } = await openSearchDouble()
    const address = url.replace('http://', 'http://user:p%40ss@')
    await writeAll(opensearch(address, { index: 'docs' }), [
      pageNumber(1, { data: { tags: ['a'] } }),
      pageNumber(2),
      pageNumber(3),
    ])
    await writeAll(opensearch(address, { index: 'docs' }), [
      pageNumber(1, { change: 'unchanged' }),
      pageNumber(2, { change: 'gone' }),
      pageNumber(3, { change: 'changed', title: 'New' }),
      pageNumber(4, { change: 'gone' }),
      pageNumber(5, { change: 'unchanged' }),
    ])
    const docs = [...indexes.get('docs')!.values()].sort((a, b) => String(a.url).localeCompare(String(b.url)))
    expect(docs).toMatchObject([
      {
        url: 'https://example.com/1',
        title: 'Page 1',
        text: 'The text of page 1.',
        change: 'unchanged',
        status: 304,
        data: { tags: ['a'] },
      },
      { url: 'https://example.com/3', title: 'New', change: 'changed' },
    ])
    expect(asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`)
  })

  test('a document that the index refuses is a dead letter', async () => {
    const reasons: string[] = []
    const refused = {
      status: 400,
      body: { type: 'mapper_parsing_exception', reason: 'failed to parse field [data.n]' },
    }
    const { url, indexes } = await openSearchDouble((doc) => (doc.title === 'Page 2' ? refused : undefined))
    const hook = opensearch(url, { dead: { report: ({ url, reason }) => reasons.push(`${url} ${reason}`) } })
    await writeAll(hook, [pageNumber(1), pageNumber(2), pageNumber(3)])
    expect(reasons).toEqual([
      'https://example.com/2 status 400: mapper_parsing_exception: failed to parse field [data.n]',
    ])
    expect(indexes.get('pages')?.size).toBe(2)
  })

  test('a server that is busy for some documents gets all of them again', async () => {
    const busy = { status: 429, body: { type: 'es_rejected_execution_exception', reason: 'rejected' } }
    const { url, indexes, asked } = await openSearchDouble((doc, count) =>
      doc.title === 'Page 2' && count < 3 ? busy : undefined,
    )
    const hook = opensearch(url, quick)
    await writeAll(hook, [pageNumber(1), pageNumber(2)])
    expect(asked).toHaveLength(3)
    expect(hook.stats()).toMatchObject({ written: 2, retries: 2, dead: 0 })
    expect(indexes.get('pages')?.size).toBe(2)
  })

  test.each<[() => unknown, string]>([
    [() => opensearch('localhost:9200'), "opensearch: got 'localhost:9200'; allowed: a URL such as"],
    [() => opensearch('http://x', { index: '' }), "opensearch.index: got ''"],
    [
      () => opensearch('http://x', { headers: { a: 1 } as never }),
      'opensearch.headers.a: got 1; allowed: a text',
    ],
  ])('%s', (make, message) => {
    expect(make).toThrow(message)
  })
})
