import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { EXTRAS } from '../../../src/conformance/frontier/fixtures.js'
import { type Random, seededRandom } from '../../../src/time.js'
import type { CrawlRequest } from '../../../src/types.js'
import { BatchWriter, readBatch } from '../../../src/workers/exchange/codec.js'

function written(requests: readonly CrawlRequest[]): string {
  const writer = new BatchWriter()
  for (const request of requests) writer.add(request)
  return writer.take()
}

function request(url: string, more: Partial<CrawlRequest> = {}): CrawlRequest {
  const host = /^https?:\/\/([^/]+)\//.exec(url)?.[1] ?? ''
  return { url, host, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined, ...more }
}

function expectRoundTrip(requests: readonly CrawlRequest[]): void {
  expect(readBatch(written(requests))).toEqual(requests)
}

describe('a batch', () => {
  it('is nothing for nothing', () => {
    expect(written([])).toBe('')
    expect(readBatch('')).toEqual([])
  })

  it('costs the path of a plain request, once the host and the page have been named', () => {
    const page = { depth: 2, parent: 'https://example.com/' }
    const requests = [
      request('https://example.org/', page),
      request('https://example.org/a', page),
      request('https://example.org/b?x=1', page),
      request('http://example.org/b', page),
      request('http://example.org:8080/c', { depth: 2, parent: 'https://example.com/next' }),
      request('http://example.org:8080/d', { depth: 0 }),
    ]
    expect(written(requests).split('\n')).toEqual([
      '>2 https://example.com/',
      'https://example.org/',
      '/a',
      '/b?x=1',
      'http://example.org/b',
      '>2 https://example.com/next',
      'http://example.org:8080/c',
      '>0',
      '/d',
    ])
    expectRoundTrip(requests)
  })

  it('carries what a program asked for, between plain requests', () => {
    const page = { depth: 2, parent: 'https://example.com/' }
    expectRoundTrip(
      EXTRAS.flatMap((extras, i) => [
        request(`https://example.org/${i}`, { ...page, extras, priority: i }),
        request(`https://example.org/plain/${i}`, page),
        request(`https://example.org/later/${i}`, { ...page, extras, notBefore: 1_700_000_000_000.5 + i }),
      ]),
    )
  })

  it('depends on no other', () => {
    const writer = new BatchWriter()
    const one = request('https://example.org/a', { depth: 3, parent: 'https://example.com/' })
    const two = request('https://example.org/b', { depth: 3, parent: 'https://example.com/' })
    const three = request('https://example.org/c')
    const texts = [one, two, three].map((each) => {
      writer.add(each)
      return writer.take()
    })
    expect(texts.map(readBatch)).toEqual([[one], [two], [three]])
  })

  it('counts what it holds', () => {
    const writer = new BatchWriter()
    const requests = generated(seededRandom(7), 50)
    for (const each of requests) writer.add(each)
    expect(writer.count).toBe(50)
    const { characters } = writer
    // Each line is counted with its break; the last has none.
    expect(writer.take().length).toBe(characters - 1)
    expect([writer.count, writer.characters]).toEqual([0, 0])
  })

  it('leaves the trouble of hosts behind', () => {
    const troubled = request('https://example.org/', { hostTrouble: { incidents: 3, since: 1 } })
    expect(readBatch(written([troubled]))).toEqual([request('https://example.org/')])
  })

  const rare: Partial<CrawlRequest>[] = [
    { priority: 5 },
    { priority: -1.5 },
    { priority: Number.POSITIVE_INFINITY },
    { priority: Number.NEGATIVE_INFINITY },
    { priority: Number.MAX_SAFE_INTEGER },
    { attempt: 1 },
    { redirects: 2, via: ['https://example.com/a', 'https://example.com/\n'] },
    { purpose: { kind: 'sitemap', nested: 1, of: 'example.com', guessed: true } },
    { purpose: { kind: 'robots', origin: 'https://example.com' } },
    { hint: { lastmod: 1.5e12, changefreq: 'täglich 每天 💧', priority: 0.5 } },
    { hint: {} },
    { host: 'other.example' },
    { host: '' },
    { host: 'example.org/' },
    { host: 'example.or' },
  ]
  it.for(rare)('carries what few requests have: %j', (more) => {
    const plain = request('https://example.org/')
    expectRoundTrip([plain, request('https://example.org/a', { depth: 1, parent: 'p', ...more }), plain])
  })

  const awkward = [
    '',
    ' ',
    '\n',
    '>',
    '{',
    '/',
    '/a',
    '>1 a',
    '{"url":1}',
    'https://',
    'https:///',
    'https://example.org',
    'https://example.org/a\nb',
    'https://example.org/a\r\u2028\u2029b',
    'http:/example.org/',
    'hello/world',
    'ftp://example.org/',
    'https://exämple.org/ü/每/💧',
    'https://example.org/\ud800',
    'https://example.org/a b\tc\0d"e\\f',
    `https://example.org/${'x'.repeat(100_000)}`,
  ]
  it.for(awkward)('carries whatever stands in a URL, a parent or a host: %j', (text) => {
    const plain = request('https://example.org/')
    expectRoundTrip([
      plain,
      request(text, { host: 'example.org' }),
      request(text),
      plain,
      request('https://example.org/', { parent: text }),
      request('https://example.org/b', { parent: text }),
      request('https://example.org/', { host: text }),
      plain,
    ])
  })

  it.for([0, -1, 1.5, 1e21, Number.POSITIVE_INFINITY])('carries a depth of %d', (depth) => {
    expectRoundTrip([request('https://example.org/', { depth })])
  })

  it.for(Array.from({ length: 200 }, (_, seed) => seed))('comes out as it went in, seed %i', (seed) => {
    const random = seededRandom(seed)
    expectRoundTrip(generated(random, 1 + Math.floor(random.next() * 40)))
  })

  it.for(['x', '\n', '/path-without-origin', '{"url":'])(
    'is not read if it is something else: %j',
    (text) => {
      expect(() => readBatch(text)).toThrow()
    },
  )

  it('is not kept in memory by a request of it', () => {
    const script = fileURLToPath(new URL('./codec-retention.ts', import.meta.url))
    const child = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', script], {
      encoding: 'utf8',
    })
    expect(child.stderr).toBe('')
    const { batchesMb, keptMb } = JSON.parse(child.stdout) as { batchesMb: number; keptMb: number }
    expect(batchesMb).toBeGreaterThan(20)
    expect(keptMb).toBeLessThan(batchesMb / 20)
  })
})

