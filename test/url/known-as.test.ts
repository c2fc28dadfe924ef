/** Names of requests: the URL for a GET, and something else for everything that is not that page. */

import type { CrawlRequest } from 'kumo'
import { expect, test } from 'vitest'
import { PartitionLookup } from '../../src/seen/partition-lookup.js'
import { knownAs, urlIn } from '../../src/url/known-as.js'

const url = 'https://a.example/form?q=POST 0123456789abcdef https://b.example/'

const SAME: CrawlRequest['extras'][] = [
  undefined,
  { label: 'a' },
  { label: 'b', data: '{"a":1}' },
  { headers: { accept: '*/*' } },
  { method: 'GET' },
]

const DIFFERENT: CrawlRequest['extras'][] = [
  { method: 'HEAD' },
  { method: 'POST' },
  { method: 'POST', body: 'q=1' },
  { method: 'POST', body: 'q=2' },
  { method: 'PUT', body: 'q=1' },
  { method: 'POST', body: 'aGk=' },
  { method: 'POST', body: 'aGk=', binary: true },
  { method: "X!#$%&'*+.^_`|~-9", body: '' },
]

test('a GET is known by its URL, whatever else it has', () => {
  for (const extras of SAME) expect(knownAs({ url, extras })).toBe(url)
})

test('another method, or another body, is another name of the same URL', () => {
  const names = DIFFERENT.map((extras) => knownAs({ url, extras }))
  expect(new Set([...names, url]).size).toBe(names.length + 1)
  for (const name of [...names, url]) expect(urlIn(name)).toBe(url)
})

test('headers, label and data are no part of a name', () => {
  const posted = { method: 'POST', body: 'q=1' }
  expect(knownAs({ url, extras: { ...posted, label: 'a', data: '1', headers: { a: 'b' } } })).toBe(
    knownAs({ url, extras: posted }),
  )
})

test('names of all kinds are in the partition of their host', () => {
  const asked: string[] = []
  const lookup = new PartitionLookup((host) => asked.push(host))
  const purpose = { kind: 'sitemap', nested: 0, of: 'a.example' } as const
  for (const extras of [...DIFFERENT, undefined]) lookup.partitionOf(knownAs({ url, extras }))
  lookup.partitionOf(knownAs({ url, purpose }))
  expect(new Set(asked)).toEqual(new Set(['a.example']))
})
