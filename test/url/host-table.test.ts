/** Which rule applies to a host, as tables. */

import { describe, expect, test } from 'vitest'
import { hostPattern, hostTable } from '../../src/url/host-table.js'

test.each([
  ['example.com', 'example.com'],
  ['EXAMPLE.com', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['*.Example.com', '*.example.com'],
  ['example.com:8080', 'example.com:8080'],
  ['*.example.com:8080', '*.example.com:8080'],
  ['127.0.0.1:3000', '127.0.0.1:3000'],
  ['[::1]:3000', '[::1]:3000'],
  ['::1', '[::1]'],
  ['localhost', 'localhost'],
  ['', undefined],
  ['*', undefined],
  ['*.', undefined],
  ['a.*.example', undefined],
  ['*a.example', undefined],
  ['https://example.com', undefined],
  ['example.com/path', undefined],
  ['user@example.com', undefined],
  ['example.com:443', undefined],
  ['example.com:80', undefined],
  ['example.com:99999', undefined],
  ['exa mple.com', undefined],
])('%j is the pattern %j', (written, pattern) => {
  expect(hostPattern(written)).toBe(pattern)
})

describe('the most specific rule', () => {
  const rules = [
    { pattern: '*.org', name: 'org', size: 1 },
    { pattern: 'a.example.org', name: 'exact' },
    { pattern: '*.example.org', name: 'wild', size: 2, headers: { a: 'wild', b: 'wild' } },
    { pattern: '*.example.org:81', name: 'wild with port' },
    { pattern: 'a.example.org:81', headers: { a: 'port' } },
    { pattern: '*.deep.example.org', size: 3 },
  ]
  const of = hostTable<{ pattern: string; name?: string; size?: number; headers?: Record<string, string> }>(
    rules,
  )

  test.each([
    ['other.net', undefined],
    ['org', undefined],
    ['example.org', { name: 'org', size: 1 }],
    ['b.example.org', { name: 'wild', size: 2, headers: { a: 'wild', b: 'wild' } }],
    ['badexample.org', { name: 'org', size: 1 }],
    ['a.example.org', { name: 'exact', size: 2, headers: { a: 'wild', b: 'wild' } }],
    ['a.example.org:82', { name: 'exact', size: 2, headers: { a: 'wild', b: 'wild' } }],
    ['a.example.org:81', { name: 'exact', size: 2, headers: { a: 'port', b: 'wild' } }],
    ['b.example.org:81', { name: 'wild with port', size: 2 }],
    ['x.deep.example.org', { name: 'wild', size: 3 }],
  ])('for %s', (host, expected) => {
    if (expected === undefined) expect(of(host)).toBeUndefined()
    else expect(of(host)).toMatchObject(expected)
    expect(of(host), 'the same again').toBe(of(host))
  })

  test('is the same whatever the order, and of the same pattern the last', () => {
    const reversed = hostTable([...rules].reverse())
    for (const host of ['a.example.org', 'a.example.org:81', 'x.deep.example.org'])
      expect({ ...reversed(host), pattern: '' }).toEqual({ ...of(host), pattern: '' })
    const twice = hostTable([
      { pattern: 'a', size: 1, name: 'first' },
      { pattern: 'a', size: 2 },
    ] as { pattern: string; size: number; name?: string }[])
    expect(twice('a')).toMatchObject({ size: 2, name: 'first' })
  })
})