/** Requests as a crawl sends them: groups by page, runs by host, and the odd ones between. */
function generated(random: Random, count: number): CrawlRequest[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!
  const hosts = ['example.org', 'a.example', 'b.example:8080', '192.0.2.1', '[2001:db8::1]:81']
  const paths = ['/', '/a', '/a/b.html?c=d', '/%C3%A9', '//', '/?', '/\n', '/>', '/{}', '/ü', '/\u2028']
  const requests: CrawlRequest[] = []
  let host = hosts[0]!
  let parent: string | undefined
  let depth = 0
  while (requests.length < count) {
    if (random.next() < 0.3) host = pick(hosts)
    if (random.next() < 0.2) {
      depth = Math.floor(random.next() * 5)
      parent = random.next() < 0.2 ? undefined : `https://${pick(hosts)}${pick(paths)}`
    }
    requests.push({
      url: `${random.next() < 0.8 ? 'https' : 'http'}://${host}${pick(paths)}`,
      host: random.next() < 0.95 ? host : pick(hosts),
      depth,
      priority: random.next() < 0.9 ? 0 : Math.floor(random.next() * 100) - 50,
      attempt: random.next() < 0.9 ? 0 : 1,
      redirects: random.next() < 0.9 ? 0 : 2,
      parent,
      ...(random.next() < 0.05 && { via: [`https://${pick(hosts)}${pick(paths)}`] }),
      ...(random.next() < 0.05 && { hint: { changefreq: pick(paths) } }),
      ...(random.next() < 0.05 && { purpose: { kind: 'robots', origin: `https://${pick(hosts)}` } }),
    })
  }
  return requests
}
