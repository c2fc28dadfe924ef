/** Requests and hosts are read as they were written, whatever stands in them. */

import type { CrawlRequest } from 'kumo'
import { describe, expect, test } from 'vitest'
import { EXTRAS } from '../../../../src/conformance/frontier/fixtures.js'
import {
  type HostRecord,
  readHost,
  readRequest,
  writeHost,
  writeRequest,
} from '../../../../src/stores/level/format/records.js'

const PLAIN: CrawlRequest = {
  url: 'https://a.example/',
  host: 'a.example',
  depth: 1,
  priority: 0,
  attempt: 0,
  redirects: 0,
  parent: undefined,
}

const of = (more: Partial<CrawlRequest>): CrawlRequest => ({ ...PLAIN, ...more })

const REQUESTS: readonly (readonly [string, CrawlRequest])[] = [
  ['a plain one', PLAIN],
  ['a seed', of({ depth: 0 })],
  ['http', of({ url: 'http://a.example/x' })],
  ['with a parent of its own host', of({ parent: 'https://a.example/parent?q=1' })],
  ['with a parent of its host by http', of({ parent: 'http://a.example/' })],
  ['with a parent elsewhere', of({ parent: 'https://b.example/p' })],
  ['with a parent whose host begins the same', of({ parent: 'https://a.example.org/p' })],
  ['with a parent on another port', of({ parent: 'https://a.example:8443/p' })],
  [
    'with a port',
    of({ url: 'http://127.0.0.1:8080/x', host: '127.0.0.1:8080', parent: 'http://127.0.0.1/' }),
  ],
  [
    'with an address of version 6',
    of({ url: 'http://[::1]:81/x', host: '[::1]:81', parent: 'http://[::1]:81/' }),
  ],
  ['with a colon in its path', of({ url: 'https://a.example/:x/:y' })],
  ['with two slashes', of({ url: 'https://a.example//b.example/' })],
  ['with a URL in its query', of({ url: 'https://a.example/?u=https://a.example/%0A' })],
  ['with spaces and escapes', of({ url: 'https://a.example/%20%00?a=%5C"\'' })],
  ['beyond ASCII', of({ url: 'https://a.example/ü/🕸', parent: 'https://a.example/日本' })],
  ['very long', of({ url: `https://a.example/${'x'.repeat(100_000)}` })],
  ['tried and redirected', of({ attempt: 3, redirects: 2 })],
  ['tried only', of({ attempt: 1 })],
  ['redirected only', of({ redirects: 1, via: ['https://b.example/', 'https://c.example/\n'] })],
  ['with a priority', of({ priority: 5 })],
  ['with a small priority', of({ priority: -0.001 })],
  ['a sitemap', of({ purpose: { kind: 'sitemap', nested: 2, of: 'b.example', guessed: true } })],
  ['the rules of another origin', of({ purpose: { kind: 'robots', origin: 'https://b.example' } })],
  ['with a hint', of({ hint: { lastmod: 1e12, changefreq: 'daily', priority: 0.5 } })],
  ['with an endless priority', of({ priority: Number.POSITIVE_INFINITY })],
  ...EXTRAS.map((extras) => [`with ${JSON.stringify(extras)}`, of({ extras })] as const),
  [
    'with everything',
    of({
      url: 'http://a.example/x',
      depth: 70_000,
      priority: 1e9,
      attempt: 2,
      redirects: 9,
      parent: 'http://a.example/y',
      purpose: { kind: 'sitemap', nested: 0, of: 'a.example' },
      via: ['http://a.example/z'],
      hint: { lastmod: 0 },
      extras: {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: 'one\nd{"two":2}\nx\n',
        label: '\n',
        data: '"\\n"',
        outside: 3,
      },
    }),
  ],
]

describe('a request', () => {
  test.for(REQUESTS)('%s', ([, request]) => {
    for (const at of [undefined, 1_700_000_000_000.25]) {
      const read = readRequest(writeRequest(request, at), request.host)
      expect(read).toEqual({ request, at })
    }
  })

  test('a plain one takes little more than its path', () => {
    const request = of({ url: 'https://a.example/some/path', parent: 'https://a.example/' })
    expect(writeRequest(request).length).toBeLessThan(20)
  })

  test('a label and data take no more than two bytes each', () => {
    const extras = { label: 'list', data: '{"a":"\\"quoted\\" and \\n"}' }
    const more = Buffer.byteLength(writeRequest(of({ extras }))) - Buffer.byteLength(writeRequest(PLAIN))
    expect(more).toBe(extras.label.length + extras.data.length + 4)
  })

  test('records of format 3 can be read', () => {
    const rare = { priority: 5, at: 1_700_000_000_000.5, via: ['https://b.example/'], revisit: true }
    const { at, ...fields } = rare
    const request = of({ ...fields, url: 'https://a.example/x', parent: 'https://a.example/' })
    expect(readRequest(`1\n/x\n/\n${JSON.stringify(rare)}`, 'a.example')).toEqual({ request, at })
  })

  test('what is no request is not taken for one', () => {
    expect(() => readRequest('', 'a.example')).toThrow('not a request')
    expect(() => readRequest('1\n/x', 'a.example')).toThrow('not a request')
    expect(() => readRequest('1\n/x\n\nz', 'a.example')).toThrow('not a request')
    expect(() => readRequest('1\n/x\n\npx', 'a.example')).toThrow('not a request')
  })
})

const HOST: HostRecord = { resting: [], notBefore: 0, delayMs: 0, trouble: undefined, hasLater: false }

const HOSTS: readonly (readonly [string, HostRecord])[] = [
  ['never visited', HOST],
  ['resting', { ...HOST, resting: [1_700_000_000_000.5, 1_700_000_001_000] }],
  ['backing off', { ...HOST, notBefore: 1_700_000_000_000.125 }],
  ['slow', { ...HOST, delayMs: 30_000 }],
  ['in trouble', { ...HOST, trouble: { incidents: 3, since: 1_700_000_000_000 } }],
  ['with requests for later', { ...HOST, hasLater: true }],
]

test.for(HOSTS)('a host: %s', ([, host]) => {
  expect(readHost(writeHost(host))).toEqual(host)
})

test('a host that was never visited takes no bytes', () => {
  expect(writeHost(HOST)).toBe('')
})
