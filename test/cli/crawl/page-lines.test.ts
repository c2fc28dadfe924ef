import type { Failure, Page } from 'kumo'
import { describe, expect, test } from 'vitest'
import { failureLine, pageJson, pageLine } from '../../../src/cli/crawl/page-lines.js'

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
      '{"id":"0123456789abcdef","url":"https://example.com/a","change":"new","status":200,"title":"A page","depth":1,' +
        '"parent":"https://example.com/","mediaType":"text/html","bytes":1234,' +
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
})
