import { describe, expect, it } from 'vitest'
import { indexLine, readIndexLine, timestamp, urlKey } from '../../../src/warc/format/cdxj.js'

describe('the key of a URL', () => {
  it.each([
    ['https://www.example.com/B?y=1&x=2', 'com,example)/b?x=2&y=1'],
    ['http://example.com/', 'com,example)/'],
    ['http://example.com', 'com,example)/'],
    ['http://example.com:80/a', 'com,example)/a'],
    ['https://example.com:80/a', 'com,example:80)/a'],
    ['http://www2.example.co.uk:8080/a#b', 'uk,co,example:8080)/a'],
    ['http://[::1]/', 'http://[::1]/'],
    ['dns:example.com', 'dns:example.com'],
  ])('%s', (url, key) => {
    expect(urlKey(url)).toBe(key)
  })
})

const ENTRY = {
  url: 'https://example.com/a?b',
  date: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  mime: 'text/html',
  status: 200,
  digest: 'sha1:ABC',
  length: 10,
  offset: 20,
  filename: 'x.warc.gz',
}

describe('a line', () => {
  it('says what it was made from', () => {
    const line = indexLine(ENTRY)
    expect(line).toMatch(/^com,example\)\/a\?b 20260102030405 \{"url":"https:\/\/example\.com\/a\?b",/)
    const { filename, mime: _, ...rest } = ENTRY
    expect(readIndexLine(line, (name) => name)).toEqual({
      ...rest,
      file: filename,
      method: 'GET',
      isRevisit: false,
    })
    expect(timestamp(ENTRY.date)).toBe('20260102030405')
  })

  it.each([
    '',
    'nonsense',
    'com,example)/ 2026 {',
    'com,example)/ 2026 {"url":1}',
    ' CDX N b a m s k r M S V g',
  ])('%j is none', (line) => {
    expect(readIndexLine(line, (name) => name)).toBeUndefined()
  })
})
