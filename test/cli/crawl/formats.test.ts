import type { Failure, Page } from 'kumo'
import { describe, expect, test } from 'vitest'
import { readFields } from '../../../src/cli/crawl/fields.js'
import { csv, jsonLines, TEXT } from '../../../src/cli/crawl/formats.js'
import { fileOf, markdown } from '../../../src/cli/crawl/markdown.js'

const { page: pageLine, failure: failureLine } = TEXT
const { page: pageJson, failure: failureJson } = jsonLines(undefined)

const page = (more: Partial<Page> = {}) =>
  ({
    id: '0123456789abcdef',
    url: 'https://example.com/a',
    change: 'new',
    status: 200,
    title: 'A page',
    depth: 1,
    parent: 'https://example.com/',
    mediaType: 'text/html',
    wireBytes: 1234,
    request: { method: 'GET', label: 'list', data: undefined, priority: 0 },
    fetchedAt: 1_735_787_045_678.9,
    ...more,
  }) as Page

const failure = (more: Partial<Failure> = {}): Failure => ({
  url: 'https://example.com/gone',
  code: 'http-status',
  message: 'example.com answered with status 404',
  status: 404,
  attempt: 0,
  final: true,
  parent: undefined,
  depth: 0,
  redirectedFrom: [],
  request: { method: 'GET', label: undefined, data: undefined, priority: 0 },
  ...more,
})

describe('text', () => {
  test.each<[line: string, expected: string]>([
    [pageLine(page()), '200  https://example.com/a  A page'],
    [pageLine(page({ title: '' })), '200  https://example.com/a'],
    [pageLine(page({ title: 'a\x1b]0;b\x07' })), '200  https://example.com/a  a�]0;b�'],
    [pageLine(page({ title: 'x'.repeat(101) })), `200  https://example.com/a  ${'x'.repeat(99)}…`],
    [pageLine(page({ change: 'changed' })), '200  https://example.com/a  A page  (changed)'],
    [pageLine(page({ change: 'gone', status: 0, title: '' })), '---  https://example.com/a  (gone)'],
    [failureLine(failure()), '404  https://example.com/gone  failed: http-status'],
    [
      failureLine(failure({ status: undefined, code: 'timeout', message: 'no answer\nin 30 s' })),
      '---  https://example.com/gone  failed: timeout: no answer�in 30 s',
    ],
  ])('%s', (line, expected) => {
    expect(line).toBe(expected)
  })
})

describe('JSON', () => {
  test('always has every key', () => {
    expect(pageJson(page())).toBe(
      '{"type":"page","id":"0123456789abcdef","url":"https://example.com/a","change":"new","status":200,"title":"A page","depth":1,' +
        '"parent":"https://example.com/","label":"list","mediaType":"text/html","bytes":1234,' +
        '"fetchedAt":"2025-01-02T03:04:05.678Z"}',
    )
    expect(JSON.parse(pageJson(page({ parent: undefined })))).toHaveProperty('parent', null)
  })

  test('is one line without control characters, and keeps the title', () => {
    const title = 'a\n\x1b[31m\x7f\x9b2J\u2028"é'
    const line = pageJson(page({ title }))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not appear
    expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/)
    expect(JSON.parse(line)).toHaveProperty('title', title)
  })

  test('failures are lines too, unless chosen fields leave out the type', () => {
    expect(JSON.parse(failureJson!(failure()))).toMatchObject({
      type: 'failure',
      code: 'http-status',
      status: 404,
    })
    const both = jsonLines(readFields('type,url,title,code'))
    expect(both.page(page())).toBe(
      '{"type":"page","url":"https://example.com/a","title":"A page","code":null}',
    )
    expect(both.failure!(failure())).toBe(
      '{"type":"failure","url":"https://example.com/gone","title":null,"code":"http-status"}',
    )
    expect(jsonLines(readFields('url,title')).failure).toBeUndefined()
  })
})

describe('CSV', () => {
  const rows = csv(readFields('url,title,redirectedFrom,status,headers.ETag'))
  const headers = new Map([['etag', '"1"']])

  test('quotes what needs it', () => {
    expect(rows.header).toBe('url,title,redirectedFrom,status,headers.ETag')
    const odd = { title: 'a, "b"\r\nc\x1b', redirectedFrom: ['https://a.example/'], headers } as Partial<Page>
    expect(rows.page(page(odd))).toBe(
      'https://example.com/a,"a, ""b""\r\nc\ufffd","[""https://a.example/""]",200,"""1"""',
    )
  })

  test('has rows of failures with the same columns', () => {
    expect(csv().failure!(failure({ message: 'no, not there' })).split(',').length).toBe(
      csv().header!.split(',').length + 1,
    )
  })
})

describe('Markdown', () => {
  test('has front matter that no value can break', () => {
    const title = '---\nurl: "x"\x1b'
    const text = markdown().page(page({ title, markdown: '# A\n\x1b' }))
    expect(text).toBe(
      '---\nurl: "https://example.com/a"\ntitle: "---\\nurl: \\"x\\"\\u001b"\nfetchedAt: "2025-01-02T03:04:05.678Z"\n---\n\n# A\n\ufffd\n',
    )
  })

  test.each([
    ['https://example.com/', 'example.com/index.md'],
    ['https://example.com:8080/docs/', 'example.com_8080/docs/index.md'],
    ['https://example.com/docs/intro.html', 'example.com/docs/intro.html.md'],
    ['https://example.com/a?b=1', 'example.com/a-0123456789abcdef.md'],
    ['https://example.com/a*b', 'example.com/a_b-0123456789abcdef.md'],
    ['https://example.com/a.md/b', 'example.com/a.md_/b.md'],
    ['https://example.com//%2e%2e%2fb', 'example.com/_/%2e%2e%2fb-0123456789abcdef.md'],
  ])('the file of %s is %s', (url, file) => {
    expect(fileOf(page({ url })).join('/')).toBe(file)
  })
})
